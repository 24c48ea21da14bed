"""What do all tests take for granted about the process they run in?"""

from __future__ import annotations

import signal

# A shell has its background jobs ignore SIGINT, and children inherit that: no Ctrl-C would reach a tester under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
