"""What does a replica know of leader epochs once it was moved to another log directory of its broker (KIP-113)?

A move copies the records into a future log, which then takes the place of the current one. The future log notes the
leader epochs of the batches that it was given. An epoch without records is in no batch: neither the one that a leader
has noted on its election, nor the last one of a log whose records are all deleted. The moved replica does not know it.

A leader that is asked about an epoch above the latest that it knows cannot tell where it ends. From 2.8 on every fetch
asks: it is out of range. The follower takes up again where it was, since its log ends where its leader's does, and asks
the same, until the leader appends a record. A follower in sync stays so, since it is at the leader's end (IS-04); one
that is not does not join.

Sources: KAFKA-15608 and its pull request 14553, closed without a merge; KAFKA-20961 and its pull request 23205, open;
``LogManager.replaceCurrentWithFutureLog`` of 1.1 to 3.8, ``LeaderEpochFileCache.endOffsetFor``,
``Partition.readRecords``, ``AbstractFetcherThread.fetchOffsetAndTruncate``.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from oracle.log import UNDEFINED
from oracle.replacing import replace
from oracle.rules.release import is_older
from oracle.vocabulary import Offset

if TYPE_CHECKING:
    from oracle.log import ReplicaLog
    from oracle.rules.rule_set import RuleSet


class MovedEpochs(Enum):
    """Which leader epochs a moved replica knows: those that it has records of, or every one that it had noted."""

    OF_RECORDS = "those with records"
    EVERY = "every one"


START = Offset(0)

MOVES_IN_KRAFT_SINCE = "3.7.0"
"""The first release whose brokers have more than one log directory in KRaft mode (KIP-858)."""
KEEPS_SINCE: str | None = None
"""The first release in which a moved replica keeps every epoch: none yet, up to 4.4.0."""


def epochs_of_moves(version: str) -> MovedEpochs:
    """Return which leader epochs stay where a release moves a replica."""
    keeps = KEEPS_SINCE is not None and not is_older(version, KEEPS_SINCE)
    return MovedEpochs.EVERY if keeps else MovedEpochs.OF_RECORDS


def moved(log: ReplicaLog, stay: MovedEpochs, log_start: Offset = START) -> ReplicaLog:
    """Return a replica's log as it is once it was moved: the same records, and the epochs that stay."""
    written_in = {record.leader_epoch for record in log.entries[log_start:]}
    if stay is MovedEpochs.EVERY:
        return log
    return replace(log, epochs=tuple(entry for entry in log.epochs if entry.leader_epoch in written_in))


def is_out_of_range(leader: ReplicaLog, follower: ReplicaLog, rules: RuleSet) -> bool:
    """Return whether an idle follower's fetches name an epoch of which its leader cannot tell where it ends."""
    asks = rules.truncation.checks_on_fetch and bool(follower.epochs)
    return asks and rules.truncation.end_offset_for(leader, follower.latest_epoch) == UNDEFINED
