"""Which defects let a replica into the ISR that has no place there, so that a clean election loses records?"""

from __future__ import annotations

from conformance.catalogue.where import Where
from conformance.scenarios.regressions.defect import regression
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    checkpoint,
    drop,
    elect_preferred,
    hold_isr_request,
    hold_request,
    hold_response,
    kill,
    lose_tail,
    produce,
    release,
    release_late,
    start,
)
from oracle.vocabulary import Acks, Expectation

JOINS_BELOW_EPOCH_START = regression(
    "KAFKA-7128",
    requirement="A replica joins the ISR only when it has all that its leader had when it took over.",
    explanation=(
        "Broker 1 leads with a high watermark of 1 in an epoch that starts at 2. Broker 3 comes back with m0 alone: at "
        "the high watermark, so up to 2.0.0 it joins, is elected cleanly two deaths later, and m1 is lost."
    ),
    sources=("IS-02", "EL-01"),
    replicas=(1, 2, 3),
    steps=(
        kill(1),
        await_leader(2),
        start(1),
        await_isr(1, 2, 3),
        produce("m0"),
        kill(3),
        hold_response("m1 is committed", follower=1, leader=2, fetch_offset=2),
        produce("m1"),
        await_hold("m1 is committed"),
        hold_request("silent", follower=2, leader=1),
        drop("m1 is committed"),
        elect_preferred(),
        await_hold("silent"),
        checkpoint("broker 1 leads with an old high watermark"),
        hold_response("m1 for 3", follower=3, leader=1, fetch_offset=1),
        start(3),
        await_hold("m1 for 3"),
        checkpoint("broker 3 is back with m0 alone"),
        hold_request("fetch from 2", follower=3, leader=2),
        kill(1),
        kill(2),
        checkpoint("brokers 1 and 2 are dead"),
        produce("m2", acks=Acks.LEADER, expect=Expectation.ANY, timeout_ms=3_000),
        start(2),
        start(1),
        await_isr(1, 2, 3),
        checkpoint("end"),
    ),
    where=Where(since="1.1.0", why="a fetcher whose answer is lost ends when it is told to (KAFKA-6051)"),
)

DIVERGING_FETCH = regression(
    "KAFKA-13141",
    requirement="A fetch that diverges says nothing about what its follower holds.",
    explanation=(
        "Broker 1 comes back with m0, which nobody else has. The leader answers that it diverges, and in 2.8.0 counts "
        "its offset all the same: broker 1 joins the ISR, is elected cleanly, and m1 is lost."
    ),
    sources=("TR-06", "IS-02", "HW-08"),
    steps=(
        hold_response("m0 for 2", follower=2, leader=1),
        await_hold("m0 for 2"),
        produce("m0", expect=Expectation.PENDING),
        kill(1),
        await_outcome("m0", expect=Expectation.INDETERMINATE),
        await_leader(2),
        produce("m1"),
        hold_response("first answer", follower=1, leader=2),
        start(1),
        await_hold("first answer"),
        kill(2),
        checkpoint("broker 2 is dead, and broker 1 never had an answer"),
        start(2),
        await_isr(1, 2),
        checkpoint("end"),
    ),
)

DEAD_REPLICA_JOINS = regression(
    "KAFKA-14140",
    requirement="A replica whose broker is gone does not enter the ISR.",
    explanation=(
        "The leader asks the controller to add broker 3, which dies before the controller hears that. Up to 3.2 the "
        "request is granted: the ISR has a member that is not there, and everything waits for it."
    ),
    sources=("IS-02", "KIP-841", "KAFKA-13916"),
    replicas=(1, 2, 3),
    steps=(
        kill(3),
        hold_isr_request("wish", leader=1),
        start(3),
        await_hold("wish"),
        kill(3),
        release("wish"),
        checkpoint("broker 3 is dead"),
        start(3),
        await_isr(1, 2, 3),
        produce("m0"),
        checkpoint("end"),
    ),
)

REBOOTED_REPLICA_JOINS = regression(
    "KAFKA-14617",
    requirement="What a replica fetched before it restarted does not let it into the ISR.",
    explanation=(
        "Broker 3 has fetched everything and the leader asks the controller to add it. Meanwhile it crashes, loses m0 "
        "with its page cache, and is back. Up to 3.4 the request is granted, broker 3 is elected cleanly, m0 is lost."
    ),
    sources=("IS-02", "EL-01", "KIP-903"),
    replicas=(1, 2, 3),
    steps=(
        produce("m0"),
        kill(3),
        hold_isr_request("wish", leader=1),
        start(3),
        await_hold("wish"),
        kill(3),
        lose_tail(3, offset=0),
        hold_request("first fetch", follower=3, leader=1),
        start(3),
        await_hold("first fetch"),
        release("wish"),
        checkpoint("broker 3 is back without m0 and has not fetched"),
        kill(2),
        kill(1),
        checkpoint("brokers 1 and 2 are dead"),
        start(2),
        start(1),
        await_isr(1, 2, 3),
        checkpoint("end"),
    ),
)

LATE_FETCH_COUNTS = regression(
    "KAFKA-15221",
    requirement="A fetch that a broker sent before it was started again is not counted when it arrives after that.",
    explanation=(
        "Broker 2's fetch, which says that it has m1 and m2, is under way when it crashes and loses both with its page "
        "cache. It is back, in sync at offset 1, when that fetch comes. In KRaft mode in 3.6 it counts: m1 and m2 are "
        "acknowledged without broker 2, which is then elected cleanly. Up to 2.4 it even lets broker 2 into the ISR: "
        "up to 2.0 no fetch names its leader epoch, then none of a fetch session does (KAFKA-9338). Elsewhere up to "
        "3.6 the leader epoch, which the ISR's change raised, tells that it is old (KIP-320)."
    ),
    sources=("HW-07", "IS-02", "KIP-903", "KIP-320"),
    replicas=(1, 2, 3),
    where=Where(since="0.11.0.0", why="without leader epochs brokers 1 and 3, ahead of their leader, end at its start"),
    steps=(
        produce("m0"),
        hold_request("old fetch", follower=2, leader=1, fetch_offset=3),
        hold_request("fetch of 3", follower=3, leader=1, fetch_offset=1),
        produce("m1", "m2", expect=Expectation.PENDING),
        await_hold("old fetch"),
        kill(2),
        lose_tail(2, offset=1),
        hold_request("new fetch", follower=2, leader=1, fetch_offset=1),
        start(2),
        await_hold("new fetch"),
        hold_response("answer", follower=2, leader=1, fetch_offset=1),
        release("new fetch"),
        await_hold("answer"),
        checkpoint("broker 2 is back without m1 and m2"),
        release_late("old fetch"),
        release("fetch of 3"),
        checkpoint("the old fetch has come"),
        kill(1),
        kill(3),
        start(1),
        start(3),
        checkpoint("end"),
    ),
)

SCENARIOS = (
    JOINS_BELOW_EPOCH_START,
    DIVERGING_FETCH,
    DEAD_REPLICA_JOINS,
    REBOOTED_REPLICA_JOINS,
    LATE_FETCH_COUNTS,
)
