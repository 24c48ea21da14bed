"""How is clean-up reached when the tester is told to end?

Python turns Ctrl-C into an exception by itself; SIGTERM ends a process at once unless somebody handles it. Within this
context it raises ``SystemExit``, so that every ``finally`` runs. A program that handles SIGTERM already is left to it.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

TERMINATED = 128 + signal.SIGTERM


@contextmanager
def termination_raises() -> Iterator[None]:
    """Let SIGTERM raise ``SystemExit`` in the main thread; in another thread nothing can be changed."""
    is_ours = (
        threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if is_ours:
        signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _raise(number: int, _frame: object) -> NoReturn:
    """End once; a second SIGTERM must not interrupt the clean-up."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(TERMINATED)
