"""Which defects let a follower cut too much, too little, or never end? KIP-101, KIP-279 and what came after."""

from __future__ import annotations

from conformance.catalogue.where import Where
from conformance.scenarios.regressions.defect import regression
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    checkpoint,
    elect_preferred,
    hold_lookup_answer,
    hold_request,
    hold_response,
    kill,
    pause,
    produce,
    release,
    resume,
    send_unacknowledged,
    start,
)
from oracle.vocabulary import Acks, Expectation

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
    requirement="A follower cuts what its leader never had, even if the leader has no record of its own epoch yet.",
    explanation=(
        "Broker 2 leads and has written nothing when broker 1, which has m1, asks where its last epoch ends. Up to "
        "2.0.0 broker 2 has no entry for its own epoch and says that it does not know; broker 1 keeps m1 where its "
        "leader has m2, joins the ISR, is elected cleanly, and m2 is lost."
    ),
    sources=("LE-01", "LE-03", "TR-06"),
    unclean=True,
    where=Where(since="0.11.0.0", before="2.8.0", why="followers ask OffsetsForLeaderEpoch before they fetch"),
    steps=(
        produce("m0"),
        kill(2),
        send_unacknowledged("m1"),
        kill(1),
        start(2),
        await_leader(2),
        hold_lookup_answer("end of epoch", follower=1, leader=2),
        start(1),
        await_hold("end of epoch"),
        produce("m2"),
        release("end of epoch"),
        await_isr(1, 2),
        checkpoint("broker 1 is back"),
        kill(2),
        await_leader(1),
        start(2),
        await_isr(1, 2),
        checkpoint("end"),
    ),
)

WITHOUT_EPOCHS = regression(
    "KAFKA-6857",
    requirement="A former leader whose records have no epochs cuts what its new leader never had.",
    explanation=(
        "In message format 0.10.2 no record has an epoch, so broker 1, back with m1, asks where epoch -1 ends. Up to "
        "1.0.1, and in 1.1.0, its leader answers with its log end; broker 1 cuts nothing and keeps m1 where its leader "
        "has x1. Later ones do not know, and broker 1 cuts to its high watermark."
    ),
    sources=("LE-03", "TR-07"),
    message_format="0.10.2",
    where=Where(since="0.11.0.0", why="before, nobody asks where epochs end"),
    steps=(
        produce("m0"),
        hold_request("m1 for 2", follower=2, leader=1, fetch_offset=1),
        await_hold("m1 for 2"),
        produce("m1", expect=Expectation.PENDING),
        kill(1),
        await_outcome("m1", expect=Expectation.INDETERMINATE),
        await_leader(2),
        produce("x1"),
        start(1),
        await_isr(1, 2),
        produce("m2"),
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

SCENARIOS = (CUTS_TO_HIGH_WATERMARK, FAST_FAILOVERS, WITHOUT_EPOCHS, LEADER_WITHOUT_ENTRY, SAME_LEADER)
