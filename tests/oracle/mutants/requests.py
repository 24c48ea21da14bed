"""Which mistakes can a controller make when it is asked? Wishes to join the ISR and of elections on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules import isr_eligibility, requested_election
from oracle.rules.election import ElectionRules, Partition, with_leader
from oracle.vocabulary import ElectionKind
from tests.oracle.mutants.killers import Story
from tests.oracle.mutants.mutant import Mutant, with_fields

if TYPE_CHECKING:
    from oracle.state import ControllerView

BY_KIND = "oracle.rules.requested_election.BY_KIND"


def whoever_comes_first(view: ControllerView, partition: Partition, _rules: ElectionRules) -> ControllerView | str:
    return with_leader(view, partition.assignment[0], clean=True)


def only_if_allowed(view: ControllerView, partition: Partition, rules: ElectionRules) -> ControllerView | str:
    elected = rules.elect(view, partition)
    return "no replica lives" if elected.leader is None else elected


MUTANTS = (
    Mutant(
        "lets-a-fenced-replica-join",
        "isr_eligibility",
        "3.3 lets a replica join whose broker is gone",
        Story("kip-841-on-3.3"),
        with_fields(may_join=isr_eligibility.any_replica),
    ),
    Mutant(
        "lets-only-unfenced-replicas-join-too-early",
        "isr_eligibility",
        "3.2 refuses a replica whose broker is gone",
        Story("kip-841-on-3.2"),
        with_fields(may_join=isr_eligibility.unfenced),
    ),
    Mutant(
        "lets-a-replica-of-an-earlier-start-join",
        "isr_eligibility",
        "3.5 does not look at the broker epoch of a replica that wants to join",
        Story("kip-903-on-3.5"),
        with_fields(may_join=isr_eligibility.unfenced),
    ),
    Mutant(
        "looks-at-the-broker-epoch-too-early",
        "isr_eligibility",
        "3.4 refuses a replica that has not fetched since its broker's start",
        Story("kip-903-on-3.4"),
        with_fields(may_join=isr_eligibility.of_this_start),
    ),
    Mutant(
        "prefers-a-replica-that-is-not-in-sync",
        "requested_election",
        "the preferred leader takes over although it is dead",
        Story("elections-on-request"),
        patches={BY_KIND: {**requested_election.BY_KIND, ElectionKind.PREFERRED: whoever_comes_first}},
    ),
    Mutant(
        "asks-the-topic-whether-an-election-may-be-unclean",
        "requested_election",
        "an operator's unclean election needs unclean.leader.election.enable",
        Story("elections-on-request"),
        patches={BY_KIND: {**requested_election.BY_KIND, ElectionKind.UNCLEAN: only_if_allowed}},
    ),
)
