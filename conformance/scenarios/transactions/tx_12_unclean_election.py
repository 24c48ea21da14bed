"""What becomes of a transaction whose marker is lost in an unclean election? Nobody writes it again (KAFKA-20716)."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where

MARKER_LOST = Examination(
    name="TX-12",
    id="transactions/an-unclean-election-loses-a-marker",
    requirement=(
        "An unclean election that loses a marker opens its transaction again, and no coordinator ends it: consumers of "
        "committed records read no further, although its producer was told that it has committed."
    ),
    sources=("TX-12", "KAFKA-20716"),
    explanation="They were given a1 before, and are not afterwards. The follower has the record, and lacks the marker.",
    where=Where(
        since="0.11.0.0",
        why_since="before there were no transactions (KIP-98)",
        kraft_since="3.9.0",
        why="before its controller does not look at unclean.leader.election.enable (KAFKA-12670)",
    ),
    examined=by("transaction_scripts:MARKER_LOST"),
)

SCENARIOS = (MARKER_LOST,)
