"""Which leader epochs does a replica know once it was moved to another log directory of its broker?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by
from conformance.catalogue.where import Where
from oracle.rules.log_directories import MOVES_SINCE

MOVED_REPLICA = Examination(
    name="LE-08",
    id="leader-epoch/moved-replica-knows-its-epochs",
    requirement=(
        "A replica that is moved to another log directory of its broker knows each leader epoch that it had noted, also "
        "one without records: no release keeps those."
    ),
    sources=("LE-08", "KIP-113", "KAFKA-15608", "KAFKA-20961"),
    explanation=(
        "Broker 1 leads, and its epoch has no record yet. Once its replica is moved, its file does not name that epoch, "
        "and it cannot tell where it ends. Broker 2 has led before it, in an epoch without records, and comes back: from "
        "2.8 on each of its fetches names that epoch and is out of range. It stays out of the ISR, although both brokers "
        "run, and acks=all is refused, until a record is appended with acks=1. The defect is open upstream."
    ),
    examined=by("moved_replica:MOVED_REPLICA"),
    basis=Basis.COMPUTED,
    where=Where(since=MOVES_SINCE, why="brokers do not move replicas between log directories"),
)

SCENARIOS = (MOVED_REPLICA,)
