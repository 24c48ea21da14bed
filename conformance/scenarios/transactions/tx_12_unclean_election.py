"""What becomes of a transaction whose marker is lost in an unclean election? Nobody writes it again (KAFKA-20716)."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS

MARKER_LOST = Examination(
    name="TX-12",
    id="transactions/an-unclean-election-loses-a-marker",
    requirement=(
        "An unclean election that loses a marker opens its transaction again, and no coordinator ends it: consumers of "
        "committed records read no further, although its producer was told that it has committed."
    ),
    sources=("TX-12", "KAFKA-20716"),
    explanation="They were given a1 before, and are not afterwards. The follower has the record, and lacks the marker.",
    where=WITH_TRANSACTIONS,
    examined=by("transaction_scripts:MARKER_LOST"),
)

SCENARIOS = (MARKER_LOST,)
