"""By which clock is a follower judged that never stops fetching? By when it last had everything."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by

SCENARIOS = (
    Examination(
        name="IS-03",
        id="in-sync-replicas/never-at-the-end",
        requirement=(
            "A follower counts as caught up until the time of its last fetch that reached the leader's end, or of "
            "the one "
            "before a fetch that reached the leader's end of that moment: one that fetches all the time and never "
            "gets so "
            "far leaves the ISR like a silent one."
        ),
        sources=("IS-03", "IS-01", "003", "004", "KIP-16"),
        explanation=(
            "The puppet is never at the leader's end. One record decides: from the leader's end at the fetch "
            "before it "
            "stays, from one record further back it leaves within 1.0 to 1.5 times the lag time, fetching all the "
            "while."
        ),
        examined=by("in_sync_replicas.caught_up_clock:NEVER_AT_THE_END"),
    ),
    Examination(
        name="IS-08",
        id="in-sync-replicas/judged-by-time-only",
        requirement="How many records a follower is behind does not matter: only for how long it is.",
        sources=("IS-08", "IS-03", "002", "003", "KIP-16"),
        explanation=(
            "5000 records behind, more than replica.lag.max.messages ever allowed by default, and in sync; one "
            "record "
            "behind and silent, and out. The setting is gone since 0.9, older than all releases here."
        ),
        examined=by("in_sync_replicas.caught_up_clock:FAR_BEHIND"),
    ),
)
