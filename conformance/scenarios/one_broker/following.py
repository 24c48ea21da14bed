"""Does a follower whose leader is a puppet ask, cut and copy as its release does?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.puppet_stage.where import WITH_PUPPETS

CUTS = Examination(
    name="TR-06/puppets",
    id="one-broker/follower-cuts-what-its-leader-does-not-have",
    requirement=(
        "A follower of a new leader cuts its log where the two logs part, as it is told by the leader: to its high "
        "watermark up to 0.10.2, by OffsetsForLeaderEpoch up to 2.7, by the diverging epoch in the answer from 2.8 on."
    ),
    sources=("TR-06", "TR-04", "LE-04", "LE-07", "000", "KIP-101", "KIP-279", "KIP-595"),
    explanation="Every request of the follower is predicted, with the epoch that it names, and the log in the end.",
    where=WITH_PUPPETS,
    examined=by("one_broker.following:CUTS"),
)

SAME_LEADER = Examination(
    name="TR-06/same-leader",
    id="one-broker/follower-of-the-same-leader-in-a-new-epoch",
    requirement=(
        "A follower whose leader stays the same in a new epoch cuts its log from 2.1 on as after any change; before, "
        "it carries on without asking."
    ),
    sources=("TR-06", "KAFKA-7164"),
    explanation="Epoch 9 of the same broker 2 has another log than epoch 5 had: it was away in between.",
    where=WITH_PUPPETS,
    examined=by("one_broker.following:SAME_LEADER"),
)

FORMER_LEADER = Examination(
    name="TR-05/puppets",
    id="one-broker/former-leader-cuts-its-uncommitted-records",
    requirement="A leader that becomes a follower removes the records that its successor does not have.",
    sources=("TR-05", "000", "001"),
    explanation="Of a, b and c only a was replicated; the successor has written x and y in epoch 6.",
    where=WITH_PUPPETS,
    examined=by("one_broker.following:FORMER_LEADER"),
)

UNANSWERED = Examination(
    name="LE-06/puppets",
    id="one-broker/leader-dies-before-it-answers",
    requirement=(
        "A follower whose leader dies before it answers the first request has not cut its log, from 0.11 on; elected, "
        "it keeps all of it."
    ),
    sources=("LE-06", "000"),
    explanation="Up to 0.10.2 the follower has cut to its high watermark before it asks for anything.",
    where=WITH_PUPPETS,
    examined=by("one_broker.following:UNANSWERED"),
)

RESTARTED = Examination(
    name="HW-13/puppets",
    id="one-broker/restarted-follower-begins-at-its-checkpoint",
    requirement=(
        "A restarted broker begins with the high watermark on its disk; up to 0.10.2 it cuts its log to it as a "
        "follower, later it keeps what its leader has."
    ),
    sources=("HW-13", "TR-04", "KAFKA-1211"),
    explanation="It has three records and knows of one that it is committed; the second start makes it the leader.",
    where=WITH_PUPPETS,
    examined=by("one_broker.following:RESTARTED"),
)

EMPTY_ANSWER = Examination(
    name="LE-04/empty-answer",
    id="one-broker/empty-answer-leaves-the-last-epoch-alone",
    requirement=(
        "A follower that has got nothing from a new leader still tells the epoch of its last record with every fetch, "
        "from 2.8 on; 3.5.1 to 3.6 forget it (KAFKA-15510)."
    ),
    sources=("LE-04", "KIP-595", "KAFKA-15510"),
    explanation="The second leader has the same log as the first, so that its first answer has no records.",
    where=WITH_PUPPETS,
    examined=by("one_broker.following:EMPTY_ANSWER"),
)

SCENARIOS = (CUTS, SAME_LEADER, FORMER_LEADER, UNANSWERED, RESTARTED, EMPTY_ANSWER)
