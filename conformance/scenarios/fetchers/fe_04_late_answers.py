"""What does a follower do with an answer that comes when it has gone on, by epoch or by offset?

Where the offset is still the follower's, only the epoch tells that the answer is late. A follower that asks where its
epoch ends before it fetches (0.11 to 2.7) throws it away for that reason, if the new epoch makes it ask at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.examination import Basis, Examination, by
from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.one_row import offset_of_held_fetch
from conformance.scenarios.vocabulary import (
    await_hold,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    produce,
    release,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.topic import Reassign
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from conformance.record.prediction import FrozenPrediction
    from oracle.rules.rule_set import RuleSet

NEXT = "next fetch"


def _predicted(rules: RuleSet, prediction: FrozenPrediction) -> int:  # noqa: ARG001 - the prediction follows from them
    return prediction.checkpoints[0].replicas[2].log_end_offset


LATE_ANSWER = Scenario(
    name="FE-04/epoch",
    explanation=(
        "The answer with m1 is under way to broker 2 when broker 3's replica is taken away: broker 1 leads on in a new "
        "epoch. From 3.9.1 and 4.0.1 broker 2 throws the answer away and fetches at 1 again; from 2.8 until then, and "
        "up to 2.0, it appends m1 and goes on at 2. Whether broker 3 fetches once more before "
        "it ends decides nothing; a gate cannot stop it, as its fetcher ends with its connection."
    ),
    schedule=Schedule(
        id="fetchers/answer-of-another-epoch",
        requirement="The answer to a fetch of an earlier epoch is thrown away where the release compares epochs.",
        sources=("FE-04", "LE-05", "004", "KAFKA-18991"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            hold_request("before m1", follower=2, leader=1, fetch_offset=1),
            await_hold("before m1"),
            produce("m1", acks=Acks.LEADER),
            hold_response("m1 for 2", follower=2, leader=1, fetch_offset=1),
            release("before m1"),
            await_hold("m1 for 2"),
            Reassign(brokers(1, 2)),
            hold_request(NEXT, follower=2, leader=1),
            release("m1 for 2"),
            await_hold(NEXT),
            checkpoint("the answer of the old epoch has come"),
            release(NEXT),
            checkpoint("end"),
        ),
    ),
    questions=(
        ScheduleQuestion(
            "offset of the first fetch after the late answer", _predicted, lambda run: offset_of_held_fetch(run, NEXT)
        ),
    ),
)

OVERTAKEN = Examination(
    name="FE-04/offset",
    id="fetchers/overtaken-answer-is-discarded",
    requirement=(
        "An answer for an offset that the follower does not fetch at any more is thrown away: nothing is appended "
        "twice, no partition fails, and the fetcher goes on where the log ends."
    ),
    sources=("FE-04", "004"),
    explanation=(
        "Broker 2's fetcher to broker 1 waits for an answer with record 1 while broker 3 leads, gives broker 2 "
        "that record, and hands the leadership back. The answer comes on the connection that goes on to be used."
    ),
    basis=Basis.DOCUMENTED,
    examined=by("stale_answers:OVERTAKEN_ANSWER"),
)

SCENARIOS = (LATE_ANSWER, OVERTAKEN)
