"""How far do consumers of committed records read? To the first transaction that is open."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS

OPEN = Examination(
    name="TX-04",
    id="transactions/nothing-is-read-behind-an-open-transaction",
    requirement=(
        "The last stable offset of a partition is where its first open transaction begins, or the high watermark; "
        "it moves when the marker is written, not when the producer is told that its transaction has ended."
    ),
    sources=("TX-04", "RM-06", "KIP-98"),
    explanation="While the second transaction is open its record is in the log, and nobody is given it.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:OPEN"),
)

SCENARIOS = (OPEN,)
