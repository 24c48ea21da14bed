"""Why did a run end early? Each class is one of the verdicts a run can end with."""

from __future__ import annotations

GIVEN_UP = "GIVEN_UP"
"""The error of a record whose producer was still waiting when the run ended: no answer of a broker."""


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


class HarnessError(RunInterruption):
    """The tester itself failed: a fault that did not fire, a crashed helper, a lost broker."""


class HoldNeverCaughtError(HarnessError):
    """A gate was armed and no matching frame came."""
