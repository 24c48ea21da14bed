"""Which mistakes can a controller make while it moves a partition to other brokers?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.error_codes import ErrorCode
from oracle.rules.by_version import rules_for
from oracle.rules.reassignment import (
    ADDED_ONLY,
    ADDED_UNLESS_FEWER,
    IN_ONE_RECORD,
    IN_STEPS,
    UnknownReplica,
    unchanged,
    wanted_in_sync,
)
from oracle.tracing.answering import allowed_errors
from oracle.tracing.exchange import Exchange
from oracle.tracing.observed import FetchSent, RequestKey
from oracle.tracing.replica import TracedReplica
from oracle.vocabulary import MetadataMode, Offset
from tests.oracle.mutants.killers import Answer, Story
from tests.oracle.mutants.mutant import Mutant, with_fields
from tests.oracle.mutants.questions import fetched_unheard, told_to_a_waiting_producer
from tests.oracle.schedules import ONE, TWO

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.rule_set import RuleSet
    from oracle.state import ControllerView, Reassignment, ReplicaState
    from oracle.vocabulary import BrokerId


def always(_view: ControllerView, _reassignment: Reassignment) -> bool:
    return True


def known(_leader: ReplicaState, _follower: BrokerId) -> bool:
    return True


def may_fail_for_others(change: Callable[[RuleSet], RuleSet]) -> object:
    """Ask whether the wire check lets a fetch of two partitions on 3.9 fail that has nothing wrong in this one."""
    rules = change(rules_for("3.9.2", MetadataMode.KRAFT))
    sent = FetchSent(
        at=0,
        partition=("t", 0),
        key=RequestKey(1, 1),
        follower=TWO,
        leader=ONE,
        fetch_offset=Offset(0),
        has_others=True,
        api_version=3,
    )
    return ErrorCode.UNKNOWN_SERVER_ERROR in allowed_errors(TracedReplica(ONE, rules), Exchange(sent), rules)


MUTANTS = (
    Mutant(
        "counts-a-replica-of-which-it-has-not-heard",
        "reassignment",
        "a leader counts a new replica before it has heard of it",
        Answer(fetched_unheard("2.0.1"), (1, None)),
        patches={"oracle.replication.leading.knows_replica": known},
    ),
    Mutant(
        "refuses-a-replica-of-which-it-has-not-heard",
        "reassignment",
        "2.0 gives a new replica nothing before the leader has heard of it",
        Answer(fetched_unheard("2.0.1"), (1, None)),
        with_fields(unknown_replica=UnknownReplica.FAILS_FETCH),
    ),
    Mutant(
        "gives-records-to-a-replica-of-which-it-has-not-heard",
        "reassignment",
        "0.11 gives a new replica records before the leader has heard of it",
        Answer(fetched_unheard("0.11.0.3"), (0, None)),
        with_fields(unknown_replica=UnknownReplica.ANSWERED),
    ),
    Mutant(
        "fails-for-a-replica-of-which-it-has-not-heard",
        "reassignment",
        "a fetch fails on 3.9 with all its partitions, since its leader has not heard of one replica",
        Answer(may_fail_for_others, False),
        with_fields(unknown_replica=UnknownReplica.FAILS_FETCH),
    ),
    Mutant(
        "leaves-producers-waiting-when-stopped",
        "fencing.STOP_ANSWERS_PRODUCERS",
        "2.4 lets producers wait for a leader whose replica was stopped",
        Answer(told_to_a_waiting_producer("2.4.1"), "NOT_LEADER_OR_FOLLOWER"),
        with_fields(answers_when_stopped=False),
    ),
    Mutant(
        "answers-producers-when-stopped",
        "fencing.STOP_ANSWERS_PRODUCERS",
        "2.3 answers the producers that wait for a leader whose replica was stopped",
        Answer(told_to_a_waiting_producer("2.3.1"), None),
        with_fields(answers_when_stopped=True),
    ),
    Mutant(
        "ends-before-new-replicas-are-in-sync",
        "reassignment",
        "replicas leave before those that replace them have their records",
        Story("reassignment-on-3.9-zookeeper"),
        with_fields(reassignment=replace(IN_STEPS, is_ready=always)),
    ),
    Mutant(
        "begins-without-an-epoch",
        "reassignment",
        "new replicas are assigned in the same leader epoch, as in KRaft mode",
        Story("reassignment-on-3.9-zookeeper"),
        with_fields(reassignment=replace(IN_STEPS, begun=unchanged)),
    ),
    Mutant(
        "removes-in-steps",
        "reassignment",
        "a KRaft controller takes one replica after the other out of the ISR",
        Story("reassignment-on-3.9-kraft"),
        with_fields(reassignment=replace(IN_ONE_RECORD, completed=IN_STEPS.completed)),
    ),
    Mutant(
        "waits-for-added-replicas-only",
        "reassignment",
        "3.8 removes replicas although one that stays is out of sync",
        Story("reassignment-while-out-of-sync-on-3.8-kraft"),
        with_fields(reassignment=ADDED_ONLY),
    ),
    Mutant(
        "waits-for-every-wanted-replica",
        "reassignment",
        "3.7 waits for a replica that was assigned before",
        Story("reassignment-while-out-of-sync-on-3.7-kraft"),
        with_fields(reassignment=IN_ONE_RECORD),
    ),
    Mutant(
        "waits-for-every-wanted-replica-as-before-4.3",
        "reassignment",
        "4.3 waits for a replica that was assigned before, although as many replicas are added as leave",
        Story("reassignment-to-as-many-while-out-of-sync-on-4.3-kraft"),
        with_fields(reassignment=IN_ONE_RECORD),
    ),
    Mutant(
        "leaves-fewer-while-out-of-sync",
        "reassignment",
        "4.3 removes a replica without another in its place although one that stays is out of sync",
        Story("reassignment-to-fewer-while-out-of-sync-on-4.3-kraft"),
        with_fields(reassignment=replace(ADDED_UNLESS_FEWER, is_ready=ADDED_ONLY.is_ready)),
    ),
    Mutant(
        "another-order-waits",
        "reassignment",
        "3.8 takes a change of order for a reassignment that waits for replicas out of sync",
        Story("reassignment-to-as-many-while-out-of-sync-on-3.8-kraft"),
        with_fields(reassignment=replace(IN_ONE_RECORD, is_ready=wanted_in_sync)),
    ),
)
