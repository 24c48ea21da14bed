"""Which defects and changes move the high watermark too early, too late, or by the wrong replica's word?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.where import Where
from conformance.scenarios.high_watermark.hw_12_high_watermark_in_answer import fetch_that_commits
from conformance.scenarios.in_sync_replicas.silence import heard_again, removed_while_a_record_waits
from conformance.scenarios.produce_path.ac_05_shrinks_after_append import joined_again
from conformance.scenarios.produce_path.ac_06_acks_1_below_minimum import alone_with_a_record
from conformance.scenarios.regressions.defect import regression
from conformance.scenarios.regressions.frames_asked import last_fetch
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    produce,
    release,
    start,
    world_after,
)
from fault_injection.wire.views import NONE
from oracle.asking import fetches_claim_epoch
from oracle.vocabulary import Acks, Expectation, HighWatermarkCheckpoint, Timing

if TYPE_CHECKING:
    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.record.prediction import FrozenPrediction
    from oracle.rules.rule_set import RuleSet


def _epoch_expected(rules: RuleSet, _prediction: FrozenPrediction) -> Value:
    if not fetches_claim_epoch(rules):
        return NONE
    return int(world_after(HELD_BY_THE_DEAD.schedule, rules).state.controller.leader_epoch)


def _epoch_fetched_in(run: RunDirectory) -> Value:
    """Return the leader epoch that the follower's latest fetch names; -1 where fetches name none."""
    return last_fetch(run, 2, 1).current_leader_epoch


SILENT = hold_request("silent", follower=2, leader=1, fetch_offset=1)

NEWER_THAN_RECORDS = regression(
    "KAFKA-5758",
    requirement="The high watermark of an immediate fetch response is the one before that fetch was counted.",
    explanation=(
        "Broker 3's fetch at 2 commits m1, and its answer carries m2. In 1.0.0, 1.0.1 and 1.1.0 (KAFKA-5758) the "
        "answer has the new high watermark too; before, and since KAFKA-7104, broker 3 learns it one fetch later."
    ),
    sources=("HW-12", "KAFKA-7104"),
    replicas=(1, 2, 3),
    steps=fetch_that_commits("fetch of 2", "fetch of 3", "next fetch of 3", answered="broker 3 has the answer"),
)

STUCK_AFTER_SHRINK = regression(
    "KAFKA-13091",
    requirement="When a replica has left the ISR, the high watermark no longer waits for it.",
    explanation=(
        "m1 waits for broker 2, which is silent until it has left the ISR. From 2.7 to 3.0 the leader does not look at "
        "its high watermark when the controller grants that: m1 waits on, until m2 comes."
    ),
    sources=("IS-05", "HW-07", "KIP-497"),
    timing=Timing.LAG,
    steps=(
        *removed_while_a_record_waits("the ISR has shrunk", SILENT),
        *heard_again(silence=SILENT),
    ),
)

TAKEN_BEFORE_CUT = regression(
    "KAFKA-14704",
    requirement="A follower whose log diverges cuts it before it takes its leader's high watermark.",
    explanation=(
        "Broker 1 comes back with m1, which nobody else has, and no high watermark on its disk. Told that it diverges, "
        "it takes the leader's high watermark first up to 3.4.0, and so shows m1 to its consumers until it has cut it."
    ),
    sources=("TR-06", "HW-06"),
    checkpointing=HighWatermarkCheckpoint.NEVER,
    where=Where(since="0.11.0.0", why="without leader epochs a follower cuts before it fetches, and to 0 here"),
    steps=(
        produce("m0"),
        hold_request("m1 for 2", follower=2, leader=1, fetch_offset=1),
        await_hold("m1 for 2"),
        produce("m1", expect=Expectation.PENDING),
        kill(1),
        await_outcome("m1", expect=Expectation.INDETERMINATE),
        await_leader(2),
        produce("x1"),
        hold_response("after the cut", follower=1, leader=2, fetch_offset=1),
        start(1),
        await_hold("after the cut"),
        checkpoint("broker 1 has cut m1"),
        release("after the cut"),
        await_isr(1, 2),
        checkpoint("end"),
    ),
)

HELD_BY_THE_DEAD = regression(
    "KAFKA-15021",
    requirement=(
        "A replica that leaves the ISR raises no leader epoch, and outside the ISR it holds no high watermark back "
        "once its broker is gone."
    ),
    explanation=(
        "Broker 2 was caught up to where the leader stood one fetch ago, outside the ISR, when it died. Up to 3.5 m4 "
        "stays invisible for the lag time all the same, although the ISR is broker 1 alone; and with broker 2's first "
        "end, which changed the ISR alone, a KRaft controller began a leader epoch."
    ),
    sources=("HW-08", "IS-03", "LE-01"),
    questions=(
        ScheduleQuestion("the leader epoch in which broker 2 fetches at last", _epoch_expected, _epoch_fetched_in),
    ),
    steps=(
        produce("m0"),
        kill(2),
        produce("m1"),
        kill(1),
        start(1),
        await_leader(1),
        produce("m2"),
        hold_response("first answer", follower=2, leader=1, fetch_offset=1),
        start(2),
        await_hold("first answer"),
        produce("m3"),
        hold_response("second answer", follower=2, leader=1, fetch_offset=3),
        release("first answer"),
        await_hold("second answer"),
        kill(2),
        produce("m4", acks=Acks.LEADER),
        checkpoint("broker 2 is dead"),
        start(2),
        await_isr(1, 2),
        checkpoint("end"),
    ),
)

VISIBLE_BELOW_MINIMUM = regression(
    "KAFKA-15583",
    requirement="With fewer in-sync replicas than min.insync.replicas the high watermark stands still.",
    explanation=(
        "Broker 1 is alone with min.insync.replicas=2 and accepts m1 with acks=1. Up to 3.6 consumers see it at once; "
        "from 3.7 only when broker 2 is back and has it."
    ),
    sources=("AC-06", "HW-02", "KIP-966"),
    min_insync_replicas=2,
    steps=(*alone_with_a_record("broker 1 is alone and has m1"), *joined_again(), checkpoint("end")),
)

SCENARIOS = (NEWER_THAN_RECORDS, STUCK_AFTER_SHRINK, TAKEN_BEFORE_CUT, HELD_BY_THE_DEAD, VISIBLE_BELOW_MINIMUM)
