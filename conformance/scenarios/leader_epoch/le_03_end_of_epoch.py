"""Where does a leader epoch end, and in which epoch may one ask? A live leader is asked, as followers ask."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import Where, with_puppets_since
from conformance.scenarios.vocabulary import (
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    epoch_end,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule

EPOCH_ENDS = Examination(
    name="LE-03/puppets",
    id="one-broker/leader-tells-where-epochs-end",
    requirement=(
        "OffsetsForLeaderEpoch gives the log end offset for the leader's own epoch, the start of the next known epoch "
        "for an older one, and nothing for a newer one; for an epoch it never saw the answer is the release's."
    ),
    sources=("LE-03", "001", "KIP-101", "KIP-279"),
    explanation="The leader has records of epochs 5 and 7; it is asked about 3, 5, 6, 7 and 8.",
    where=with_puppets_since("0.11.0.0", "before, nobody asks where epochs end"),
    examined=by("one_broker:EPOCH_ENDS"),
)

FENCED_QUESTIONS = Examination(
    name="LE-03/fenced",
    id="one-broker/question-in-another-epoch-is-fenced",
    requirement=(
        "Who asks where an epoch ends in an older leader epoch than the leader's is answered FENCED_LEADER_EPOCH (74), "
        "in a newer one UNKNOWN_LEADER_EPOCH (75)."
    ),
    sources=("LE-03", "LE-05", "KIP-320"),
    explanation="The same question three times, from epochs 4, 6 and 5; only the last one is answered.",
    where=with_puppets_since("2.1.0", "before, the question carries no current epoch"),
    examined=by("one_broker:FENCED_QUESTIONS"),
)

TWO_LEADERSHIPS = (
    produce("m0"),
    kill(1),
    await_leader(2),
    produce("m1", "m2"),
    start(1),
    await_isr(1, 2),
)
"""m0 is of the first leadership, m1 and m2 of the second."""

ASKED = Scenario(
    name="LE-03/asked",
    explanation=(
        "Broker 2 leads for the second time: its own epoch ends at its log end offset 3, the one before at 1, where "
        "its own began, and of an epoch that nobody has reached yet it knows nothing. Broker 1, a follower, answers "
        "NOT_LEADER_OR_FOLLOWER. Up to 1.1 the answer has an offset and no epoch."
    ),
    where=Where(since="0.11.0.0", why="before there were no leader epochs to ask about"),
    schedule=Schedule(
        id="asking/where-a-leader-epoch-ends",
        requirement=(
            "OffsetsForLeaderEpoch gives the log end offset for the leader's own epoch, the start of the next epoch "
            "for an older one, and nothing for one that is still to come; only the leader answers it."
        ),
        sources=("LE-03", "LE-01", "001", "KIP-101", "KIP-279"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            epoch_end(0),
            epoch_end(1),
            *TWO_LEADERSHIPS[1:],
            epoch_end(0),
            epoch_end(1),
            epoch_end(2),
            epoch_end(1, broker=1),
            produce("m3"),
            epoch_end(1),
            checkpoint("end"),
        ),
    ),
)

CLAIMED = Scenario(
    name="LE-03/claimed",
    explanation=(
        "The question is the same each time, about the first leadership; only the claim differs: the epoch of the "
        "first leadership is too old, that of the second is right, that of a third is not there yet. Broker 1 checks "
        "the claim as well, before it says that it does not lead."
    ),
    where=Where(since="2.1.0", why="the request claims no current leader epoch before (KIP-320)"),
    schedule=Schedule(
        id="asking/a-claimed-leader-epoch-is-checked",
        requirement=(
            "A request that claims an older leader epoch than the broker's is answered with FENCED_LEADER_EPOCH, one "
            "that claims a newer one with UNKNOWN_LEADER_EPOCH, whether the broker leads or not."
        ),
        sources=("LE-03", "LE-05", "KIP-320"),
        replicas=brokers(1, 2),
        steps=(
            *TWO_LEADERSHIPS,
            epoch_end(0, claiming=0),
            epoch_end(0, claiming=1),
            epoch_end(0, claiming=2),
            epoch_end(0, broker=1, claiming=0),
            epoch_end(0, broker=1, claiming=1),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (EPOCH_ENDS, FENCED_QUESTIONS, ASKED, CLAIMED)
