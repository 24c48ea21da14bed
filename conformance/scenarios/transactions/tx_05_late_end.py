"""Which transaction does a late EndTxn end? The one that is open when it arrives, unless each has its epoch.

KAFKA-17754, which the report on Bufstream 0.1.0 found in Kafka too (jepsen.io): the producer did not wait for an
answer, sent the same again, and began its next transaction; then the first request arrives.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS, WITH_VERSIONS

LATE_COMMIT = Examination(
    name="TX-05/late-commit",
    id="transactions/a-late-commit-commits-the-next-transaction",
    requirement=(
        "A commit that arrives late commits what the next transaction has written so far, and what that writes "
        "afterwards is aborted; with transaction.version 2 it is refused, as every transaction has its epoch."
    ),
    sources=("TX-05", "KAFKA-17754", "KIP-890"),
    explanation="The producer aborts a2 and b2. Up to 3.9 consumers are given a2 all the same, and not b2.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:LATE_COMMIT"),
)

LATE_ABORT = Examination(
    name="TX-05/late-abort",
    id="transactions/a-late-abort-aborts-the-next-transaction",
    requirement=(
        "An abort that arrives late aborts what the next transaction has written so far: its producer is told that it "
        "has committed, and the record is lost; with transaction.version 2 it is refused."
    ),
    sources=("TX-05", "KAFKA-17754", "KIP-890"),
    explanation="The producer commits a2 and b2. Up to 3.9 consumers are given b2 alone: a2, acknowledged, is lost.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:LATE_ABORT"),
)

VERSION_1 = replace(
    LATE_COMMIT,
    name="TX-05/late-commit-version-1",
    id="transactions/a-late-commit-with-version-1",
    requirement="With transaction.version 1 a late commit commits what the next transaction wrote, as before 4.0.",
    where=WITH_VERSIONS,
    examined=by("transaction_scripts:LATE_COMMIT_VERSION_1"),
)

ABORT_VERSION_1 = replace(
    LATE_ABORT,
    name="TX-05/late-abort-version-1",
    id="transactions/a-late-abort-with-version-1",
    requirement="With transaction.version 1 a late abort loses what the next transaction wrote, as before 4.0.",
    where=WITH_VERSIONS,
    examined=by("transaction_scripts:LATE_ABORT_VERSION_1"),
)

SCENARIOS = (LATE_COMMIT, LATE_ABORT, VERSION_1, ABORT_VERSION_1)
