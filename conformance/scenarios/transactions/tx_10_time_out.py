"""What becomes of a transaction that lasts too long? Its coordinator aborts it, in an epoch that its producer lacks."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS

TOO_LONG = Examination(
    name="TX-10",
    id="transactions/a-transaction-lasts-too-long",
    requirement="A transaction that lasts longer than its time-out is aborted, and its producer is fenced.",
    sources=("TX-10", "KIP-98", "KIP-588"),
    explanation="Nothing is given of the transaction that lasted too long; the producer begins anew.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:TOO_LONG"),
)

SCENARIOS = (TOO_LONG,)
