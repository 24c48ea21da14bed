"""Who may write with a transactional id? The producer that was given the last epoch."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where

WITH_TRANSACTIONS = Where(since="0.11.0.0", why="before there were no transactions (KIP-98)")
WITH_VERSIONS = Where(since="4.0.0", why="before there was no transaction.version (KIP-890)")

TAKEN_OVER = Examination(
    name="TX-01/taken-over",
    id="transactions/the-next-producer-fences-the-last",
    requirement=(
        "A producer that begins with a transactional id has the transaction aborted that its predecessor left open, "
        "gets a newer epoch, and its predecessor's batches and its end are refused."
    ),
    sources=("TX-01", "KIP-98", "KAFKA-19367"),
    explanation="The epoch moves by two: one fences the predecessor, one is the new producer's. 4.0.0 takes three.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:TAKEN_OVER"),
)

GOES_ON = Examination(
    name="TX-01/goes-on",
    id="transactions/a-producer-goes-on-in-its-next-epoch",
    requirement=(
        "A producer that does not know what became of a batch aborts, gets its next epoch and begins its sequence "
        "numbers anew; the batch is refused when it arrives after one of the new epoch."
    ),
    sources=("TX-01", "KIP-360"),
    explanation="The late batch is of the last epoch, which the partition knows to be over.",
    where=Where(since="2.5.0", why="before a producer could not ask for its next epoch (KIP-360)"),
    examined=by("transaction_scripts:GOES_ON"),
)

SCENARIOS = (TAKEN_OVER, GOES_ON)
