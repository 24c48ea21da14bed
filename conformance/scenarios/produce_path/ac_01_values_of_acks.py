"""Which values of acks does a leader take?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS
from conformance.scenarios.vocabulary import (
    brokers,
    checkpoint,
    consume,
    produce,
    send_to,
)
from oracle.schedule import Schedule

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
    examined=by("one_broker:INVALID_ACKS"),
)

INVALID = Scenario(
    name="AC-01",
    explanation="Acks of 2, 7 and -2: three refusals, no record, and the next record gets offset 1.",
    schedule=Schedule(
        id="asking/acks-that-mean-nothing",
        requirement=(
            "A produce request whose acks are not 0, 1 or -1 is answered with INVALID_REQUIRED_ACKS and writes "
            "nothing, whether the broker leads or not."
        ),
        sources=("AC-01", "003"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            send_to("two", 1, acks=2),
            send_to("seven", 1, acks=7),
            send_to("minus-two", 1, acks=-2),
            send_to("to-a-follower", 2, acks=7),
            checkpoint("nothing was written"),
            send_to("m1", 1, acks=-1),
            consume(),
            checkpoint("the next record follows the first"),
        ),
    ),
)

SCENARIOS = (INVALID_ACKS, INVALID)
