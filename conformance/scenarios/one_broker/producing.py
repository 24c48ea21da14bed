"""Does a leader whose followers are puppets accept, refuse and keep what producers send as its release does?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.puppet_stage.where import WITH_PUPPETS

INVALID_ACKS = Examination(
    name="AC-01/puppets",
    id="one-broker/acks-are-0-1-or-all",
    requirement=(
        "A produce with acks other than 0, 1 and -1 is refused with INVALID_REQUIRED_ACKS (21), and nothing is "
        "written: the log end offset stays."
    ),
    sources=("AC-01", "003"),
    explanation="Acks 2, 3 and -2, although two in-sync replicas are there; the next record gets offset 1.",
    where=WITH_PUPPETS,
    examined=by("one_broker.producing:INVALID_ACKS"),
)

TIMED_OUT = Examination(
    name="AC-03/puppets",
    id="one-broker/produce-times-out-and-the-record-stays",
    requirement=(
        "A produce with acks=all that no in-sync follower fetches in time ends with REQUEST_TIMED_OUT (7); its record "
        "stays in the leader's log and is committed when the follower fetches past it."
    ),
    sources=("AC-03", "003"),
    explanation="The outcome is indeterminate: the producer was told no, the record becomes visible all the same.",
    where=WITH_PUPPETS,
    examined=by("one_broker.producing:TIMED_OUT"),
)

TOO_FEW = Examination(
    name="AC-04/puppets",
    id="one-broker/too-few-in-sync-replicas",
    requirement=(
        "With fewer in-sync replicas than min.insync.replicas acks=all is refused with NOT_ENOUGH_REPLICAS (19) and "
        "nothing is written; acks=1 is appended, and visible at once only up to 3.6."
    ),
    sources=("AC-04", "AC-06", "003", "KAFKA-15583"),
    explanation="min.insync.replicas is 2 and the leader is alone; when the second replica is back all is committed.",
    where=WITH_PUPPETS,
    examined=by("one_broker.producing:TOO_FEW"),
)

ZOMBIE = Examination(
    name="LE-05/zombie",
    id="one-broker/zombie-leader-commits-nothing",
    requirement=(
        "A leader that has not heard of its successor appends, but commits nothing: acks=all times out, and what it "
        "appended is cut when it follows the leader of the higher epoch."
    ),
    sources=("LE-05", "TR-05", "AC-03", "001"),
    explanation=(
        "The others are in epoch 6 already and fetch from it no more. Records b and c, one of them acknowledged with "
        "acks=1, are not in the log that it has in the end."
    ),
    where=WITH_PUPPETS,
    examined=by("one_broker.producing:ZOMBIE"),
)

SCENARIOS = (INVALID_ACKS, TIMED_OUT, TOO_FEW, ZOMBIE)
