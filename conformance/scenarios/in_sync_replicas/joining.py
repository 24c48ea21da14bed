"""When does a replica that has caught up join the ISR again, and who stays in it when everybody is gone?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule, Settings
from oracle.vocabulary import Acks, Expectation

AT_HIGH_WATERMARK = Scenario(
    name="IS-02",
    explanation=(
        "Broker 2 returns two records behind. Its fetches below the leader's high watermark bring it nothing but "
        "records; the one at the high watermark makes it a member. That one is held: broker 2 has everything, and "
        "its "
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
        settings=Settings(min_insync_replicas=1, unclean_leader_election=False),
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
        "silent. Broker 4 returns and fetches at that high watermark: up to 2.0.0 it is in sync, although it lacks "
        "m1, "
        "which was acknowledged; from 2.0.1 on it is not before it has m1 too."
    ),
    schedule=Schedule(
        id="in-sync-replicas/joins-from-the-start-of-the-epoch",
        requirement=(
            "From 2.0.1 on a replica joins the ISR only when its fetch has also reached the start offset of the "
            "leader's "
            "epoch: the high watermark of a leader newly elected may be older."
        ),
        sources=("IS-02", "LE-01", "HW-14", "004", "KAFKA-7128"),
        replicas=brokers(1, 2, 3, 4),
        settings=Settings(min_insync_replicas=1, unclean_leader_election=False),
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

LAST_MEMBER = Scenario(
    name="IS-07",
    explanation=(
        "Broker 2 goes, then broker 1, the last in sync. Without eligible leader replicas the ISR goes on naming "
        "broker "
        "1, with no leader; with them (4.1 on) the ISR is empty and broker 1 is eligible. Either way broker 2, "
        "which is "
        "back first, may not lead."
    ),
    schedule=Schedule(
        id="in-sync-replicas/last-member-stays",
        requirement=(
            "The last in-sync replica stays in the ISR when its broker dies, and the partition has no leader until "
            "it is "
            "back; with eligible leader replicas it leaves the ISR and is eligible instead."
        ),
        sources=("IS-07", "EL-01", "002", "003", "KIP-966"),
        replicas=brokers(1, 2),
        settings=Settings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            kill(2),
            await_isr(1),
            produce("m1"),
            checkpoint("broker 1 is the last in sync"),
            kill(1),
            await_leader(None),
            checkpoint("nobody is alive"),
            start(2),
            await_leader(None),
            produce("m2", acks=Acks.LEADER, expect=Expectation.REFUSED, error="LEADER_NOT_AVAILABLE", timeout_ms=3000),
            checkpoint("broker 2 is back and may not lead"),
            start(1),
            await_leader(1),
            await_isr(1, 2),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (AT_HIGH_WATERMARK, FROM_EPOCH_START, LAST_MEMBER)
