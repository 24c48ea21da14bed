"""Does the tester of a soak keep its memory, and which faults were to come?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from conformance.record.soak_faults import FaultKind, FaultTimeline, PlannedFault
from conformance.soak.soaking import ARENAS, due

if TYPE_CHECKING:
    from pathlib import Path

HEAPS_OF_EIGHT_THREADS = """
import ctypes, sys, threading
from pathlib import Path
from conformance.soak.soaking import share_arenas

if sys.argv[2] == "shared":
    share_arenas()
libc, here = ctypes.CDLL(None), threading.Barrier(8)
libc.malloc.restype, libc.fopen.restype = ctypes.c_void_p, ctypes.c_void_p

def allocate():
    here.wait()
    libc.malloc(1000)
    here.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
out = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, out)
libc.fclose(out)
print(Path(sys.argv[1]).read_text().count("<heap nr="))
"""


def test_threads_share_the_heaps_of_the_c_library(tmp_path: Path) -> None:
    def heaps(how: str) -> int:
        command = [sys.executable, "-c", HEAPS_OF_EIGHT_THREADS, f"{tmp_path}/heaps", how]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert heaps("shared") <= ARENAS < heaps("each its own")


def test_of_faults_that_were_drawn_those_count_that_were_due() -> None:
    faults = tuple(PlannedFault(at_s, FaultKind.KILL, 1.0, broker=1) for at_s in (5.0, 15.0, 25.0))
    assert due(FaultTimeline(faults, seed=7), faults[1:], lasted_s=20.0) == 1
    assert due(FaultTimeline(faults), faults[1:], lasted_s=20.0) == 2, "whoever wrote them meant them to come"
