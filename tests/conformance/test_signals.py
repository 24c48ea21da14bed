"""Does a signal end the tester even if it comes while an object is finalized?"""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, time
from conformance.signals import interrupt, terminate

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        for _ in range(1000):
            pass

signal.signal(signal.SIGINT, interrupt)
signal.signal(signal.SIGTERM, terminate)
try:
    if {is_finalizing}:
        Finalized()
    else:
        os.kill(os.getpid(), signal.{name})
    time.sleep(20)
except (KeyboardInterrupt, SystemExit) as ending:
    os.kill(os.getpid(), signal.{name})  # whoever insists does not interrupt the clean-up
    print(type(ending).__name__, "cleaned up")
    raise
"""


@pytest.mark.parametrize("is_finalizing", [False, True])
@pytest.mark.parametrize(("name", "ending"), [("SIGINT", "KeyboardInterrupt"), ("SIGTERM", "SystemExit")])
def test_a_signal_ends_the_tester_once(name: str, ending: str, is_finalizing: bool) -> None:
    program = PROGRAM.format(name=name, is_finalizing=is_finalizing)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=15)

    assert done.stdout.split("\n")[0] == f"{ending} cleaned up", done.stderr
    assert done.returncode == (143 if name == "SIGTERM" else -2)
