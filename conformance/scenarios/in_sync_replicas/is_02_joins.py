"""When does a replica that has caught up join the ISR again?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS, Where
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_isr_request,
    hold_request,
    hold_response,
    kill,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.frames import Hold
from oracle.vocabulary import BrokerId, Expectation, MetadataMode, PointName

AT_HIGH_WATERMARK = Scenario(
    name="IS-02",
    explanation=(
        "Broker 2 returns two records behind. Its fetches below the leader's high watermark bring it nothing but "
        "records; the one at the high watermark makes it a member. That one is held: broker 2 has everything, and its "
        "leader does not know."
    ),
    schedule=Schedule(
        id="in-sync-replicas/joins-with-the-fetch-at-the-high-watermark",
        requirement=(
            "A replica joins the ISR with the fetch whose offset reaches the leader's high watermark, no earlier, "
            "although its own log may have reached it before."
        ),
        sources=("IS-02", "HW-04", "002", "003", "004"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            kill(2),
            await_isr(1),
            produce("m1", "m2"),
            hold_request("at the end", follower=2, leader=1, fetch_offset=3),
            start(2),
            await_hold("at the end"),
            checkpoint("broker 2 has everything and is not in sync"),
            release("at the end"),
            await_isr(1, 2),
            checkpoint("broker 2 is in sync"),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

FROM_EPOCH_START = Scenario(
    name="IS-02/epoch-start",
    explanation=(
        "Broker 2 leads since a moment, its high watermark still below the start of its epoch because broker 3 is "
        "silent. Broker 4 returns and fetches at that high watermark: up to 2.0.0 it is in sync, although it lacks m1, "
        "which was acknowledged; from 2.0.1 on it is not before it has m1 too."
    ),
    schedule=Schedule(
        id="in-sync-replicas/joins-from-the-start-of-the-epoch",
        requirement=(
            "From 2.0.1 on a replica joins the ISR only when its fetch has also reached the start offset of the "
            "leader's epoch: the high watermark of a leader newly elected may be older."
        ),
        sources=("IS-02", "LE-01", "HW-14", "004", "KAFKA-7128"),
        replicas=brokers(1, 2, 3, 4),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            kill(4),
            await_isr(1, 2, 3),
            hold_response("gap of 2", follower=2, leader=1, fetch_offset=2),
            hold_response("gap of 3", follower=3, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("gap of 2"),
            await_hold("gap of 3"),
            hold_request("silence of 3", follower=3, leader=2),
            kill(1),
            await_leader(2),
            await_hold("silence of 3"),
            hold_response("m1 for 4", follower=4, leader=2, fetch_offset=1),
            start(4),
            await_hold("m1 for 4"),
            checkpoint("broker 4 has fetched at the high watermark, and has not got m1"),
            release("m1 for 4"),
            release("silence of 3"),
            await_isr(2, 3, 4),
            checkpoint("everybody has m1"),
            produce("m2"),
            start(1),
            await_isr(1, 2, 3, 4),
            checkpoint("end"),
        ),
    ),
)

JOIN = Examination(
    name="IS-02/puppets",
    id="one-broker/replica-joins-when-it-has-caught-up",
    requirement=(
        "A replica outside the in-sync replicas joins when its end offset has reached the high watermark, from 2.0.1 "
        "on also the start of the leader's epoch."
    ),
    sources=("IS-02", "002", "KAFKA-7128"),
    explanation=(
        "In epoch 6, which starts at 2 while the high watermark is 1, a fetch at 1 lets the replica in up to 2.0.0; "
        "later it takes a fetch at 2."
    ),
    where=WITH_PUPPETS,
    examined=by("one_broker:JOIN"),
)

_ALTERS_THROUGH_CONTROLLER = Where(since="2.7.0", why="before, the leader changes the ISR itself (KIP-497)")

JOIN_REQUESTED = Scenario(
    name="IS-02/requested",
    explanation=(
        "The leader's request to add broker 3 is held: it waits for broker 3 before it commits m1, and the controller "
        "has not heard of it."
    ),
    where=_ALTERS_THROUGH_CONTROLLER,
    schedule=Schedule(
        id="in-sync-replicas/join-counts-before-the-controller-has-heard-of-it",
        requirement="A replica that the leader asks to add counts for the high watermark at once, for nothing else.",
        sources=("IS-02", "HW-08", "KIP-497"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            kill(3),
            await_isr(1, 2),
            hold_isr_request("wish", 1),
            start(3),
            await_hold("wish"),
            await_isr(1, 2),
            hold_request("gap", follower=3, leader=1, fetch_offset=1),
            await_hold("gap"),
            produce("m1", expect=Expectation.PENDING),
            checkpoint("the leader waits for broker 3, the controller does not"),
            release("wish"),
            await_isr(1, 2, 3),
            release("gap"),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            checkpoint("end"),
        ),
    ),
)

JOIN_ANSWERED = Scenario(
    name="IS-02/answered",
    explanation=(
        "The controller has added broker 3, and the answer that says so is held: for min.insync.replicas=3 the leader "
        "counts two, and refuses m0."
    ),
    where=Where(
        since="2.7.0",
        why_since="before, the leader changes the ISR itself (KIP-497)",
        metadata=MetadataMode.ZOOKEEPER,
        why="a leader of KRaft reads of the join in the metadata log, whatever it is answered",
    ),
    schedule=Schedule(
        id="in-sync-replicas/join-whose-answer-is-held-is-not-obeyed",
        requirement="A join counts for min.insync.replicas once the leader knows that the controller decided it.",
        sources=("IS-02", "AC-04", "KIP-497"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=3, unclean_leader_election=False),
        steps=(
            kill(3),
            await_isr(1, 2),
            Hold("answer", PointName.ALTER_PARTITION_RESPONSE, broker=BrokerId(1)),
            start(3),
            await_hold("answer"),
            await_isr(1, 2, 3),
            produce("m0", expect=Expectation.REFUSED, error="NOT_ENOUGH_REPLICAS"),
            release("answer"),
            produce("m1"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (AT_HIGH_WATERMARK, FROM_EPOCH_START, JOIN, JOIN_REQUESTED, JOIN_ANSWERED)
