"""Which log end offsets and high watermarks are there at one moment? The leader's, each follower's, and copies."""

from __future__ import annotations

from conformance.catalogue.questions import Question
from conformance.catalogue.scenario import Scenario
from conformance.scenarios.high_watermark.measures import (
    high_watermark_with,
    last_offset_reported,
    offset_caught,
    records_delivered_before,
    rounds_to_learn,
)
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    high_watermark,
    hold_request,
    hold_response,
    log_end_offset,
    produce,
    release,
    remote_log_end_offset,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Acks, Expectation

BOTH_HAVE_IT = "both followers have m1, the leader knows of one"
LEADER_HAS_MORE = "the leader has three records more"
COMMITTED_UNKNOWN = "m1 is committed, the follower has it and does not know"

TWO_COPIES = Scenario(
    name="HW-04",
    explanation=(
        "Broker 2 has appended m1 and says so only by its next fetch, which stands in the gate whatever its offset; "
        "broker 3's passed. So the leader's copies are 1 and 2 while both logs end at 2, and its high watermark stays "
        "at the lower copy."
    ),
    questions=(
        Question(
            "the last fetch offset of broker 2 that has reached the leader while both followers have m1",
            lambda _, prediction: remote_log_end_offset(prediction, BOTH_HAVE_IT, 2),
            last_offset_reported(BOTH_HAVE_IT, follower=2, leader=1),
        ),
        Question(
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

LEADER_FIRST = Scenario(
    name="HW-05",
    explanation=(
        "Both followers' fetches stand in the gate. The leader's log grows by three records all the same; acks=1 is "
        "answered at once, acks=all waits, and nothing but the leader's log end offset moves."
    ),
    questions=(
        Question(
            "answers with m1, m2 or m3 that any follower has got when the leader's log ends at 4",
            lambda _, prediction: sum(log_end_offset(prediction, LEADER_HAS_MORE, broker) > 1 for broker in (2, 3)),
            records_delivered_before(LEADER_HAS_MORE, leader=1, followers=(2, 3), first=1),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/the-leader-appends-before-any-follower",
        requirement="The leader's log end offset moves when it appends, before any follower has the record.",
        sources=("HW-05", "HW-01", "AC-02", "001", "002"),
        replicas=brokers(1, 2, 3),
        steps=(
            produce("m0"),
            hold_request("fetch of 2", follower=2, leader=1, fetch_offset=1),
            hold_request("fetch of 3", follower=3, leader=1, fetch_offset=1),
            await_hold("fetch of 2"),
            await_hold("fetch of 3"),
            checkpoint("no fetch can arrive"),
            produce("m1", "m2", expect=Expectation.PENDING),
            produce("m3", acks=Acks.LEADER),
            checkpoint(LEADER_HAS_MORE),
            release("fetch of 2"),
            release("fetch of 3"),
            await_outcome("m1", "m2", expect=Expectation.ACKNOWLEDGED),
            checkpoint("end"),
        ),
    ),
)

TWO_ROUNDS = Scenario(
    name="HW-06",
    explanation=(
        "The answer that brings m1 carries the high watermark of before m1 was replicated. The follower's next fetch "
        "commits m1 at the leader, and only the answer to that one tells the follower."
    ),
    questions=(
        Question(
            "the high watermark in the answer that brings m1",
            lambda _, prediction: high_watermark(prediction, COMMITTED_UNKNOWN, 2),
            high_watermark_with(1, follower=2, leader=1),
        ),
        Question(
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

SCENARIOS = (TWO_COPIES, LEADER_FIRST, TWO_ROUNDS)
