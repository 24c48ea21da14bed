"""What does a leader that was a follower know of producers? What its log says: epochs, sequences, what is open."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS

ANOTHER_LEADS = Examination(
    name="TX-11",
    id="transactions/a-leader-dies-while-a-transaction-is-open",
    requirement=(
        "A leader that was a follower recognises a batch that was appended before, takes the next one, and has the "
        "transaction open that was."
    ),
    sources=("TX-11", "KIP-98"),
    explanation="a2 is sent again, as its producer had no answer: it is in the log once.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:ANOTHER_LEADS"),
)

SCENARIOS = (ANOTHER_LEADS,)
