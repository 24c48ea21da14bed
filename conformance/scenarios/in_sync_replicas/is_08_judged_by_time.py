"""By which clock is a follower judged that never stops fetching? By when it last had everything."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by

JUDGED_BY_TIME = Examination(
    name="IS-08",
    id="in-sync-replicas/judged-by-time-only",
    requirement="How many records a follower is behind does not matter: only for how long it is.",
    sources=("IS-08", "IS-03", "002", "003", "KIP-16"),
    explanation=(
        "5000 records behind, more than replica.lag.max.messages ever allowed by default, and in sync; one record "
        "behind and silent, and out. The setting is gone since 0.9, older than all releases here."
    ),
    examined=by("caught_up_clock:FAR_BEHIND"),
)

SCENARIOS = (JUDGED_BY_TIME,)
