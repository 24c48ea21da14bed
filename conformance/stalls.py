"""When did the machine stand still during a run? A thread that should come round twenty times a second notes it.

What keeps this thread from running keeps brokers from running too: no core was free, the virtual machine was stopped,
memory was swapped. A time that is measured late is then no finding about brokers.

Choices: gaps below ``NOTED_MS`` are how a busy machine shares its cores. What stops one broker alone, such as a pause
of its garbage collector, is that broker's own and no excuse.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.record.run import Stall, update_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.record.directory import RunDirectory

NS_PER_MS = 1_000_000
INTERVAL_S = 0.05
NOTED_MS = 200


class StallWatch:
    """Notes every gap between two turns of its thread.

    Args:
        clock: monotonic nanoseconds.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._last_ns = clock()
        self._closed = threading.Event()
        self.stalls: list[Stall] = []

    def turn(self) -> None:
        """Note the time since the turn before, if it was long."""
        now_ns = self._clock()
        for_ms = (now_ns - self._last_ns) // NS_PER_MS
        if for_ms >= NOTED_MS:
            self.stalls.append(Stall(self._last_ns, for_ms))
        self._last_ns = now_ns

    def watch(self) -> None:
        """Take turns until the watch is closed."""
        while not self._closed.wait(INTERVAL_S):
            self.turn()

    def close(self) -> None:
        """End the turns."""
        self._closed.set()


@contextmanager
def noting_stalls(run: RunDirectory) -> Iterator[None]:
    """Have run.json name the stalls of the machine while the block runs."""
    watch = StallWatch()
    thread = threading.Thread(target=watch.watch, name="stall-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watch.close()
        thread.join()
        update_run(run, stalls=tuple(watch.stalls))


def touches(stall: Stall, from_ns: int, to_ns: int) -> bool:
    """Return whether a stall has to do with a time: what happens during it is seen up to a turn of the watch later."""
    return stall.at_ns <= to_ns and from_ns <= stall.at_ns + stall.for_ms * NS_PER_MS + NOTED_MS * NS_PER_MS
