"""Is a last known leader elected that is not there? KAFKA-19522, on clusters with eligible leader replicas."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where
from conformance.scenarios.regressions.defect import FAMILY
from oracle.vocabulary import MetadataMode

SCENARIOS = (
    Examination(
        name=f"{FAMILY}/KAFKA-19522",
        id=f"{FAMILY}/kafka-19522",
        requirement="A last known leader is elected only when its broker is there.",
        sources=("EL-06", "KIP-966", "KAFKA-19522"),
        explanation=(
            "No replica is in sync and none is eligible any more; the last known leader may lead, but its broker is "
            "down. The controller of 4.0 notes that in its log and elects it all the same, from 4.1 on it waits."
        ),
        examined=by("regressions.fenced_leader:FENCED_LEADER"),
        where=Where(since="4.0.0", metadata=MetadataMode.KRAFT, why="clusters have eligible leader replicas (KIP-966)"),
    ),
)
