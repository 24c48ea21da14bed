"""Does the tester of a soak keep its memory, however many threads have read large frames?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from conformance.soak.soaking import ARENAS

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
