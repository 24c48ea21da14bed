"""What must every trace keep? The wire invariants by number, and the judge that counts and enforces them.

Each check tells the judge whether its invariant held. One that did not ends the replay, unless the judge
does not enforce it: then the event is passed over, and nothing is learned from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from oracle.tracing.observed import Event


class Invariant(IntEnum):
    """A wire invariant; the name says what it constrains."""

    HIGH_WATERMARK_OF_LEADER = 14
    ACKNOWLEDGEMENT = 15
    FETCH_OFFSET = 16
    EPOCH_ANSWER = 17
    ERROR_CODE = 18
    ISR_EXPANSION = 19
    ISR_SHRINK = 20
    HIGH_WATERMARK_OF_FOLLOWER = 21
    FROZEN_HIGH_WATERMARK = 22
    TRUNCATION_OFFSET = 23
    REQUEST_OF_RELEASE = 24


STATEMENTS = {
    Invariant.HIGH_WATERMARK_OF_LEADER: (
        "a leader's high watermark never falls, and is at most the lowest end offset of its maximal ISR"
    ),
    Invariant.ACKNOWLEDGEMENT: (
        "acks=all succeeds once the high watermark covers the record, with min.insync.replicas in sync"
    ),
    Invariant.FETCH_OFFSET: "a follower fetches at its log end offset, which moves back only by a legal cut",
    Invariant.EPOCH_ANSWER: "a leader answers about epochs what its epoch cache says, and sends records of its log",
    Invariant.ERROR_CODE: "an error code fits the epochs and the role of the broker that answers it",
    Invariant.ISR_EXPANSION: "the ISR grows only by a replica that has fetched what joining takes in this epoch",
    Invariant.ISR_SHRINK: "a leader removes only a replica that has lagged longer than replica.lag.time.max.ms",
    Invariant.HIGH_WATERMARK_OF_FOLLOWER: (
        "a follower's high watermark is its leader's of the last accepted answer, at most its own end"
    ),
    Invariant.FROZEN_HIGH_WATERMARK: "the high watermark stands still with fewer in-sync replicas than the minimum",
    Invariant.TRUNCATION_OFFSET: "a follower cuts its log exactly where the release's rule says",
    Invariant.REQUEST_OF_RELEASE: "a broker sends only requests that its release sends, to the leader it was told",
}
"""One sentence per invariant."""


@dataclass(frozen=True, slots=True)
class Violation:
    """The first event that no rule allows.

    Attributes:
        event: what was observed; ``event.frame`` is the frame that shows it.
        invariant: which invariant it breaks.
        observed: what it says, in words.
        allowed: what would have been allowed.
        rule: name of the rule by which.
    """

    event: Event
    invariant: Invariant
    observed: str
    allowed: str
    rule: str

    def __str__(self) -> str:  # type: ignore[explicit-override] # typing has it from 3.12 on
        """Return it in one sentence."""
        frame = "" if self.event.frame is None else f" (frame {self.event.frame})"
        broken = f"invariant {self.invariant.value}, {self.invariant.name.lower().replace('_', ' ')}"
        return f"{self.observed}{frame}; allowed: {self.allowed} [{broken}; {self.rule}]"


class NotAllowed(Exception):  # noqa: N818 - a finding about brokers, no fault of the tester
    """Raised by the judge at the first event that an enforced invariant does not allow."""

    def __init__(self, invariant: Invariant, observed: str, allowed: str, rule: str) -> None:
        """Keep what a ``Violation`` says, but for the event."""
        super().__init__(observed)
        self.invariant = invariant
        self.observed = observed
        self.allowed = allowed
        self.rule = rule

    def at(self, event: Event) -> Violation:
        """Return the violation, now that the event is known."""
        return Violation(event, self.invariant, self.observed, self.allowed, self.rule)


class PassedOver(Exception):  # noqa: N818 - no error: the event is left out
    """Raised by the judge at an event that an invariant does not allow which is not enforced."""


class Judge:
    """Counts how often each invariant held, and ends the replay when one does not.

    Attributes:
        held: how often, by invariant.
        passed_over: the first that did not hold and is not enforced; None so far.
    """

    def __init__(self, enforced: Collection[Invariant]) -> None:
        """Enforce some invariants."""
        self._enforced = frozenset(enforced)
        self.held = dict.fromkeys(Invariant, 0)
        self.passed_over: NotAllowed | None = None

    def keeps(self, invariant: Invariant, holds: bool) -> bool:  # noqa: FBT001 - the one thing it is told
        """Count an invariant that held; return whether it did."""
        if holds:
            self.held[invariant] += 1
        return holds

    def refusal(self, invariant: Invariant, observed: str, allowed: str, rule: str) -> NotAllowed | PassedOver:
        """Return what a check raises: the end of the replay, or of this event alone if that is not enforced."""
        refused = NotAllowed(invariant, observed, allowed, rule)
        if invariant in self._enforced:
            return refused
        self.passed_over = self.passed_over or refused
        return PassedOver()

    def object_to(self, invariant: Invariant, observed: str, allowed: str, rule: str) -> None:
        """End the replay, or go on with what was observed: it misleads no other check.

        Raises:
            NotAllowed: the invariant is enforced.
        """
        refused = NotAllowed(invariant, observed, allowed, rule)
        if invariant in self._enforced:
            raise refused
        self.passed_over = self.passed_over or refused


# How are the brokers of a trace configured, as far as the trace shows it?


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """What the brokers were configured with, as far as a trace shows it.

    Attributes:
        min_insync_replicas: of the topic.
        lag_time_max_ms: replica.lag.time.max.ms.
        has_own_protocol: brokers speak the newest protocol of their release, as by default.
        min_insync_replicas_before: what some broker may still go by; None if it never changed.
    """

    min_insync_replicas: int = 1
    lag_time_max_ms: int = 30_000
    has_own_protocol: bool = True
    min_insync_replicas_before: int | None = None

    @property
    def lag_ns(self) -> int:
        """Return the lag time in nanoseconds."""
        return self.lag_time_max_ms * 1_000_000
