"""Which defects does a follower show among puppets while it looks epochs up? One without records, one that has gone."""

from __future__ import annotations

from dataclasses import replace

from conformance.catalogue.examination import Examination, by
from conformance.puppet_stage.where import WITH_PUPPETS, since
from conformance.scenarios.regressions.defect import FAMILY

EMPTY_EPOCH = Examination(
    name=f"{FAMILY}/KAFKA-10706",
    id=f"{FAMILY}/kafka-10706",
    requirement="A former leader whose last epoch has no record finishes its truncation and fetches.",
    sources=("TR-06", "LE-01", "LE-04", "KAFKA-10706"),
    explanation=(
        "Broker 1 led without writing; its new leader has an earlier epoch instead, which broker 1 never had. Up to "
        "2.6.0 broker 1 has nothing to cut, keeps the empty epoch, and asks about it for ever; later ones forget it."
    ),
    examined=by("regressions.lookups_with_puppets:EMPTY_EPOCH"),
    where=WITH_PUPPETS,
)

FENCED_LATE = Examination(
    name=f"{FAMILY}/KAFKA-7786",
    id=f"{FAMILY}/kafka-7786",
    requirement="A follower whose lookup is fenced late, when it is in the new leader epoch already, asks again.",
    sources=("LE-04", "FE-04", "KIP-320", "KAFKA-7786"),
    explanation=(
        "Broker 1's lookup of one leader epoch is answered in the next, of which broker 1 has heard meanwhile: it is "
        "fenced. 2.1.0 takes that for a fence of the epoch that it is in, and waits for a decision that it has had; "
        "it does not fetch until the leader epoch changes again. From 2.1.1 on it sees that the answer is late."
    ),
    examined=by("regressions.lookups_with_puppets:FENCED_LATE"),
    where=replace(
        since("2.1.0", "before, requests name no leader epoch"),
        before="2.8.0",
        metadata=None,
        why="followers look epochs up before they fetch",
    ),
)

SCENARIOS = (EMPTY_EPOCH, FENCED_LATE)
