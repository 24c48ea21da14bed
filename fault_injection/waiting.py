"""How does the tester wait for a state without guessing how long it takes?

``until`` is the only place of the project that sleeps. Every wait has a condition, a deadline and a
name, so a wait that fails says what never came and what was there instead.
"""

import time
from collections.abc import Callable
from typing import Literal, TypeVar

T = TypeVar("T")


class NotYetError(Exception):
    """Raised by a condition that does not hold yet and can say what it saw instead."""

    def __init__(self, last_seen: object) -> None:
        super().__init__(str(last_seen))
        self.last_seen = last_seen


class DeadlineExceededError(Exception):
    """A condition did not come to hold within its deadline.

    Attributes:
        what: the state that was waited for, in words.
        deadline_s: how long it was waited for, in seconds.
        last_seen: what the condition saw when it was asked last.
        longest_gap_s: the longest time between two questions; a long one means that the tester itself stood still.
    """

    def __init__(self, what: str, deadline_s: float, last_seen: object, longest_gap_s: float = 0.0) -> None:
        super().__init__(f"{what}: not within {deadline_s:g} s; last seen: {last_seen!r}")
        self.what = what
        self.deadline_s = deadline_s
        self.last_seen = last_seen
        self.longest_gap_s = longest_gap_s


def until(
    condition: Callable[[], T | Literal[False] | None],
    *,
    deadline_s: float,
    what: str,
    interval_s: float = 0.02,
) -> T:
    """Ask a condition until it holds and return what it gave, without a sleep after success.

    Args:
        condition: gives None or False while it does not hold (or raises ``NotYetError`` with what it
            saw), anything else once it does. It is asked at least once, also past the deadline.
        deadline_s: seconds on the monotonic clock after which to give up.
        what: the awaited state in words, for the error.
        interval_s: seconds between two questions.

    Raises:
        DeadlineExceededError: the condition never held.
    """
    asked = time.monotonic()
    end = asked + deadline_s
    longest_gap_s = 0.0
    while True:
        last_seen: object
        try:
            outcome = condition()
        except NotYetError as not_yet:
            last_seen = not_yet.last_seen
        else:
            if outcome is not None and outcome is not False:
                return outcome
            last_seen = outcome
        now = time.monotonic()
        longest_gap_s, asked = max(longest_gap_s, now - asked), now
        remaining_s = end - now
        if remaining_s <= 0:
            raise DeadlineExceededError(what, deadline_s, last_seen, longest_gap_s)
        time.sleep(min(interval_s, remaining_s))  # noqa: TID251 - the one place that sleeps
