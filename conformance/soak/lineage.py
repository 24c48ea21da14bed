"""Which leader appended what, in which leader epoch? What a replay of a soak notes on its way, and the logs at its end.

Kept are ranges: where each leader epoch was acknowledged, and when each broker began to lead.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from oracle.trace_check import TraceCheck, TraceSettings
from oracle.tracing.committed import appended_in, final_log, replica_logs
from oracle.tracing.observed import Acknowledged, BrokerEnded, LeadershipHeard
from oracle.tracing.possibility import noting_epochs
from oracle.vocabulary import RangeFate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.record.soak import Soak
    from oracle.rules.rule_set import RuleSet
    from oracle.trace_check import TraceReport
    from oracle.tracing.committed import Epochs, FatedRange, FinalLog
    from oracle.tracing.known_log import KnownLog
    from oracle.tracing.observed import Event, TopicPartition
    from oracle.vocabulary import BrokerId, LeaderEpoch, Offset


class AcknowledgedOffsets(NamedTuple):
    """Offsets, from the first acknowledged one to the last."""

    first: Offset
    last: Offset


class Lineage:
    """Replays the events of a soak by a release's rules, none of which ends it, and notes who appended what.

    Attributes:
        rules: by which it is replayed.
        extents: which offsets of a partition were acknowledged, by the leader epochs that they may be of.
        knows_epochs: whether each acknowledgement was of a known leader epoch.
        leaders: the broker of each leader epoch of a partition.
        brokers: those that heard who leads.
    """

    def __init__(self, rules: RuleSet, soak: Soak) -> None:
        self.rules = noting_epochs(rules)
        settings = TraceSettings(soak.min_insync_replicas, soak.lag_time_max_ms)
        self._check = TraceCheck(self.rules, settings, enforced=())
        self.extents: defaultdict[TopicPartition, dict[Epochs, AcknowledgedOffsets]] = defaultdict(dict)
        self.knows_epochs = True
        self.leaders: dict[tuple[TopicPartition, LeaderEpoch], BrokerId] = {}
        self._led: defaultdict[tuple[TopicPartition, BrokerId], EpochJournal] = defaultdict(EpochJournal)
        self.brokers: set[BrokerId] = set()
        self._leading: set[tuple[TopicPartition, BrokerId]] = set()
        self._appended: defaultdict[tuple[TopicPartition, BrokerId], EpochJournal] = defaultdict(EpochJournal)

    def feed(self, event: Event) -> None:
        """Replay one event, and note what it says of who appended what."""
        self._check.feed(event)
        if isinstance(event, LeadershipHeard):
            self._heard(event)
        elif isinstance(event, BrokerEnded):
            self._leading = {place for place in self._leading if place[1] != event.broker}
        elif isinstance(event, Acknowledged) and event.leader is not None and event.base_offset is not None:
            self._acknowledged(event, event.leader, event.base_offset)

    def _heard(self, heard: LeadershipHeard) -> None:
        """Note who leads; one that goes on to lead goes on in its epoch, where batches carry none."""
        place = (heard.partition, heard.broker)
        self.brokers.add(heard.broker)
        if heard.leader != heard.broker:
            self._leading.discard(place)
            return
        self.leaders[heard.partition, heard.leader_epoch] = heard.broker
        if place not in self._leading or not self.rules.truncation.notes_epochs:
            self._led[place].note(heard.at, frozenset((heard.leader_epoch,)))
        self._leading.add(place)

    def _acknowledged(self, told: Acknowledged, broker: BrokerId, first: Offset) -> None:
        replica = self._check.partitions[told.partition].replica(broker)
        epochs = frozenset() if replica is None else appended_in(replica, first)
        self._appended[told.partition, broker].note(told.at, epochs)
        self.knows_epochs &= bool(epochs)
        if epochs and told.last_offset is not None:
            extents = self.extents[told.partition]
            known = extents.get(epochs, AcknowledgedOffsets(first, told.last_offset))
            extents[epochs] = AcknowledgedOffsets(min(known.first, first), max(known.last, told.last_offset))

    def epochs_of(self, partition: TopicPartition, broker: BrokerId, acknowledged_at: int) -> Epochs:
        """Return the leader epochs in which a broker may have appended what it acknowledged at a moment."""
        return self._appended[partition, broker].at(acknowledged_at)

    def led_at(self, partition: TopicPartition, broker: BrokerId, at: int) -> Epochs:
        """Return the leader epoch that a broker had heard last of its own by a moment; none if it had not led."""
        return self._led[partition, broker].at(at)

    @cached_property
    def final(self) -> dict[TopicPartition, FinalLog]:
        """Return what each partition holds at rest, to be asked for once every event was replayed."""
        return {name: final_log(one) for name, one in self._check.partitions.items()}

    def acknowledged(self, partition: TopicPartition) -> Iterator[FatedRange]:
        """Yield what became of the offsets that were acknowledged, by leader epochs."""
        for epochs, extent in self.extents[partition].items():
            yield from self.final[partition].fates(epochs, extent.first, extent.last)

    def keeps_all(self) -> bool:
        """Return whether all that was acknowledged is where its acknowledgement says."""
        every = chain.from_iterable(map(self.acknowledged, self.final))
        return self.knows_epochs and all(one.fate is RangeFate.PRESENT for one in every)

    def logs(self) -> dict[TopicPartition, Mapping[BrokerId, Sequence[KnownLog]]]:
        """Return what the log of each replica may be at rest, once every event was replayed."""
        return {name: replica_logs(one) for name, one in self._check.partitions.items()}

    def report(self) -> TraceReport:
        """Return what was seen."""
        return self._check.finish()


class EpochJournal:
    """What held from when on; only changes are kept."""

    def __init__(self) -> None:
        self._since: list[int] = []
        self._values: list[Epochs] = []

    def note(self, at: int, value: Epochs) -> None:
        """Note what holds from a moment on, not before the last one."""
        if not self._values or self._values[-1] != value:
            self._since.append(at)
            self._values.append(value)

    def at(self, moment: int) -> Epochs:
        """Return what held at a moment; nothing before the first."""
        place = bisect_right(self._since, moment)
        return self._values[place - 1] if place else frozenset()
