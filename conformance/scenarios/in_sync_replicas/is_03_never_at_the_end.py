"""Does a follower stay in sync that fetches all the time and is never at the end?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by

NEVER_AT_THE_END = Examination(
    name="IS-03",
    id="in-sync-replicas/never-at-the-end",
    requirement=(
        "A follower counts as caught up until the time of its last fetch that reached the leader's end, or of the one "
        "before a fetch that reached the leader's end of that moment: one that fetches all the time and never gets so "
        "far leaves the ISR like a silent one."
    ),
    sources=("IS-03", "IS-01", "003", "004", "KIP-16"),
    explanation=(
        "The puppet is never at the leader's end. One record decides: from the leader's end at the fetch before it "
        "stays, from one record further back it leaves within 1.0 to 1.5 times the lag time, fetching all the while."
    ),
    examined=by("caught_up_clock:NEVER_AT_THE_END"),
)

SCENARIOS = (NEVER_AT_THE_END,)
