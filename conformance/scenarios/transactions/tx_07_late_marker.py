"""Which transaction does a marker end that is written twice? The one that is open, unless markers have to be newer.

KIP-1228: a coordinator whose connection breaks has its marker written again; the first one arrives when the next
transaction has begun. It is held at the gate, as the coordinator sent it.
"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS

LATE_MARKER = Examination(
    name="TX-07/in-the-next",
    id="transactions/a-late-marker-ends-the-next-transaction",
    requirement=(
        "A marker that arrives a second time ends the transaction that is open there; from 4.2 on, with "
        "transaction.version 2, it is refused, as it does not begin its epoch."
    ),
    sources=("TX-07", "KIP-1228", "KAFKA-19446"),
    explanation="The producer aborts a2. Up to 4.1 consumers are given it all the same.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:LATE_MARKER"),
)

WRITTEN_TWICE = Examination(
    name="TX-07/written-twice",
    id="transactions/a-marker-is-written-twice",
    requirement="A marker that arrives a second time where nothing is open is written again, and changes nothing.",
    sources=("TX-07", "KAFKA-19999"),
    explanation="Refused, it would have its coordinator give the transaction up: so it was between 4.1 and 4.2.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:WRITTEN_TWICE"),
)

SCENARIOS = (LATE_MARKER, WRITTEN_TWICE)
