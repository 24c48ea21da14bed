"""A Python program in a PID namespace of its own, as a tester in a container has one."""

import os
import subprocess
import sys
from collections.abc import Mapping


def in_another_namespace(program: str, environment: Mapping[str, str] = {}, *, with_proc: bool = True) -> str:
    """Run a program there to its end, and give what it printed.

    Args:
        program: the text of a Python program.
        environment: beside the test's own.
        with_proc: whether its ``/proc`` is of its own namespace, as in a container, or that of the test.
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    options = [*user, "--pid", "--fork", *(["--mount-proc"] if with_proc else [])]
    done = subprocess.run(
        ["unshare", *options, sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
