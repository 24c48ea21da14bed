"""What does a consumer see of open transactions? RM-06: the last stable offset, beside the high watermark."""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by
from conformance.catalogue.where import Where

READ_COMMITTED = Examination(
    name="RM-06/open-transaction",
    id="asking/latest-is-the-last-stable-offset",
    requirement=(
        "To a read_committed consumer the latest offset is the last stable offset, where the first open transaction "
        "begins, and no record from there on is shown; once it is committed both consumers see the same."
    ),
    sources=("RM-06", "003", "KIP-98"),
    explanation="The marker that ends the transaction takes offset 3, so the log ends at 4 with three records in it.",
    where=Where(since="0.11.0.0", why="before there were no transactions (KIP-98)"),
    basis=Basis.DOCUMENTED,
    examined=by("asking.transactions:READ_COMMITTED"),
)

SCENARIOS = (READ_COMMITTED,)
