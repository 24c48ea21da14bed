"""Which transaction does a late batch belong to? To none, or to the one that is open, or to its own alone.

KIP-890: the producer gave the batch up and aborted; then it arrives.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS, WITH_VERSIONS

HANGS = Examination(
    name="TX-06/after-its-abort",
    id="transactions/a-late-batch-after-its-abort",
    requirement=(
        "A batch that arrives after its transaction was aborted opens one that nobody ends, and the last stable offset "
        "stands still; from 3.6 on the leader asks the coordinator, and refuses the batch."
    ),
    sources=("TX-06", "KIP-890", "KAFKA-14402"),
    explanation="Up to 3.5 a1 stands behind the marker of its own transaction; what follows it is never read.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:HANGS"),
)

JOINS = Examination(
    name="TX-06/in-the-next",
    id="transactions/a-late-batch-in-the-next-transaction",
    requirement=(
        "A batch that arrives in the next transaction of its epoch belongs to that one, and takes the place of the "
        "batch that has its sequence number there; with transaction.version 2 it is refused."
    ),
    sources=("TX-06", "KIP-890"),
    explanation=(
        "The producer gave a1 up, as clients before 2.5 do, and commits a2. Up to 3.9 consumers are given a1, which "
        "was aborted, and not a2, which was acknowledged."
    ),
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:JOINS"),
)

JOINS_VERSION_1 = replace(
    JOINS,
    name="TX-06/in-the-next-version-1",
    id="transactions/a-late-batch-with-version-1",
    requirement="With transaction.version 1 a late batch belongs to the next transaction of its epoch, as before 4.0.",
    where=WITH_VERSIONS,
    examined=by("transaction_scripts:JOINS_VERSION_1"),
)

SCENARIOS = (HANGS, JOINS, JOINS_VERSION_1)
