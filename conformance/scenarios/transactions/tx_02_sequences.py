"""Which batches of a producer does a leader append? Each once, in their order."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS

SENT_AGAIN = Examination(
    name="TX-02/sent-again",
    id="transactions/a-batch-is-appended-once",
    requirement="A batch that is sent a second time is answered as appended, and is in the log once.",
    sources=("TX-02", "KIP-98", "KAFKA-5494"),
    explanation="The log ends with three records and a marker, though four batches were answered.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:SENT_AGAIN"),
)

LEFT_OUT = Examination(
    name="TX-02/left-out",
    id="transactions/a-batch-is-missing",
    requirement="A batch whose predecessor is not there is refused, and nothing of it is written.",
    sources=("TX-02", "KIP-98", "KIP-360"),
    explanation=(
        "In partition 0 the sequence numbers 1 and 2 are missing. In partition 1 the producer is not known yet: it has "
        "to begin with 0 up to 2.4, and may begin with any number from 2.5 on."
    ),
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:LEFT_OUT"),
)

SCENARIOS = (SENT_AGAIN, LEFT_OUT)
