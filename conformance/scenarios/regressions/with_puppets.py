"""Which defects does one broker show among puppets? Waiting fetches, logs that begin late or end later, lookups."""

from __future__ import annotations

from dataclasses import replace

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import WITH_PUPPETS, with_puppets_since
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
    examined=by("defects_with_puppets:HIGH_WATERMARK_PUSHED"),
    where=WITH_PUPPETS,
)

LOG_BEGINS_LATE = Examination(
    name=f"{FAMILY}/KAFKA-9491",
    id=f"{FAMILY}/kafka-9491",
    requirement="A replica whose log was emptied and begins anew at a later offset can lead.",
    sources=("TR-09", "HW-13", "KAFKA-9491"),
    explanation=(
        "The leader's log begins at 5, so broker 1 throws its own away and begins there. In 2.4.0 its high watermark "
        "stays at 0, where there is nothing: becoming leader ends with out of range, and so does every produce to it."
    ),
    examined=by("defects_with_puppets:LOG_BEGINS_LATE"),
    where=WITH_PUPPETS,
)

LOG_ENDS_LATER = Examination(
    name=f"{FAMILY}/KAFKA-7414",
    id=f"{FAMILY}/kafka-7414",
    requirement="A follower whose log ends after its leader's cuts it and goes on.",
    sources=("TR-06", "TR-05", "KAFKA-7414"),
    explanation=(
        "Broker 1 has three records, all committed, and its new leader one; where broker 1's epoch ends that leader "
        "cannot tell. Up to 2.0.0 the fetch out of range ends the broker, since unclean election is off; in 0.10.2 its "
        "process hangs in that end. Later ones cut to the leader's end."
    ),
    examined=by("defects_with_puppets:LOG_ENDS_LATER"),
    where=WITH_PUPPETS,
)

EMPTY_EPOCH = Examination(
    name=f"{FAMILY}/KAFKA-10706",
    id=f"{FAMILY}/kafka-10706",
    requirement="A former leader whose last epoch has no record finishes its truncation and fetches.",
    sources=("TR-06", "LE-01", "LE-04", "KAFKA-10706"),
    explanation=(
        "Broker 1 led without writing; its new leader has an earlier epoch instead, which broker 1 never had. Up to "
        "2.6.0 broker 1 has nothing to cut, keeps the empty epoch, and asks about it for ever; later ones forget it."
    ),
    examined=by("defects_with_puppets:EMPTY_EPOCH"),
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
    examined=by("defects_with_puppets:FENCED_LATE"),
    where=replace(
        with_puppets_since("2.1.0", "before, requests name no leader epoch"),
        before="2.8.0",
        metadata=None,
        why="followers look epochs up before they fetch",
    ),
)

SCENARIOS = (HIGH_WATERMARK_PUSHED, LOG_BEGINS_LATE, LOG_ENDS_LATER, EMPTY_EPOCH, FENCED_LATE)
