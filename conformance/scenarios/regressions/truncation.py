"""Which defects let a follower cut too much, too little, or never end? KIP-101, KIP-279 and what came after."""

from __future__ import annotations

from conformance.scenarios.regressions.defect import regression
from conformance.scenarios.regressions.rarer_steps import (
    elect_preferred,
    pause,
    resume,
    send_unacknowledged,
)
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    produce,
    start,
)
from oracle.vocabulary import Acks

CUTS_TO_HIGH_WATERMARK = regression(
    "KAFKA-1211",
    requirement="An in-sync follower that gets a new leader keeps every committed record.",
    explanation=(
        "Broker 3 has m0 but does not know that it is committed. Up to 0.10.2 it cuts m0 when broker 2 becomes its "
        "leader, is elected cleanly, and an acknowledged record is gone. No unclean election anywhere."
    ),
    sources=("TR-02", "TR-04", "001", "KIP-101"),
    replicas=(1, 2, 3),
    steps=(
        hold_response("m0 is committed", follower=3, leader=1, fetch_offset=1),
        produce("m0"),
        await_hold("m0 is committed"),
        hold_request("fetch from 2", follower=3, leader=2),
        kill(1),
        await_hold("fetch from 2"),
        checkpoint("broker 3 follows broker 2"),
        kill(2),
        await_leader(3),
        produce("m1", acks=Acks.LEADER),
        start(1),
        start(2),
        await_isr(1, 2, 3),
        checkpoint("end"),
    ),
)

FAST_FAILOVERS = regression(
    "KAFKA-6361",
    requirement="After fast failovers a follower keeps no record that its leader never had.",
    explanation=(
        "Three leaderships, each of a replica that knows nothing of the one before. Broker 2 asks about an epoch that "
        "broker 1 never had; up to 1.1 the answer says where an older one ends, past broker 2's b1, which stays."
    ),
    sources=("TR-06", "LE-03", "KIP-279"),
    unclean=True,
    steps=(
        produce("m0"),
        kill(2),
        send_unacknowledged("a1", "a2"),
        kill(1),
        start(2),
        await_leader(2),
        send_unacknowledged("b1"),
        kill(2),
        start(1),
        await_leader(1),
        produce("a3"),
        start(2),
        await_isr(1, 2),
        produce("m4"),
        checkpoint("end"),
    ),
)

LEADER_WITHOUT_ENTRY = regression(
    "KAFKA-7415",
    requirement="A follower cuts what its leader never had, even if the leader has no record of the follower's epoch.",
    explanation=(
        "Broker 2's epochs begin above the one that broker 1 asks about. Up to 2.0.0 it says that it does not know; "
        "broker 1 keeps m0 where its leader has m1, joins the ISR, is elected cleanly, and m1 is lost."
    ),
    sources=("LE-01", "LE-03", "TR-06"),
    unclean=True,
    steps=(
        kill(2),
        send_unacknowledged("m0"),
        kill(1),
        start(2),
        await_leader(2),
        produce("m1"),
        start(1),
        await_isr(1, 2),
        checkpoint("broker 1 is back"),
        kill(2),
        await_leader(1),
        start(2),
        await_isr(1, 2),
        checkpoint("end"),
    ),
)

SAME_LEADER = regression(
    "KAFKA-7164",
    requirement="A follower that missed leaderships truncates again, although the leader it returns to is the same.",
    explanation=(
        "Broker 3 stands still while broker 1 is deposed, cuts m1, takes x1, and leads again. To broker 3 the leader "
        "is the one it knew: up to 2.0.0 it goes on behind m1, and the logs differ below the high watermark."
    ),
    sources=("TR-06", "LE-04"),
    replicas=(1, 2, 3),
    steps=(
        produce("m0"),
        hold_request("m1 for 2", follower=2, leader=1, fetch_offset=1),
        await_hold("m1 for 2"),
        send_unacknowledged("m1"),
        checkpoint("brokers 1 and 3 have m1"),
        pause(3),
        await_isr(1, 2),
        kill(1),
        await_leader(2),
        produce("x1"),
        start(1),
        await_isr(1, 2),
        elect_preferred(),
        await_leader(1),
        checkpoint("broker 1 leads again, with x1"),
        resume(3),
        await_isr(1, 2, 3),
        produce("m2"),
        checkpoint("end"),
    ),
)

SCENARIOS = (
    CUTS_TO_HIGH_WATERMARK,
    FAST_FAILOVERS,
    LEADER_WITHOUT_ENTRY,
    SAME_LEADER,
)
