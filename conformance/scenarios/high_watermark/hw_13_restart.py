"""What does a replica know of its high watermark after a restart? What its checkpoint file says, at most its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS
from conformance.questions.fetch_rounds import offset_caught, requests_between
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    hold_request,
    kill,
    log_end_offset,
    lose_checkpoint,
    lose_tail,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import HighWatermarkCheckpoint

if TYPE_CHECKING:
    from oracle.steps.step import Step

REQUIREMENT = (
    "After a restart a replica's high watermark is the lower of its checkpoint (0 without one) and its log end offset, "
    "and rises again only by fetching."
)

SOURCES = ("HW-13", "TR-04", "000", "001", "KIP-101")

DOWN, RESTARTED = "broker 2 is down", "broker 2 runs and has not fetched"

QUESTIONS = (
    ScheduleQuestion(
        "fetch offsets of broker 2 that reached the leader before it was measured",
        lambda _rules, _prediction: [],
        requests_between(DOWN, RESTARTED, follower=2, leader=1),
    ),
    ScheduleQuestion(
        "the fetch offset of broker 2's first fetch",
        lambda _, prediction: log_end_offset(prediction, RESTARTED, 2),
        offset_caught("fetch"),
    ),
)


def _restarted(*while_down: Step) -> tuple[Step, ...]:
    """Kill a follower that has m0 to m2, do something to its disk, and look at it before and after it fetches."""
    return (
        produce("m0", "m1", "m2"),
        checkpoint("before the kill"),
        kill(2),
        await_isr(1),
        *while_down,
        checkpoint(DOWN),
        hold_request("fetch", follower=2, leader=1),
        start(2),
        await_hold("fetch"),
        checkpoint(RESTARTED),
        release("fetch"),
        await_isr(1, 2),
        checkpoint("broker 2 has fetched"),
    )


WRITTEN = Scenario(
    name="HW-13/after-a-checkpoint",
    explanation="The checkpoint file says 3 when broker 2 is killed, and so does broker 2 when it runs again.",
    questions=QUESTIONS,
    schedule=Schedule(
        id="high-watermark/restart-after-a-checkpoint",
        requirement=REQUIREMENT,
        sources=SOURCES,
        replicas=brokers(1, 2),
        steps=_restarted(),
    ),
)

UNWRITTEN = Scenario(
    name="HW-13/before-a-checkpoint",
    explanation=(
        "No checkpoint is ever written. Broker 2 knew a high watermark of 3 and starts with 0; 0.10.2 cuts its whole "
        "log to it, others keep all three records and learn 3 again by fetching."
    ),
    questions=QUESTIONS,
    schedule=Schedule(
        id="high-watermark/restart-before-a-checkpoint",
        requirement=REQUIREMENT,
        sources=SOURCES,
        replicas=brokers(1, 2),
        checkpointing=HighWatermarkCheckpoint.NEVER,
        steps=_restarted(),
    ),
)

LOST = Scenario(
    name="HW-13/lost-checkpoint",
    explanation="The file said 3 and is gone: as if it had never been written.",
    questions=QUESTIONS,
    schedule=Schedule(
        id="high-watermark/restart-without-the-checkpoint-file",
        requirement=REQUIREMENT,
        sources=SOURCES,
        replicas=brokers(1, 2),
        steps=_restarted(lose_checkpoint(2)),
    ),
)

SHORTER_LOG = Scenario(
    name="HW-13/shorter-log",
    explanation="The file says 3, but the log lost m2 and ends at 2: the high watermark is 2, never beyond the end.",
    questions=QUESTIONS,
    schedule=Schedule(
        id="high-watermark/restart-with-a-checkpoint-beyond-the-log",
        requirement=REQUIREMENT,
        sources=SOURCES,
        replicas=brokers(1, 2),
        steps=_restarted(lose_tail(2, 2)),
    ),
)

RESTARTED_WITH_PUPPETS = Examination(
    name="HW-13/puppets",
    id="one-broker/restarted-follower-begins-at-its-checkpoint",
    requirement=(
        "A restarted broker begins with the high watermark on its disk; up to 0.10.2 it cuts its log to it as a "
        "follower, later it keeps what its leader has."
    ),
    sources=("HW-13", "TR-04", "KAFKA-1211"),
    explanation="It has three records and knows of one that it is committed; the second start makes it the leader.",
    where=WITH_PUPPETS,
    examined=by("one_broker:RESTARTED"),
)

ELECTED = Scenario(
    name="HW-13/elected-without-checkpoint",
    explanation=(
        "Broker 2 was out of sync, has lost its checkpoint file, and is elected before it has fetched. 0.10.2 has cut "
        "its whole log to 0, and both acknowledged records are gone."
    ),
    schedule=Schedule(
        id="high-watermark/elected-without-the-checkpoint-file",
        requirement="A follower without a high watermark checkpoint keeps every record its leader had committed.",
        sources=SOURCES,
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=True),
        steps=(
            produce("m0", "m1"),
            kill(2),
            await_isr(1),
            lose_checkpoint(2),
            checkpoint("broker 2 has lost its checkpoint"),
            hold_request("refetch", follower=2, leader=1),
            start(2),
            await_hold("refetch"),
            checkpoint("broker 2 is back and has not fetched"),
            kill(1),
            await_leader(2),
            produce("m2"),
            start(1),
            await_isr(1, 2),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (WRITTEN, UNWRITTEN, LOST, SHORTER_LOG, RESTARTED_WITH_PUPPETS, ELECTED)
