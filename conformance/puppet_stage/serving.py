"""What log has a leader puppet, and what does it tell its followers under the rules of a release?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fault_injection.puppets.records import Batch
from fault_injection.puppets.served_topics import Served
from fault_injection.wire.views import NONE, EpochEnd
from oracle.log import Entry, ReplicaLog
from oracle.vocabulary import Label, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.rules.rule_set import RuleSet


def entries_of(epochs: Iterable[tuple[int, str]]) -> ReplicaLog:
    """Return a log from (leader epoch, labels of one letter) in order."""
    entries = (Entry(Label(label), LeaderEpoch(epoch)) for epoch, labels in epochs for label in labels)
    return ReplicaLog().append(entries)


def served(log: ReplicaLog, high_watermark: int, leader_epoch: int, rules: RuleSet) -> Served:
    """Return the answers of such a leader, record by record one batch, with a high watermark that stands still."""

    def end_of_epoch(leader_epoch: int) -> EpochEnd:
        end = rules.truncation.end_offset_for(log, LeaderEpoch(leader_epoch))
        epoch = NONE if end.leader_epoch is None else int(end.leader_epoch)
        return EpochEnd(epoch, NONE if end.end_offset is None else int(end.end_offset))

    def diverging(last_epoch: int, offset: int) -> EpochEnd | None:
        if not rules.truncation.checks_on_fetch or last_epoch == NONE:
            return None
        end = end_of_epoch(last_epoch)
        return end if end.leader_epoch < last_epoch or end.end_offset < offset else None

    entries = enumerate(log.entries)
    batches = tuple(Batch(offset, entry.leader_epoch, (entry.label.encode(),)) for offset, entry in entries)
    return Served(batches, high_watermark, end_of_epoch, diverging, leader_epoch)
