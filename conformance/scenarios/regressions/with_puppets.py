"""Which defects does a leader show by what it answers to followers that are puppets? Waiting fetches."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.puppet_stage.where import WITH_PUPPETS
from conformance.scenarios.regressions.defect import FAMILY

HIGH_WATERMARK_PUSHED = Examination(
    name=f"{FAMILY}/KAFKA-9952",
    id=f"{FAMILY}/kafka-9952",
    requirement="A fetch that gets no records waits for some, although the high watermark rises.",
    sources=("HW-06", "HW-11", "KIP-392", "KAFKA-9731", "KAFKA-9952"),
    explanation=(
        "Broker 2's fetch at the log end commits the record. In 2.4 and 2.5 the leader answers it at once, to pass the "
        "new high watermark on, and followers fetch half as often again; all others let it wait for records."
    ),
    examined=by("regressions.with_puppets:HIGH_WATERMARK_PUSHED"),
    where=WITH_PUPPETS,
)

SCENARIOS = (HIGH_WATERMARK_PUSHED,)
