"""What is an attached ledger judged by, and what can be concluded from it of elections and settings? No verdict yet."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.attach.unclean import LossWindow, UncleanElections
from conformance.audit.cluster import UNCLEAN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.record.attached import Attached, EpochEndTold, PartitionWatched, SettingsWatched
    from conformance.record.attached_counted import Counted
    from conformance.record.fault_commands import CommandRun, FaultCommand

NS_A_MS = 1_000_000
RECORD_BYTES_MAX = 100
"""What a record takes in a log beside its value: key, lengths, and a batch of its own at worst (61 bytes)."""
_ASKS_UNCLEAN = re.compile(rf"--election-type[\s=\\]+[\"']?unclean|{re.escape(UNCLEAN)}", re.IGNORECASE)
"""What Kafka's tools take for an election of a replica that is not in sync (KIP-460), and for what allows it."""


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
        return _last(_changes(self.watched, _leadership))

    @property
    def led_by_other_at(self) -> Mapping[int, int]:
        """Return of each partition the time of the last look that saw another broker lead than before it."""
        return _last(_changes(self.watched, lambda one: one.leader))

    @property
    def losing(self) -> frozenset[int]:
        """Return the partitions that lost records."""
        return frozenset(one.partition for one in self.counted.partitions if one.classes.get("lost"))

    @property
    def lost_since(self) -> Mapping[int, int]:
        """Return of each partition that lost records when the last of them was known to be there; 0 if that is not."""
        losses = {one.partition: one.losses for one in self.counted.partitions}
        return {one: 0 if (lost := losses[one]) is None else lost.completed_ns for one in self.losing}

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
    def unclean_elections(self) -> UncleanElections:
        """Return what looks at settings tell of unclean elections."""
        return UncleanElections(self.settings)

    def asks_unclean(self, until_ns: int | None = None) -> bool:
        """Return whether a command began, until a moment, that asks for unclean elections or switches them on."""
        begun = (one.command for one in self.commands if until_ns is None or one.began_ns <= until_ns)
        return any(_ASKS_UNCLEAN.search(one) for one in begun)

    def loss_windows(self, since: Mapping[int, int]) -> list[LossWindow]:
        """Return of each partition when an election can have lost what it had at a moment, given in nanoseconds.

        Where epochs are not told, a leader that comes back is not seen to: any time until the last look may be one.
        """
        latest = {one.partition: one.at_ns for one in self.watched}
        epochless = {one.partition for one in self.watched if one.leader_epoch is None}
        changes, windows = _changes(self.watched, _leadership), []
        for partition, after_ns in since.items():
            after = [one for one in changes.get(partition, ()) if one > after_ns]
            is_last = after and partition not in epochless
            until_ns = after[-1] if is_last else max(after_ns, latest.get(partition, after_ns))
            windows.append(LossWindow(after_ns, until_ns, after[0] if after else None))
        return windows

    def why_not_deleted(self) -> str | None:
        """Return why no setting deletes records of this ledger; None if one does."""
        looks = [one for one in self.settings if one.why_not is None]
        told = [one.values.get(name) for one in looks for name in ("retention.ms", "retention.bytes")]
        if None in told or not told:
            return "whether retention is on cannot be seen here, and nothing else of the settings deletes records"
        latest_ns = max([*(one.at_ns for one in looks), *(one.at_ns for one in self.watched)])
        lasted_ms = (latest_ns - self.attached.began_ns) / NS_A_MS
        if any(_deletes(one.values, lasted_ms, self._log_bytes_max) for one in looks):
            return None
        return (
            "retention was off, longer than the ledger, or of more bytes than a partition can have had, at every look: "
            "no setting deletes them, who asks for it does"
        )

    @property
    def _log_bytes_max(self) -> int | None:
        """Return how many bytes each partition with deleted records had at most; None if others wrote, or may have."""
        attached = self.attached
        if not attached.is_own or attached.beside_others or not attached.ends:
            return None
        least = min(attached.ends[one.partition] for one in self.counted.partitions if one.classes.get("deleted"))
        return least * (attached.value_length + RECORD_BYTES_MAX)


def _leadership(look: PartitionWatched) -> object:
    return look.leader, look.leader_epoch


def _last(changes: Mapping[int, Sequence[int]]) -> Mapping[int, int]:
    return {partition: times[-1] for partition, times in changes.items()}


def _changes(
    watched: Sequence[PartitionWatched], state: Callable[[PartitionWatched], object]
) -> Mapping[int, Sequence[int]]:
    """Return when each partition was in another state; a look at an older leader epoch than before sees none.

    Where no epoch is told, a leader that was seen before may be told by a broker that has not heard of the next one:
    the first look at a leader counts, and none at its return.
    """
    before: dict[int, object] = {}
    changed: dict[int, list[int]] = defaultdict(list)
    newest: dict[int, int] = {}
    led: dict[int, set[object]] = defaultdict(set)
    for one in watched:
        if one.leader is None or (one.leader_epoch or 0) < newest.get(one.partition, 0):
            continue
        newest[one.partition] = one.leader_epoch or 0
        now, seen = state(one), led[one.partition]
        if before.get(one.partition, now) != now and (one.leader_epoch is not None or now not in seen):
            changed[one.partition].append(one.at_ns)
        before[one.partition] = now
        seen.add(now)
    return changed


def _deletes(values: Mapping[str, str | None], lasted_ms: float, log_bytes: int | None) -> bool:
    """Return whether retention can have deleted something of a log that had so many bytes at most."""
    if "delete" not in (values.get("cleanup.policy") or "delete"):
        return False
    keeps_ms, keeps_bytes = (int(values.get(name) or -1) for name in ("retention.ms", "retention.bytes"))
    is_too_long = keeps_bytes >= 0 and (log_bytes is None or log_bytes > keeps_bytes)
    return is_too_long or 0 <= keeps_ms < lasted_ms
