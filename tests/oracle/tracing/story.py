"""A trace told event by event: each moment a microsecond after the one before, each frame with its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle.log import EpochEnd
from oracle.rules.by_version import rules_for
from oracle.trace_check import TraceCheck, TraceSettings
from oracle.tracing.observed import (
    Event,
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    FetchSent,
    IsrAnswered,
    IsrDelivered,
    IsrProposed,
    LeadershipApplied,
    LeadershipHeard,
    LookupAnswered,
    LookupDelivered,
    LookupReceived,
    LookupSent,
    ObservedEpochRun,
    RequestKey,
    TopicPartition,
)
from oracle.tracing.sending import sent_versions
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from oracle.tracing.invariants import Violation

PARTITION = TopicPartition("story", 0)
STEP_NS = 1_000
Told = Any
"""The value of any field of an event."""
SECOND_NS = 1_000_000_000


class Story:
    """Feeds a check; ``violation`` is the first event that was refused."""

    def __init__(self, kafka: str = "4.3.1", metadata: str = "kraft", **settings: int) -> None:
        rules = self.rules = rules_for(kafka, MetadataMode(metadata))
        self.settings = TraceSettings(**settings)
        self.check = TraceCheck(rules, self.settings)
        self.speech = sent_versions(rules, self.settings)
        self.violation: Violation | None = None
        self.at = SECOND_NS
        self._keys = 0

    def feed(self, kind: type[Event], **fields: Told) -> None:
        """Feed one event."""
        self.at += STEP_NS
        if kind.__name__ not in ("BrokerEnded", "BrokerStarted", "CheckpointLost"):
            fields.setdefault("partition", PARTITION)
        fields.setdefault("at", self.at)
        refused = self.check.feed(kind(**fields))
        self.violation = self.violation or refused

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.at += int(seconds * SECOND_NS)

    def key(self, connection: int = 1) -> RequestKey:
        """Return a new request's key."""
        self._keys += 1
        return RequestKey(connection, self._keys)

    def heard(self, broker: int, leader: int | None, epoch: int, isr: tuple[int, ...], **fields: Told) -> None:
        """Tell a broker who leads."""
        fields.setdefault("replicas", (1, 2, 3))
        self.feed(LeadershipHeard, broker=broker, leader=leader, leader_epoch=epoch, isr=isr, **fields)

    def led(self, leader: int, epoch: int, isr: tuple[int, ...], *brokers: int, **fields: Told) -> None:
        """Tell brokers who leads, and let them answer that they have applied it."""
        for broker in brokers or (1, 2, 3):
            key = self.key(100)
            self.heard(broker, leader, epoch, isr, key=key, **fields)
            self.feed(LeadershipApplied, broker=broker, key=key)

    def sent(self, follower: int, leader: int, offset: int, epoch: int = 0, **fields: Told) -> RequestKey:
        """Let a follower send a FETCH in its release's version; return its key."""
        key = fields.pop("key", None) or self.key(follower)
        fields.setdefault("api_version", self.speech.fetch[-1])
        if self.speech.tells_epoch:
            fields.setdefault("current_leader_epoch", epoch)
        if self.speech.tells_last_epoch and offset:
            fields.setdefault("last_fetched_epoch", epoch)
        self.feed(FetchSent, key=key, follower=follower, leader=leader, fetch_offset=offset, **fields)
        return key

    def answered(self, key: RequestKey, watermark: int, *runs: tuple[int | None, int, int], **fields: Told) -> None:
        """Let the leader answer a FETCH, and deliver the answer."""
        fields.setdefault("error", 0)
        told = tuple(ObservedEpochRun(*run) for run in runs)  # type: ignore[arg-type]
        self.feed(FetchAnswered, key=key, high_watermark=watermark, runs=told, **fields)
        self.feed(FetchDelivered, key=key)

    def fetch(
        self,
        follower: int,
        leader: int,
        offset: int,
        watermark: int,
        *runs: tuple[int | None, int, int],
        **fields: Told,
    ) -> None:
        """Let a follower fetch, from its request to the answer's delivery; an error is the answer's."""
        answer = {name: fields.pop(name) for name in ("error", "diverging_epoch", "log_start_offset") if name in fields}
        key = self.sent(follower, leader, offset, **fields)
        self.feed(FetchReceived, key=key)
        self.answered(key, watermark, *runs, **answer)

    def lookup(self, follower: int, leader: int, epoch: int, end: EpochEnd, error: int = 0, **fields: Told) -> None:
        """Let a follower look an epoch up, from its request to the answer's delivery."""
        key = fields.pop("key", None) or self.key(follower)
        fields.setdefault("api_version", max(self.speech.lookup, default=0))
        self.feed(LookupSent, key=key, follower=follower, leader=leader, epoch=epoch, **fields)
        self.feed(LookupReceived, key=key)
        self.lookup_answered(key, end, error)

    def lookup_answered(self, key: RequestKey, end: EpochEnd, error: int = 0) -> None:
        """Let the leader answer a lookup, and deliver the answer."""
        self.feed(LookupAnswered, key=key, error=error, end=end)
        self.feed(LookupDelivered, key=key)

    def alter_isr(self, leader: int, epoch: int, isr: tuple[int, ...], error: int = 0) -> None:
        """Let a leader ask for an ISR, and the controller answer."""
        key = self.key(50)
        version = self.speech.alter_partition[-1]
        self.feed(
            IsrProposed, key=key, leader=leader, leader_epoch=epoch, isr=isr, partition_epoch=0, api_version=version
        )
        told = {} if error else {"leader": leader, "leader_epoch": epoch, "isr": isr}
        self.feed(IsrAnswered, key=key, error=error, **told)
        self.feed(IsrDelivered, key=key)

    def refused(self) -> str:
        """Return the number of the invariant that was broken, and what was observed."""
        return "" if self.violation is None else f"{self.violation.invariant.value}: {self.violation.observed}"


def with_records(kafka: str = "4.3.1", metadata: str = "kraft", records: int = 3, **settings: int) -> Story:
    """Tell of a partition of brokers 1 to 3 that all have the first records, led by broker 1."""
    story = Story(kafka, metadata, **settings)
    story.led(1, 0, (1, 2, 3))
    epoch = 0 if story.speech.tells_epoch or story.speech.lookup else None
    for follower in (2, 3):
        if story.rules.truncation.asks_without_epochs:
            story.lookup(follower, 1, -1, EpochEnd(None, None))
        story.fetch(follower, 1, 0, 0, (epoch, 0, records - 1))
    story.fetch(2, 1, records, 0)
    story.fetch(3, 1, records, records)
    story.fetch(2, 1, records, records)
    story.fetch(3, 1, records, records)
    assert not story.refused()
    return story
