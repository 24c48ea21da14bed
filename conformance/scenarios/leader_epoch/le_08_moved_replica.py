"""Which leader epochs does a replica know once it was moved to another log directory of its broker?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where
from oracle.rules.log_directories import MOVES_IN_KRAFT_SINCE

MOVED_REPLICA = Examination(
    name="LE-08",
    id="leader-epoch/moved-replica-knows-its-epochs",
    requirement=(
        "A replica that is moved to another log directory of its broker must know each leader epoch that it had noted, "
        "also one without records; up to 4.4.0 it knows those with records alone."
    ),
    sources=("LE-08", "KIP-113", "KAFKA-15608", "KAFKA-20961"),
    explanation=(
        "Broker 2 leads and has written nothing: once its replica is moved, its file lacks its own epoch. While the "
        "last record's epoch is known, nothing follows. When all records are deleted and the replica is moved, it "
        "knows none: from 2.8 on each fetch of broker 1 is out of range, one after the other. Broker 1 has left the "
        "ISR for a moment, and stays out: both run, and acks=all is refused until a record is appended with acks=1. "
        "CONFORMS says that the brokers have the defect, which is open upstream."
    ),
    examined=by("moved_replica:MOVED_REPLICA"),
    where=Where(
        since="2.8.0",
        why_since="followers ask for no epoch in their fetches, and 2.1.1 ends no move of a log without records",
        kraft_since=MOVES_IN_KRAFT_SINCE,
        why="brokers have one log directory (KIP-858)",
    ),
)

SCENARIOS = (MOVED_REPLICA,)
