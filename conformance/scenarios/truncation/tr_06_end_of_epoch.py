"""Who tells a follower where its last epoch ends, and where does it cut?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS, Where
from conformance.questions.epoch_requests import end_told, expected_way, first_fetch_with_records, way_told
from conformance.record.timeline import Event
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    kill,
    log_end_offset,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Acks, Expectation

HAS_CUT, HAS_HEARD = "broker 1 has cut and has not fetched again", "broker 2 has not fetched yet"

SINCE_EPOCHS = Where(since="0.11.0.0", why="before KIP-101 nobody asks or tells where an epoch ends")

LEADER_ENDS_FIRST = Scenario(
    name="TR-06/leader-ends-first",
    where=SINCE_EPOCHS,
    explanation=(
        "Broker 1 returns with m0 m1 m2 of the first epoch; on broker 2 that epoch ends at 1, where x1 follows. From "
        "0.11 to 2.7 broker 1 asks by OffsetsForLeaderEpoch; from 2.8 its first fetch is answered with a diverging "
        "epoch. Either way it hears 1, cuts there, and fetches from 1."
    ),
    questions=(
        ScheduleQuestion(
            "what told broker 1 where its last epoch ends",
            lambda rules, _: expected_way(rules, diverges=True),
            way_told(1, 2, since=(Event.BROKER_KILLED, "1")),
        ),
        ScheduleQuestion(
            "the end offset that it was told",
            lambda _, prediction: log_end_offset(prediction, HAS_CUT, 1),
            end_told(1, 2, since=(Event.BROKER_KILLED, "1")),
        ),
        ScheduleQuestion(
            "the fetch offset of its first fetch that brought records",
            lambda _, prediction: log_end_offset(prediction, HAS_CUT, 1),
            first_fetch_with_records(1, 2, since=(Event.BROKER_KILLED, "1")),
        ),
    ),
    schedule=Schedule(
        id="truncation/cut-at-the-leaders-end-of-the-epoch",
        requirement=(
            "A follower whose last epoch ends earlier on its leader cuts its log to that end, told by "
            "OffsetsForLeaderEpoch up to 2.7 and by the fetch answer's diverging epoch from 2.8."
        ),
        sources=("TR-06", "LE-03", "LE-04", "000", "001", "KIP-101", "KIP-595"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_request("fetch of m1", follower=2, leader=1, fetch_offset=1),
            await_hold("fetch of m1"),
            produce("m1", "m2", expect=Expectation.PENDING),
            checkpoint("only broker 1 has m1 and m2"),
            kill(1),
            await_outcome("m1", "m2", expect=Expectation.INDETERMINATE),
            await_leader(2),
            produce("x1"),
            hold_request("fetch after the cut", follower=1, leader=2, fetch_offset=1),
            start(1),
            await_hold("fetch after the cut"),
            checkpoint(HAS_CUT),
            release("fetch after the cut"),
            await_isr(1, 2),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

FOLLOWER_ENDS_FIRST = Scenario(
    name="TR-06/follower-ends-first",
    where=SINCE_EPOCHS,
    explanation=(
        "Broker 2 returns with m0 alone, of an epoch that goes on to 3 at the leader. From 0.11 to 2.7 it asks and "
        "hears 3, beyond its own end; from 2.8 there is nothing to tell. It cuts nothing and fetches from 1."
    ),
    questions=(
        ScheduleQuestion(
            "what told broker 2 where its last epoch ends",
            lambda rules, _: expected_way(rules, diverges=False),
            way_told(2, 1, since=(Event.BROKER_KILLED, "2")),
        ),
        ScheduleQuestion(
            "the end offset that it was told",
            lambda rules, _: 3 if rules.truncation.asks_leader else None,
            end_told(2, 1, since=(Event.BROKER_KILLED, "2")),
        ),
        ScheduleQuestion(
            "the fetch offset of its first fetch that brought records",
            lambda _, prediction: log_end_offset(prediction, HAS_HEARD, 2),
            first_fetch_with_records(2, 1, since=(Event.BROKER_KILLED, "2")),
        ),
    ),
    schedule=Schedule(
        id="truncation/no-cut-where-the-follower-ends-first",
        requirement="A follower whose log ends before its last epoch does on the leader cuts nothing.",
        sources=("TR-06", "LE-03", "LE-04", "001", "KIP-101", "KIP-595"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_request("fetch of m1", follower=2, leader=1, fetch_offset=1),
            await_hold("fetch of m1"),
            produce("m1", "m2", acks=Acks.LEADER),
            kill(2),
            await_isr(1),
            hold_request("first fetch", follower=2, leader=1),
            start(2),
            await_hold("first fetch"),
            checkpoint(HAS_HEARD),
            release("first fetch"),
            await_isr(1, 2),
            checkpoint("end"),
        ),
    ),
)

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
    examined=by("one_broker:CUTS"),
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
    examined=by("one_broker:SAME_LEADER"),
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
    examined=by("one_broker:DIVERGING"),
)

SCENARIOS = (LEADER_ENDS_FIRST, FOLLOWER_ENDS_FIRST, CUTS, SAME_LEADER, DIVERGING)
