"""In how many fetch rounds does a follower learn that a record is committed?"""

from __future__ import annotations

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.fetch_rounds import (
    high_watermark_with,
    rounds_to_learn,
)
from conformance.scenarios.vocabulary import (
    await_hold,
    brokers,
    checkpoint,
    high_watermark,
    hold_response,
    produce,
    release,
)
from oracle.schedule import Schedule

COMMITTED_UNKNOWN = "m1 is committed, the follower has it and does not know"

TWO_ROUNDS = Scenario(
    name="HW-06",
    explanation=(
        "The answer that brings m1 carries the high watermark of before m1 was replicated. The follower's next fetch "
        "commits m1 at the leader, and only the answer to that one tells the follower."
    ),
    questions=(
        ScheduleQuestion(
            "the high watermark in the answer that brings m1",
            lambda _, prediction: high_watermark(prediction, COMMITTED_UNKNOWN, 2),
            high_watermark_with(1, follower=2, leader=1),
        ),
        ScheduleQuestion(
            "fetch rounds from the one that brings m1 to the one that tells it is committed",
            lambda _, prediction: 1 if high_watermark(prediction, COMMITTED_UNKNOWN, 2) == 2 else 2,
            rounds_to_learn(1, follower=2, leader=1),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/a-follower-learns-of-a-commit-in-two-rounds",
        requirement=(
            "A follower's high watermark is the lower of its log end offset and the leader's high watermark in the "
            "answer it has just appended, so it takes two fetch rounds to learn that a record is committed."
        ),
        sources=("HW-06", "HW-01", "001", "002", "004"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_response("news", follower=2, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("news"),
            checkpoint(COMMITTED_UNKNOWN),
            release("news"),
            checkpoint("the follower knows"),
        ),
    ),
)

SCENARIOS = (TWO_ROUNDS,)
