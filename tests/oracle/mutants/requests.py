"""Which mistakes are about requests under way? Wishes to join the ISR, elections on request, held fetches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules import election, eligible_leaders, isr, reassignment, unclean_election
from oracle.rules.election import ElectedPartition, ElectionRules, with_leader
from oracle.vocabulary import ElectionKind
from tests.oracle.mutants.killers import Answer, Story
from tests.oracle.mutants.mutant import Mutant, with_fields
from tests.oracle.mutants.questions import (
    decisions_on_their_way,
    eligible_after_a_reassignment,
    eligible_under_a_new_minimum,
    holds_lost_to_another_leader,
    holds_unclean_elections,
    isr_as_its_leader_was_answered,
    leader_once_unclean_election_is_allowed,
    obeys_a_lower_epoch,
    registers_once_its_topic_is_deleted,
)
from tests.oracle.schedules import THREE, TWO

if TYPE_CHECKING:
    from oracle.state import ControllerDecision, ControllerView, ReplicaState

BY_KIND = "oracle.rules.election.BY_KIND"


def whoever_comes_first(
    view: ControllerView, partition: ElectedPartition, _rules: ElectionRules
) -> ControllerView | str:
    return with_leader(view, partition.assignment[0], clean=True)


def only_if_allowed(view: ControllerView, partition: ElectedPartition, rules: ElectionRules) -> ControllerView | str:
    elected = rules.elect(view, partition)
    return "no replica lives" if elected.leader is None else elected


def has_heard_everything(_answer: ControllerDecision, leader: ReplicaState) -> bool:
    return not leader.undelivered


MUTANTS = (
    Mutant(
        "waits-for-the-answer-of-a-former-leader",
        "fencing.STALE_LOOKUP_DROPPED",
        "1.1 waits for a held answer before it takes another leader",
        Answer(holds_lost_to_another_leader("1.1.1"), ["fetch"]),
        with_fields(closes_former_fetch=False),
    ),
    Mutant(
        "closes-the-connection-to-a-former-leader",
        "fencing.STALE_LOOKUP_DROPPED",
        "1.0 does not wait for a held answer",
        Answer(holds_lost_to_another_leader("1.0.2"), "it waits for the answer"),
        with_fields(closes_former_fetch=True),
    ),
    Mutant(
        "waits-for-the-metadata-log",
        "isr.KIP_497",
        "a leader takes the answer to its request only once it has read the metadata log",
        Answer(isr_as_its_leader_was_answered("3.9.2-kraft"), [1, 2, 3]),
        patches={"oracle.rules.isr.takes_answer": has_heard_everything},
    ),
    Mutant(
        "lets-a-fenced-replica-join",
        "isr.ANY_JOINS",
        "3.3 lets a replica join whose broker is gone",
        Story("kip-841-on-3.3"),
        with_fields(may_join=isr.any_replica),
    ),
    Mutant(
        "lets-only-unfenced-replicas-join-too-early",
        "isr.ANY_JOINS",
        "3.2 refuses a replica whose broker is gone",
        Story("kip-841-on-3.2"),
        with_fields(may_join=isr.unfenced),
    ),
    Mutant(
        "lets-a-replica-of-an-earlier-start-join",
        "isr.ANY_JOINS",
        "3.5 does not look at the broker epoch of a replica that wants to join",
        Story("kip-903-on-3.5"),
        with_fields(may_join=isr.unfenced),
    ),
    Mutant(
        "looks-at-the-broker-epoch-too-early",
        "isr.ANY_JOINS",
        "3.4 refuses a replica that has not fetched since its broker's start",
        Story("kip-903-on-3.4"),
        with_fields(may_join=isr.of_this_start),
    ),
    Mutant(
        "counts-a-fetch-of-an-earlier-start",
        "fencing.FETCH_OF_EARLIER_START_REFUSED",
        "3.7 counts a fetch that its sender sent before the broker's last start",
        Story("kafka-15221-on-3.7"),
        with_fields(counts_fetch_of_earlier_start=True),
    ),
    Mutant(
        "refuses-a-fetch-of-an-earlier-start-too-early",
        "fencing.FETCH_OF_EARLIER_START_REFUSED",
        "3.6 refuses a fetch that its sender sent before the broker's last start",
        Story("kafka-15221-on-3.6"),
        with_fields(counts_fetch_of_earlier_start=False),
    ),
    Mutant(
        "prefers-a-replica-that-is-not-in-sync",
        "election.PREFERRED_ON_REQUEST",
        "the preferred leader takes over although it is dead",
        Story("elections-on-request"),
        patches={BY_KIND: {**election.BY_KIND, ElectionKind.PREFERRED: whoever_comes_first}},
    ),
    Mutant(
        "asks-the-topic-whether-an-election-may-be-unclean",
        "election.PREFERRED_ON_REQUEST",
        "an operator's unclean election needs unclean.leader.election.enable",
        Story("elections-on-request"),
        patches={BY_KIND: {**election.BY_KIND, ElectionKind.UNCLEAN: only_if_allowed}},
    ),
    Mutant(
        "elects-uncleanly-on-request-too-early",
        "election.PREFERRED_ON_REQUEST",
        "2.3 holds an unclean election on request",
        Answer(holds_unclean_elections("2.3.1"), False),
        with_fields(elects_uncleanly_on_request=True),
    ),
    Mutant(
        "holds-no-unclean-election-on-request",
        "election.PREFERRED_ON_REQUEST",
        "2.4 holds preferred elections only",
        Answer(holds_unclean_elections("2.4.0"), True),
        with_fields(elects_uncleanly_on_request=False),
    ),
    Mutant(
        "marks-no-unclean-leader",
        "unclean_election.UNCLEAN_LEADER_RECOVERS",
        "3.2 does not say that a leader was elected uncleanly",
        Story("recovering-on-3.2"),
        with_fields(marks_recovery=unclean_election.unmarked),
    ),
    Mutant(
        "marks-unclean-leaders-too-early",
        "unclean_election.UNCLEAN_LEADER_RECOVERS",
        "3.1 says that a leader was elected uncleanly",
        Story("recovering-on-3.1"),
        with_fields(marks_recovery=unclean_election.marked),
    ),
    Mutant(
        "waits-although-unclean-election-is-allowed",
        "unclean_election.WAITS_FOR_BROKER",
        "2.1 lets a partition without a leader wait for a broker",
        Answer(leader_once_unclean_election_is_allowed("2.1.1"), 2),
        with_fields(settings_changed=unclean_election.waits_for_broker),
    ),
    Mutant(
        "elects-as-soon-as-unclean-election-is-allowed-too-early",
        "unclean_election.WAITS_FOR_BROKER",
        "2.0 elects without waiting for a broker",
        Answer(leader_once_unclean_election_is_allowed("2.0.1"), None),
        with_fields(settings_changed=unclean_election.elects_at_once),
    ),
    Mutant(
        "index-is-cleared-with-its-partition",
        "eligible_leaders.KEPT_IN_INDEX",
        "a new minimum empties the controller's index of eligible leader replicas, too",
        Answer(registers_once_its_topic_is_deleted, answer=False),
        with_fields(settings_changed=eligible_leaders.clears_and_elects),
    ),
    Mutant(
        "removed-replica-is-forgotten",
        "reassignment.REMOVED_STAYS_ELIGIBLE",
        "a replica that a reassignment removes is eligible no more",
        Answer(eligible_after_a_reassignment, frozenset({TWO, THREE})),
        reassignment.forgetting_the_removed,
    ),
    Mutant(
        "keeps-eligible-leaders-under-a-new-minimum",
        "eligible_leaders.NEW_MINIMUM_CLEARS",
        "who left the ISR under the old minimum stays eligible",
        Answer(eligible_under_a_new_minimum, frozenset()),
        with_fields(settings_changed=unclean_election.elects_at_once),
    ),
    Mutant(
        "takes-every-decision-as-news",
        "fencing.STALE_CONTROLLER_REFUSED",
        "a broker is told again what it knows",
        Answer(decisions_on_their_way(3, to=2, version="3.9.2-kraft"), 0),
        patches={"oracle.rules.fencing.is_news": lambda _decided, _known: True},
    ),
    Mutant(
        "obeys-a-replaced-controller",
        "fencing.STALE_CONTROLLER_REFUSED",
        "a request of a lower controller epoch counts",
        Answer(obeys_a_lower_epoch, False),
        patches={"oracle.rules.fencing.is_obeyed": lambda _request, _seen: True},
    ),
    Mutant(
        "stopping-leader-keeps-its-log-too-early",
        "diverging_log.STOPPING_LEADER_CUTS",
        "0.10.2 does not cut the log of a leader that stops",
        Story("stopping-leader-on-0.10.2"),
        with_fields(stopping_leader_cuts=False),
    ),
    Mutant(
        "stopping-leader-cuts-its-log",
        "diverging_log.STOPPING_LEADER_CUTS",
        "0.11 cuts the log of a leader that stops",
        Story("stopping-leader-on-0.11"),
        with_fields(stopping_leader_cuts=True),
    ),
)
