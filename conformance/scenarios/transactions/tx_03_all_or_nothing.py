"""Which records of a transaction are read? All or none, whatever partitions they are in."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS

ALL_OR_NOTHING = Examination(
    name="TX-03",
    id="transactions/all-or-nothing",
    requirement=(
        "Consumers of committed records are given all records of a transaction that has committed, in every partition, "
        "and none of one that has aborted; a marker in each partition says which it was."
    ),
    sources=("TX-03", "KIP-98"),
    explanation="One transaction commits in two partitions, the next one aborts in both, the third commits in one.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:ALL_OR_NOTHING"),
)

SCENARIOS = (ALL_OR_NOTHING,)
