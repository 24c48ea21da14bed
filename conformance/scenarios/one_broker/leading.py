"""Does a leader whose followers are puppets move its numbers and answer them as its release does?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.puppet_stage.where import WITH_PUPPETS, since

HIGH_WATERMARK = Examination(
    name="HW-08/puppets",
    id="one-broker/high-watermark-is-the-lowest-end-offset",
    requirement=(
        "A leader's high watermark is the lowest end offset of the in-sync replicas, never lower than before; an "
        "answer that does not wait carries the one before or after the fetch's own offset counted, as the release does."
    ),
    sources=("HW-08", "HW-12", "HW-04", "HW-09", "002", "KAFKA-7104"),
    explanation=(
        "Two followers fetch at offsets of choice. Only 1.0.0, 1.0.1 and 1.1.0 answer at once with the high watermark "
        "that the same fetch has moved (KAFKA-5758); a fetch that is parked is read again and carries the new one."
    ),
    where=WITH_PUPPETS,
    examined=by("one_broker.leading:HIGH_WATERMARK"),
)

JOIN = Examination(
    name="IS-02/puppets",
    id="one-broker/replica-joins-when-it-has-caught-up",
    requirement=(
        "A replica outside the in-sync replicas joins when its end offset has reached the high watermark, from 2.0.1 "
        "on also the start of the leader's epoch."
    ),
    sources=("IS-02", "002", "KAFKA-7128"),
    explanation=(
        "In epoch 6, which starts at 2 while the high watermark is 1, a fetch at 1 lets the replica in up to 2.0.0; "
        "later it takes a fetch at 2."
    ),
    where=WITH_PUPPETS,
    examined=by("one_broker.leading:JOIN"),
)

EPOCH_ENDS = Examination(
    name="LE-03/puppets",
    id="one-broker/leader-tells-where-epochs-end",
    requirement=(
        "OffsetsForLeaderEpoch gives the log end offset for the leader's own epoch, the start of the next known epoch "
        "for an older one, and nothing for a newer one; for an epoch it never saw the answer is the release's."
    ),
    sources=("LE-03", "001", "KIP-101", "KIP-279"),
    explanation="The leader has records of epochs 5 and 7; it is asked about 3, 5, 6, 7 and 8.",
    where=since("0.11.0.0", "before, nobody asks where epochs end"),
    examined=by("one_broker.leading:EPOCH_ENDS"),
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
    where=since("2.1.0", "before, the question carries no current epoch"),
    examined=by("one_broker.leading:FENCED_QUESTIONS"),
)

FENCED_FETCHES = Examination(
    name="LE-05/follower",
    id="one-broker/fetch-in-another-epoch-is-fenced",
    requirement=(
        "From 2.1 on a fetch in an older epoch than the leader's is refused with FENCED_LEADER_EPOCH (74), in a newer "
        "one with UNKNOWN_LEADER_EPOCH (75), and its offset counts for nothing; before, it is served and counted."
    ),
    sources=("LE-05", "KIP-320", "KAFKA-6880", "KAFKA-7395"),
    explanation="Up to 2.0 the high watermark rises on the word of followers that believe in other epochs.",
    where=WITH_PUPPETS,
    examined=by("one_broker.leading:FENCED_FETCHES"),
)

DIVERGING = Examination(
    name="TR-06/leader",
    id="one-broker/diverging-fetch-is-told-where",
    requirement=(
        "From 2.8 on a fetch whose last epoch ended earlier in the leader's log gets no records but that epoch and its "
        "end offset, and does not count as the follower's end offset."
    ),
    sources=("TR-06", "LE-04", "KIP-595", "KAFKA-13141"),
    explanation="Fetches after records of epochs 5, 6 and 7 at offsets where the logs agree, and where they do not.",
    where=WITH_PUPPETS,
    examined=by("one_broker.leading:DIVERGING"),
)

LATEST_OFFSET = Examination(
    name="HW-14/puppets",
    id="one-broker/new-leader-does-not-tell-a-lagging-latest-offset",
    requirement=(
        "From 2.2 on a new leader whose high watermark is below the start of its epoch answers the latest offset with "
        "OFFSET_NOT_AVAILABLE (78); before, it answers the lagging high watermark."
    ),
    sources=("HW-14", "004", "KIP-207"),
    explanation="A follower with high watermark 1 of 3 is made the leader; the first fetch at 3 makes it trustworthy.",
    where=WITH_PUPPETS,
    examined=by("one_broker.leading:LATEST_OFFSET"),
)

SCENARIOS = (HIGH_WATERMARK, JOIN, EPOCH_ENDS, FENCED_QUESTIONS, FENCED_FETCHES, DIVERGING, LATEST_OFFSET)
