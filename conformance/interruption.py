"""Why did a run end early? Each class is one of the verdicts a run can end with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fault_injection.waiting import DeadlineExceededError

GIVEN_UP = "GIVEN_UP"
"""The error of a record whose producer was still waiting when the run ended: no answer of a broker."""

INTERRUPTED = "the tester was interrupted before the run ended"
"""What run directory and verdict say of a run that Ctrl-C or SIGTERM ended."""


class RunInterruption(Exception):  # noqa: N818 - an interruption is not always an error of ours
    """A run could not go on.

    Attributes:
        verdict: the conformance verdict this interruption means.
    """

    verdict = "HARNESS_ERROR"


class AwaitedStateMissingError(RunInterruption):
    """The brokers did not reach a state the model says they reach, although all of them run."""

    verdict = "DEVIATES"


class NeverAtRestError(RunInterruption):
    """Replication did not come to rest before the deadline."""

    verdict = "INCONCLUSIVE"


STALL_S = 5.0
"""A gap between two questions above which the tester, not the brokers, stood still."""


def missed(late: DeadlineExceededError) -> RunInterruption:
    """Return what a missed deadline means: the brokers' failure, unless the tester stood still meanwhile."""
    if late.longest_gap_s > STALL_S:
        return NeverAtRestError(f"the tester stood still for {late.longest_gap_s:.1f} s while it waited: {late}")
    return AwaitedStateMissingError(str(late))


class HarnessError(RunInterruption):
    """The tester itself failed: a fault that did not fire, a crashed helper, a lost broker."""


class HoldNeverCaughtError(HarnessError):
    """A gate was armed and no matching frame came."""
