"""Where does a follower cut its log, and who tells it? Its own high watermark, or the end of its last epoch."""

from __future__ import annotations

from conformance.catalogue.questions import Question
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import Where
from conformance.record.timeline import Event
from conformance.scenarios.high_watermark.measures import offset_caught
from conformance.scenarios.truncation.measures import end_told, expected_way, first_fetch_with_records, way_told
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    log_end_offset,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule, Settings
from oracle.vocabulary import Acks, Expectation

FOLLOWS = "broker 3 follows broker 2 and has not fetched"
HAS_CUT, HAS_HEARD = "broker 1 has cut and has not fetched again", "broker 2 has not fetched yet"
SINCE_EPOCHS = Where(since="0.11.0.0", why="before KIP-101 nobody asks or tells where an epoch ends")

TO_HIGH_WATERMARK = Scenario(
    name="TR-04",
    explanation=(
        "Broker 3 runs all the time: that it becomes follower of broker 2 is enough. Its log has m1, its high "
        "watermark is 1. Up to 0.10.2 it cuts m1 before it fetches, and its segment ends at 1 when it is killed; later "
        "releases cut nothing."
    ),
    questions=(
        Question(
            "the fetch offset of broker 3's first fetch from broker 2",
            lambda _, prediction: log_end_offset(prediction, FOLLOWS, 3),
            offset_caught("first fetch"),
        ),
    ),
    schedule=Schedule(
        id="truncation/becoming-follower-cuts-to-the-high-watermark",
        requirement=(
            "Up to 0.10.2 a replica that becomes follower cuts its log to its own high watermark; from 0.11 it keeps "
            "what its leader has."
        ),
        sources=("TR-04", "TR-09", "000", "001", "KIP-101", "KAFKA-1211"),
        replicas=brokers(1, 2, 3),
        steps=(
            produce("m0"),
            hold_response("news for 2", follower=2, leader=1, fetch_offset=2),
            hold_response("news for 3", follower=3, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("news for 2"),
            await_hold("news for 3"),
            checkpoint("both followers have m1 and a high watermark of 1"),
            hold_request("first fetch", follower=3, leader=2),
            kill(1),
            await_leader(2),
            await_hold("first fetch"),
            checkpoint(FOLLOWS),
            kill(3),
            await_isr(2),
            checkpoint("the segment of broker 3 on disk"),
            start(3),
            start(1),
            await_isr(1, 2, 3),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
)


LEADER_ENDS_FIRST = Scenario(
    name="TR-06/leader-ends-first",
    where=SINCE_EPOCHS,
    explanation=(
        "Broker 1 returns with m0 m1 m2 of the first epoch; on broker 2 that epoch ends at 1, where x1 follows. From "
        "0.11 to 2.7 broker 1 asks by OffsetsForLeaderEpoch; from 2.8 its first fetch is answered with a diverging "
        "epoch. Either way it hears 1, cuts there, and fetches from 1."
    ),
    questions=(
        Question(
            "what told broker 1 where its last epoch ends",
            lambda rules, _: expected_way(rules, diverges=True),
            way_told(1, 2, since=(Event.BROKER_KILLED, "1")),
        ),
        Question(
            "the end offset that it was told",
            lambda _, prediction: log_end_offset(prediction, HAS_CUT, 1),
            end_told(1, 2, since=(Event.BROKER_KILLED, "1")),
        ),
        Question(
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
        Question(
            "what told broker 2 where its last epoch ends",
            lambda rules, _: expected_way(rules, diverges=False),
            way_told(2, 1, since=(Event.BROKER_KILLED, "2")),
        ),
        Question(
            "the end offset that it was told",
            lambda rules, _: 3 if rules.truncation.asks_leader else None,
            end_told(2, 1, since=(Event.BROKER_KILLED, "2")),
        ),
        Question(
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

SUFFIX_OF_THE_DEPOSED = Scenario(
    name="TR-08",
    explanation=(
        "m1 and m2 were acknowledged with acks=all by broker 1 alone. Broker 2 is elected uncleanly and writes x1; "
        "broker 1 returns and cuts exactly m1 and m2 where it has epochs. 0.10.2 cuts to the leader's end only, so m1 "
        "stays where broker 2 has x1: lost all the same, and the logs differ."
    ),
    questions=(
        Question(
            "the end offset of its last epoch that broker 1 was told",
            lambda rules, _: None if rules.truncation.cuts_to_high_watermark else 1,
            end_told(1, 2, since=(Event.BROKER_KILLED, "1")),
        ),
    ),
    schedule=Schedule(
        id="truncation/unclean-election-is-unsafe-with-epochs",
        requirement=(
            "With min.insync.replicas=1 and unclean election on, epochs or not, the records that a deposed leader "
            "acknowledged alone are lost, and no others."
        ),
        sources=("TR-08", "EL-02", "TR-06", "001", "KIP-101"),
        replicas=brokers(1, 2),
        settings=Settings(min_insync_replicas=1, unclean_leader_election=True),
        steps=(
            produce("m0"),
            kill(2),
            await_isr(1),
            produce("m1", "m2"),
            checkpoint("broker 1 alone has acknowledged m1 and m2"),
            kill(1),
            await_leader(None),
            start(2),
            await_leader(2),
            produce("x1"),
            checkpoint("broker 2 leads with x1 where m1 was"),
            start(1),
            await_isr(1, 2),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (TO_HIGH_WATERMARK, LEADER_ENDS_FIRST, FOLLOWER_ENDS_FIRST, SUFFIX_OF_THE_DEPOSED)
