"""What if the records carry no epochs? A follower truncates to its high watermark, on whatever release."""

from __future__ import annotations

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.epoch_requests import epoch_asked
from conformance.questions.fetch_rounds import offset_caught
from conformance.record.timeline import Event
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    log_end_offset,
    produce,
    start,
)
from oracle.schedule import Schedule, TopicSettings

RESTARTED = "broker 2 has restarted and has not fetched"

WITHOUT_EPOCHS = Scenario(
    name="TR-07",
    explanation=(
        "The schedule of TR-01 on a topic of message format 0.10.2, whose batches have no room for an epoch. Broker 2 "
        "cuts the committed m1 when it restarts and is elected without it, on releases that would keep it otherwise. "
        "0.11.0.2, 1.0.1 and 1.1.0 keep it by a defect: a leader asked about no epoch tells its log's end (KAFKA-6857)."
    ),
    questions=(
        ScheduleQuestion(
            "the epoch that broker 2 asked about when it was back (-1: it knows none; none: it did not ask)",
            lambda rules, _: -1 if rules.truncation.asks_leader and rules.truncation.asks_without_epochs else None,
            epoch_asked(2, 1, since=(Event.BROKER_KILLED, "2")),
        ),
        ScheduleQuestion(
            "the fetch offset of its first fetch",
            lambda _, prediction: log_end_offset(prediction, RESTARTED, 2),
            offset_caught("first fetch"),
        ),
    ),
    schedule=Schedule(
        id="truncation/records-without-epochs-are-cut-to-the-high-watermark",
        requirement=(
            "A partition whose records carry no leader epoch (message format before 0.11) is truncated to the high "
            "watermark, on releases with epochs as well."
        ),
        sources=("TR-07", "TR-04", "001", "KIP-101", "KAFKA-6857", "KAFKA-7897"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=True, message_format_version="0.10.2"),
        steps=(
            produce("m0"),
            hold_response("news", follower=2, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("news"),
            checkpoint("broker 2 has m1 and a high watermark of 1"),
            kill(2),
            await_isr(1),
            hold_request("first fetch", follower=2, leader=1),
            start(2),
            await_hold("first fetch"),
            checkpoint(RESTARTED),
            kill(1),
            await_leader(2),
            produce("m2"),
            start(1),
            await_isr(1, 2),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (WITHOUT_EPOCHS,)
