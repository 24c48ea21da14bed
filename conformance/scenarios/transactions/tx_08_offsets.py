"""When does a group's offset count that is committed in a transaction? Once that has committed."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where

WITH_STABLE_OFFSETS = Where(since="2.5.0", why="before nobody could ask whether an offset may still change (KIP-447)")

OFFSETS = Examination(
    name="TX-08/in-its-transaction",
    id="transactions/an-offset-counts-once-its-transaction-has-committed",
    requirement=(
        "An offset that a producer commits in a transaction counts once that has committed, and never if it aborts; "
        "while it is open the group is told that its offset may still change."
    ),
    sources=("TX-08", "KIP-98", "KIP-447"),
    explanation="Offset 1 is committed, offset 2 is aborted: the group goes on from 1.",
    where=WITH_STABLE_OFFSETS,
    examined=by("transaction_scripts:OFFSETS"),
)

LATE_OFFSET = Examination(
    name="TX-08/after-its-abort",
    id="transactions/a-late-offset-after-its-abort",
    requirement=(
        "An offset that arrives after its transaction was aborted may change for ever, and no member of the group goes "
        "on; from 3.7 on its coordinator asks, and refuses it."
    ),
    sources=("TX-08", "KIP-890"),
    explanation="Up to 3.6 nobody ends what the offset has opened.",
    where=WITH_STABLE_OFFSETS,
    examined=by("transaction_scripts:LATE_OFFSET"),
)

SCENARIOS = (OFFSETS, LATE_OFFSET)
