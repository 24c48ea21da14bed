"""What is an attached ledger judged by, and what can be concluded from it of elections and settings? No verdict yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.audit.cluster import UNCLEAN, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.record.attached import Attached, EpochEndTold, PartitionWatched, SettingsWatched
    from conformance.record.attached_counted import Counted
    from conformance.record.fault_commands import CommandRun, FaultCommand

NS_A_MS = 1_000_000
_FOR_ALL = (Source.TOPIC.value, Source.CLUSTER_DEFAULT.value)


@dataclass(frozen=True, slots=True)
class AttachEvidence:
    """All that an attached ledger is judged by.

    Attributes:
        watched: in the order of time; ``settings`` likewise.
        given: the commands that were to break the cluster; ``commands`` are the first of them, those that ran.
        epoch_ends: as the leaders had them at rest; none where brokers do not tell them.
    """

    attached: Attached
    counted: Counted
    watched: Sequence[PartitionWatched]
    settings: Sequence[SettingsWatched]
    commands: Sequence[CommandRun] = ()
    given: Sequence[FaultCommand] = ()
    epoch_ends: Sequence[EpochEndTold] = ()

    @property
    def changed_at(self) -> Mapping[int, int]:
        """Return of each partition the time of the last look that saw another leader or leader epoch than before it."""
        return _changes(self.watched, lambda one: (one.leader, one.leader_epoch))

    @property
    def led_by_other_at(self) -> Mapping[int, int]:
        """Return of each partition the time of the last look that saw another broker lead than before it."""
        return _changes(self.watched, lambda one: one.leader)

    @property
    def losing(self) -> frozenset[int]:
        """Return the partitions that lost records."""
        return frozenset(one.partition for one in self.counted.partitions if one.classes.get("lost"))

    @property
    def may_be_another_topic(self) -> bool:
        """Return whether the topic may have been deleted and created again: each partition lost its first record.

        Truncation takes the end of a log, and never its beginning alone. Where brokers tell topic ids, it is known.
        """
        acknowledged = [one for one in self.counted.partitions if one.outcomes.get("acknowledged")]
        is_first_lost = [one.losses is not None and one.losses.is_first_lost for one in acknowledged]
        return self.attached.topic_id is None and bool(acknowledged) and all(is_first_lost)

    @property
    def unmoved(self) -> frozenset[int]:
        """Return the partitions that lost records although each look saw the same leader in the same leader epoch.

        None where leader epochs cannot be seen: an election may have gone by between two looks. A record that was sent
        after an election does not count: a leader of before that is cut off may have acknowledged it.
        """
        seen = {one.partition for one in self.watched}
        epochless = {one.partition for one in self.watched if one.leader_epoch is None}
        return (self.losing & seen) - epochless - self.changed_at.keys()

    def excused_by(self, changes: Mapping[int, int]) -> bool:
        """Return whether in each losing partition a change was first seen after all that is lost was acknowledged."""
        losses = {one.partition: one.losses for one in self.counted.partitions if one.losses is not None}
        return all(
            number in losses and number in changes and changes[number] > losses[number].completed_ns
            for number in self.losing
        )

    @property
    def was_unclean_on(self) -> bool:
        """Return whether unclean elections were on at any look, by a value that holds for who decides it."""
        return any(
            one.values.get(UNCLEAN) == "true" or "true" in one.unclean_by_broker.values()
            for one in self.settings
            if _is_decided(one)
        )

    @property
    def why_unclean_unseen(self) -> str | None:
        """Return why it cannot be told that unclean elections were off all along; one failed look hides no other."""
        looks = [one for one in self.settings if one.why_not is None]
        if not looks or any(one.values.get(UNCLEAN) is None for one in looks):
            return f"{UNCLEAN} cannot be seen here"
        open_looks = [one for one in looks if not _is_decided(one)]
        if open_looks:
            source = open_looks[0].sources.get(UNCLEAN, Source.NOT_TOLD.value)
            return f"{UNCLEAN} is a broker's own ({source}), and the controller that decides may have another one"
        if silent := _never_told(looks):
            return f"{UNCLEAN} is each broker's own, and broker {silent[0]}, which may be the controller, never told it"
        return None

    def why_not_deleted(self) -> str | None:
        """Return why no setting deletes records of this ledger; None if one does."""
        looks = [one for one in self.settings if one.why_not is None]
        if not looks or any(one.values.get("retention.ms") is None for one in looks):
            return "whether retention is on cannot be seen here, and nothing else of the settings deletes records"
        latest_ns = max([*(one.at_ns for one in looks), *(one.at_ns for one in self.watched)])
        lasted_ms = (latest_ns - self.attached.began_ns) / NS_A_MS
        if any(_deletes(one.values, lasted_ms) for one in looks):
            return None
        return "retention was off, or longer than the ledger, all along: no setting deletes them, who asks for it does"


def _changes(watched: Sequence[PartitionWatched], state: Callable[[PartitionWatched], object]) -> Mapping[int, int]:
    """Return when each partition last was in another state; a look at an older leader epoch than before sees none."""
    before: dict[int, object] = {}
    changed: dict[int, int] = {}
    newest: dict[int, int] = {}
    for one in watched:
        if one.leader is None or (one.leader_epoch or 0) < newest.get(one.partition, 0):
            continue
        newest[one.partition] = one.leader_epoch or 0
        now = state(one)
        if before.get(one.partition, now) != now:
            changed[one.partition] = one.at_ns
        before[one.partition] = now
    return changed


def _is_decided(settings: SettingsWatched) -> bool:
    """Return whether what brokers tell of unclean elections is what whoever decides about them has.

    With ZooKeeper a broker decides, with its own value if the topic has none; with KRaft a process of its own, whose
    file no broker knows.
    """
    return settings.sources.get(UNCLEAN) in _FOR_ALL or settings.is_kraft is False


def _never_told(looks: Sequence[SettingsWatched]) -> Sequence[int]:
    """Return the brokers that never told their own value although it was asked for."""
    told = [(broker, value) for one in looks for broker, value in one.unclean_by_broker.items()]
    return sorted({broker for broker, _ in told} - {broker for broker, value in told if value is not None})


def _deletes(values: Mapping[str, str | None], lasted_ms: float) -> bool:
    if "delete" not in (values.get("cleanup.policy") or "delete"):
        return False
    keeps_ms = int(values.get("retention.ms") or -1)
    return values.get("retention.bytes") != "-1" or 0 <= keeps_ms < lasted_ms
