"""What becomes of a transaction whose coordinator dies? Another broker goes on from the transaction log.

It reads there what is decided, not which markers have been answered: it has all of them written again.
"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS

WHILE_OPEN = Examination(
    name="TX-09/open",
    id="transactions/a-coordinator-dies-while-a-transaction-is-open",
    requirement="A transaction goes on that was open when its coordinator died, and is committed by the next one.",
    sources=("TX-09", "KIP-98"),
    explanation="Both records are given: one was sent before the coordinator died, and one afterwards.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:LOST_WHILE_OPEN"),
)

WHILE_ENDING = Examination(
    name="TX-09/ending",
    id="transactions/a-coordinator-dies-before-it-has-every-answer",
    requirement=(
        "A transaction whose end is decided is ended by the coordinator that takes over, which has every marker "
        "written; a marker of the one that died is refused then."
    ),
    sources=("TX-09", "KIP-98"),
    explanation="The marker that was held has the epoch of the coordinator that died: it ends no other transaction.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:LOST_WHILE_ENDING"),
)

SCENARIOS = (WHILE_OPEN, WHILE_ENDING)
