"""Which defects listen to a replica of another epoch, or elect the wrong one?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where
from conformance.scenarios.regressions.defect import FAMILY, regression
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    elect_preferred,
    hold_decision,
    hold_request,
    hold_response,
    kill,
    lose_tail,
    produce,
    release,
    start,
    stop,
)
from oracle.steps.topic import Reassign
from oracle.vocabulary import Acks, Expectation, MetadataMode

ZOMBIE_FOLLOWER = regression(
    "KAFKA-7395",
    requirement="A fetch of a follower that has not heard of the leader's epoch is not counted.",
    explanation=(
        "Broker 3 hears neither that broker 2 leads nor that broker 1 leads again. Up to 2.0 broker 1 counts its "
        "fetches and commits m1 by them, although broker 3 has not truncated in the new epoch; from 2.1 it is fenced."
    ),
    sources=("LE-05", "KIP-320", "KAFKA-6880"),
    replicas=(1, 2, 3),
    steps=(
        produce("m0"),
        hold_decision("unheard", broker=3),
        kill(1),
        await_hold("unheard"),
        start(1),
        await_isr(1, 2, 3),
        elect_preferred(),
        await_leader(1),
        produce("m1", expect=Expectation.ANY),
        checkpoint("broker 3 has not heard of the new epoch"),
        release("unheard"),
        await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
        checkpoint("end"),
    ),
)

LATE_FETCH_ANSWER = regression(
    "KAFKA-18991",
    requirement="A follower drops the answer to a fetch of an earlier leader epoch.",
    explanation=(
        "An answer with m1 is on its way to broker 2 when dead broker 3's replica, which is empty, is taken away: "
        "broker 1 leads on in a new epoch. From 2.8 to 3.9.0, and in 4.0.0, broker 2 uses it; from 3.9.1 and 4.0.1 it "
        "drops it and fetches again at 1. Here the records in it are right, since their leader is the same; a late "
        "answer that its log diverges would cut what it has fetched since."
    ),
    sources=("FE-04", "LE-05"),
    replicas=(1, 2, 3),
    steps=(
        kill(3),
        produce("m0"),
        hold_request("before m1", follower=2, leader=1, fetch_offset=1),
        await_hold("before m1"),
        produce("m1", acks=Acks.LEADER),
        hold_response("m1 for 2", follower=2, leader=1, fetch_offset=1),
        release("before m1"),
        await_hold("m1 for 2"),
        Reassign(brokers(1, 2)),
        hold_request("next fetch", follower=2, leader=1),
        release("m1 for 2"),
        await_hold("next fetch"),
        checkpoint("the answer of the old epoch has come"),
        release("next fetch"),
        start(3),
        Reassign(brokers(1, 2, 3)),
        await_isr(1, 2, 3),
        checkpoint("end"),
    ),
)

SETTING_NOT_HEEDED = regression(
    "KAFKA-12670",
    requirement="With unclean.leader.election.enable a live replica outside the ISR is elected when no other is left.",
    explanation=(
        "Broker 2 left the ISR first, broker 1 last. Broker 2 comes back: with unclean election on it leads. A KRaft "
        "controller before 3.9 never looks at the setting, and the partition stays without a leader."
    ),
    sources=("EL-02", "001"),
    unclean=True,
    steps=(
        kill(2),
        kill(1),
        start(2),
        checkpoint("broker 2 alone is back"),
        start(1),
        await_isr(1, 2),
        produce("m0"),
        checkpoint("end"),
    ),
)

LAST_REPLICA_STANDING = regression(
    "KIP-966",
    requirement="The last replica in sync is not elected again if its disk forgot records that another one has.",
    explanation=(
        "Broker 1 stops orderly with m0. Broker 2, last in sync, crashes and loses m0 with its page cache. Without "
        "eligible leader replicas it is elected again, x0 takes m0's offset, and broker 1 cuts m0."
    ),
    sources=("EL-06", "IS-07"),
    min_insync_replicas=2,
    steps=(
        produce("m0"),
        stop(1),
        kill(2),
        lose_tail(2, offset=0),
        start(2),
        checkpoint("broker 2 is back without m0"),
        produce("x0", acks=Acks.LEADER, expect=Expectation.ANY, timeout_ms=3_000),
        start(1),
        await_isr(1, 2),
        checkpoint("end"),
    ),
)

FENCED_LEADER = Examination(
    name=f"{FAMILY}/KAFKA-19522",
    id=f"{FAMILY}/kafka-19522",
    requirement="A last known leader is elected only when its broker is there.",
    sources=("EL-06", "KIP-966", "KAFKA-19522"),
    explanation=(
        "No replica is in sync and none is eligible any more; the last known leader may lead, but its broker is "
        "down. The controller of 4.0 notes that in its log and elects it all the same, from 4.1 on it waits."
    ),
    examined=by("eligible_feature:FENCED_LEADER"),
    where=Where(since="4.0.0", metadata=MetadataMode.KRAFT, why="clusters have eligible leader replicas (KIP-966)"),
)

SCENARIOS = (ZOMBIE_FOLLOWER, LATE_FETCH_ANSWER, SETTING_NOT_HEEDED, LAST_REPLICA_STANDING, FENCED_LEADER)
