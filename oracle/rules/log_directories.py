"""What does a replica know of leader epochs once it was moved to another log directory of its broker (KIP-113)?

A move copies the records into a future log, which then takes the place of the current one. The future log notes the
leader epochs of the batches that it was given. An epoch without records, as a leader notes it on its election, is in no
batch: the moved replica does not know it, neither as one that others ask about nor as the latest.

A leader that is asked about an epoch above the latest that it knows cannot tell where it ends. From 2.8 on every fetch
asks: it is out of range. A follower then takes up again where it was, since its log ends where its leader's does, and
asks the same, until the leader appends a record. Nothing is cut, and the follower does not get into the ISR.

Sources: KAFKA-15608 and its pull request 14553, closed without a merge; KAFKA-20961 and its pull request 23205, open;
``LogManager.replaceCurrentWithFutureLog`` of 1.1 to 3.8, ``LeaderEpochFileCache.endOffsetFor``, ``Partition.readRecords``,
``AbstractFetcherThread.fetchOffsetAndTruncate``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import UNDEFINED
from oracle.replacing import replace
from oracle.rules.release import is_older
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.log import EpochEntry, ReplicaLog
    from oracle.rules.rule_set import RuleSet

EPOCHS_OF_RECORDS = Rule(
    name="moved-log-notes-epochs-of-records",
    source="KAFKA-15608, KAFKA-20961, LogManager.replaceCurrentWithFutureLog",
    says="A replica that is moved to another log directory keeps the leader epochs that it has records of, no others.",
)
EPOCHS_KEPT = Rule(
    name="moved-log-keeps-epochs",
    source="KAFKA-20961, LogManager.replaceCurrentWithFutureLog",
    says="A replica that is moved to another log directory keeps every leader epoch that it had noted.",
)

MOVES_SINCE = "1.1.0"
"""The first release whose brokers move replicas between log directories (KIP-113)."""
KEEPS_SINCE: str | None = None
"""The first release in which a moved replica keeps every epoch: none yet, up to 4.4.0."""


def rule_of_moves(version: str) -> Rule:
    """Return what a release makes of the leader epochs of a replica that it moves."""
    keeps = KEEPS_SINCE is not None and not is_older(version, KEEPS_SINCE)
    return EPOCHS_KEPT if keeps else EPOCHS_OF_RECORDS


def moved(log: ReplicaLog, rule: Rule) -> ReplicaLog:
    """Return a replica's log as it is once it was moved under a rule: the same records, and the epochs that stay."""

    def has_records(entry: EpochEntry) -> bool:
        return any(record.leader_epoch == entry.leader_epoch for record in log.entries)

    return log if rule is EPOCHS_KEPT else replace(log, epochs=tuple(filter(has_records, log.epochs)))


def is_out_of_range(leader: ReplicaLog, follower: ReplicaLog, rules: RuleSet) -> bool:
    """Return whether a leader cannot tell a follower's fetch where the follower's latest epoch ends, and refuses it."""
    asks = rules.truncation.checks_on_fetch and bool(follower.epochs)
    return asks and rules.truncation.end_offset_for(leader, follower.latest_epoch) == UNDEFINED
