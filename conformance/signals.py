"""How does Ctrl-C, or SIGTERM, end the tester? Once, so that whoever insists does not interrupt the clean-up.

Python ignores an exception that is raised while an object is finalized. One that is to end the tester is raised again
a moment later, else nobody would ever hear of it.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

INTERRUPTED = 130
TERMINATED = 143
RAISED_AGAIN_S = 0.05


def interrupt(number: int, _frame: object) -> NoReturn:
    """Handle Ctrl-C.

    Raises:
        KeyboardInterrupt: always.
    """
    _end(number, KeyboardInterrupt())


def terminate(number: int, _frame: object) -> NoReturn:
    """Handle SIGTERM.

    Raises:
        SystemExit: always.
    """
    _end(number, SystemExit(TERMINATED))


def _end(number: int, ending: BaseException) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    before = sys.unraisablehook

    def raise_again(*_: object) -> NoReturn:
        raise ending

    def heard(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_value is not ending:
            before(unraisable)
            return
        signal.signal(signal.SIGALRM, raise_again)
        signal.setitimer(signal.ITIMER_REAL, RAISED_AGAIN_S)

    sys.unraisablehook = heard
    raise ending
