"""When does a follower's log end offset move, and when does the leader's copy of it?"""

from __future__ import annotations

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.fetch_rounds import (
    last_offset_reported,
    offset_caught,
)
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    log_end_offset,
    produce,
    release,
    remote_log_end_offset,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

BOTH_HAVE_IT = "both followers have m1, the leader knows of one"

TWO_COPIES = Scenario(
    name="HW-04",
    explanation=(
        "Broker 2 has appended m1 and says so only by its next fetch, which stands in the gate whatever its offset; "
        "broker 3's passed. So the leader's copies are 1 and 2 while both logs end at 2, and its high watermark stays "
        "at the lower copy."
    ),
    questions=(
        ScheduleQuestion(
            "the last fetch offset of broker 2 that has reached the leader while both followers have m1",
            lambda _, prediction: remote_log_end_offset(prediction, BOTH_HAVE_IT, 2),
            last_offset_reported(BOTH_HAVE_IT, follower=2, leader=1),
        ),
        ScheduleQuestion(
            "the fetch offset in the request that stands in the gate",
            lambda _, prediction: log_end_offset(prediction, BOTH_HAVE_IT, 2),
            offset_caught("report"),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/a-followers-end-offset-exists-twice",
        requirement=(
            "A follower's log end offset moves when it appends; the leader's copy of it moves only when the follower's "
            "next fetch arrives, and the high watermark follows the copy."
        ),
        sources=("HW-04", "HW-01", "HW-10", "001", "002"),
        replicas=brokers(1, 2, 3),
        steps=(
            produce("m0"),
            hold_request("question", follower=2, leader=1, fetch_offset=1),
            await_hold("question"),
            produce("m1", expect=Expectation.PENDING),
            hold_request("report", follower=2, leader=1),
            release("question"),
            await_hold("report"),
            checkpoint(BOTH_HAVE_IT),
            release("report"),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            checkpoint("the leader knows of both"),
        ),
    ),
)

SCENARIOS = (TWO_COPIES,)
