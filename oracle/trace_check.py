"""Is a trace one that the release's rules allow? The replay of observed events, one by one, as they come.

A check keeps what one partition's replicas may be by now, never the events: memory does not grow with the
trace, and time grows in step with it. It ends at the first event that no rule allows.

Model field <- event field <- wire field: see ``oracle.tracing.observed``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle.tracing.invariants import Invariant, Judge, NotAllowed, PassedOver, TraceSettings, Violation
from oracle.tracing.observed import PartitionObserved
from oracle.tracing.partition_replay import PartitionReplay

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.observed import Event, TopicPartition

__all__ = ["Invariant", "TraceCheck", "TraceReport", "TraceSettings", "Violation"]


@dataclass(frozen=True, slots=True)
class TraceReport:
    """What a check has seen.

    Attributes:
        events: how many events were fed, of every type.
        held: how often each invariant was looked at and held; one that is 0 was never exercised.
        partitions: how many partitions were replayed.
        not_followed: partitions whose creation the trace does not show; their events were not looked at.
        violation: the first event that no rule allows, or None.
        passed_over: the first event of those that an invariant does not allow which is not enforced, or None.
        left_open: partitions that were not replayed to the end, as too much was possible, and where that began.
    """

    events: dict[str, int]
    held: dict[Invariant, int]
    partitions: int
    not_followed: tuple[TopicPartition, ...]
    violation: Violation | None
    passed_over: Violation | None = None
    left_open: Mapping[TopicPartition, str] = field(default_factory=dict)

    @property
    def is_allowed(self) -> bool:
        """Return whether every event was allowed."""
        return self.violation is None


class TraceCheck:
    """Replays a stream of events under the rules of one release."""

    def __init__(
        self,
        rules: RuleSet,
        settings: TraceSettings | None = None,
        *,
        enforced: Collection[Invariant] = tuple(Invariant),
    ) -> None:
        """Begin before the first event.

        Args:
            rules: of the release that the brokers are.
            settings: how they are configured; None for Kafka's defaults.
            enforced: the invariants that end the check when they do not hold; all of them but in tests.
        """
        self._rules = rules
        self._settings = settings or TraceSettings()
        self._judge = Judge(enforced)
        self._partitions: dict[TopicPartition, PartitionReplay] = {}
        self._counts: dict[type, int] = {}
        self._violation: Violation | None = None
        self._passed_over: Violation | None = None

    @property
    def partitions(self) -> Mapping[TopicPartition, PartitionReplay]:
        """Return the replay of each partition that was seen."""
        return self._partitions

    def feed(self, event: Event) -> Violation | None:
        """Replay one event; return the violation if no rule allows it. After the first one nothing is replayed."""
        kind = type(event)
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if self._violation is not None:
            return None
        try:
            self._replay(event)
        except NotAllowed as refused:
            self._violation = refused.at(event)
        except PassedOver:
            pass
        if self._passed_over is None and self._judge.passed_over is not None:
            self._passed_over = self._judge.passed_over.at(event)
        return self._violation

    def _replay(self, event: Event) -> None:
        if isinstance(event, PartitionObserved):
            self._partition(event.partition).feed(event)
            return
        for partition in self._partitions.values():
            partition.feed(event)

    def _partition(self, name: TopicPartition) -> PartitionReplay:
        if name not in self._partitions:
            self._partitions[name] = PartitionReplay(self._rules, self._settings, self._judge)
        return self._partitions[name]

    def finish(self) -> TraceReport:
        """Return what was seen so far."""
        unknown = tuple(name for name, partition in self._partitions.items() if not partition.was_followed)
        events = {kind.__name__: count for kind, count in self._counts.items()}
        followed = len(self._partitions) - len(unknown)
        left_open = {name: one.left_open for name, one in self._partitions.items() if one.left_open is not None}
        return TraceReport(
            events, dict(self._judge.held), followed, unknown, self._violation, self._passed_over, left_open
        )
