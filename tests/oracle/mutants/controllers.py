"""Which mistakes can a controller make? Mutants of elections, the committed ISR and the way of decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oracle.rules import election, eligible_leaders
from oracle.rules.election import ElectedPartition, bumped
from oracle.vocabulary import ReplicaRole
from tests.oracle.mutants.killers import Answer, Golden, Story
from tests.oracle.mutants.mutant import Mutant, with_delivery, with_election, with_fields
from tests.oracle.mutants.questions import (
    decisions_on_their_way,
    news_of_a_committed_join,
    news_that_nobody_leads,
    role_while_metadata_is_held,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

right_election = election.elect


def elects_if_unclean_is(*, on: bool) -> Callable[[ControllerView, ElectedPartition], ControllerView]:
    def elect(view: ControllerView, partition: ElectedPartition) -> ControllerView:
        return right_election(
            view, replace(partition, settings=replace(partition.settings, unclean_leader_election=on))
        )

    return elect


def last_live(partition: ElectedPartition, view: ControllerView, among: Collection[BrokerId]) -> BrokerId | None:
    return next((b for b in reversed(partition.assignment) if b in view.registered and b in among), None)


def first_dead_or_alive(
    partition: ElectedPartition, _view: ControllerView, among: Collection[BrokerId]
) -> BrokerId | None:
    return next((b for b in partition.assignment if b in among), None)


def without_bump(
    view: ControllerView, partition: ElectedPartition, elect: Callable[..., ControllerView]
) -> ControllerView:
    return elect(replace(view, leader=None), partition)


def shrunk_to_nobody(view: ControllerView, broker: BrokerId) -> ControllerView:
    return bumped(replace(view, isr=tuple(b for b in view.isr if b != broker))) if broker in view.isr else view


def only_registered(
    view: ControllerView, _partition: ElectedPartition, broker: BrokerId, _clean: bool
) -> ControllerView:
    return replace(view, registered=view.registered | {broker})


def leader_leaves_too(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    decided = election.removed_in_kraft_mode(view, partition, broker)
    return replace(decided, isr=tuple(b for b in decided.isr if b != broker))


def always_eligible(view: ControllerView, _partition: ElectedPartition, isr: tuple[BrokerId, ...]) -> ControllerView:
    return replace(view, isr=isr, elr=(view.elr | set(view.isr)) - set(isr))


def never_eligible(view: ControllerView, _partition: ElectedPartition, isr: tuple[BrokerId, ...]) -> ControllerView:
    return replace(view, isr=isr, elr=frozenset())


def returns(*, clean: bool) -> Callable[..., ControllerView]:
    return lambda view, partition, broker, _clean: eligible_leaders.returned(view, partition, broker, clean)


def everywhere(function: str, wrong: object) -> dict[str, Any]:
    return {f"oracle.rules.{module}.{function}": wrong for module in ("election", "eligible_leaders")}


def in_the_same_epoch(view: ControllerView, broker: BrokerId) -> ControllerView:
    return replace(view, isr=tuple(b for b in view.isr if b != broker) or view.isr)


MUTANTS = (
    Mutant(
        "elects-an-absent-last-known-leader",
        "eligible_leaders.KIP_966",
        "4.1 elects a last known leader whose broker is down",
        Story("kafka-19522-on-4.1"),
        with_fields(election=eligible_leaders.ELECTION_OF_THE_ABSENT),
    ),
    Mutant(
        "waits-for-an-absent-last-known-leader",
        "eligible_leaders.KIP_966",
        "4.0 does not elect a last known leader whose broker is down",
        Story("kafka-19522-on-4.0"),
        with_fields(election=eligible_leaders.ELECTION),
    ),
    Mutant(
        "elects-the-last-replica",
        "election",
        "the last live ISR member in assignment order leads",
        Story("kafka-7128-on-2.0.1"),
        patches=everywhere("first_live", last_live),
    ),
    Mutant(
        "elects-a-dead-replica",
        "election",
        "an ISR member leads although its broker is gone",
        Story("elr-off"),
        patches=everywhere("first_live", first_dead_or_alive),
    ),
    Mutant(
        "keeps-the-epoch-without-a-leader",
        "election",
        "an epoch in which nobody leads is not counted",
        Story("leader-restarts-on-2.0.1"),
        patches=everywhere("re_elected", without_bump),
    ),
    Mutant(
        "elects-uncleanly-although-off",
        "election.ZOOKEEPER_CONTROLLER",
        "unclean.leader.election.enable is not looked at",
        Golden("EL-01/safe"),
        patches={"oracle.rules.election.elect": elects_if_unclean_is(on=True)},
    ),
    Mutant(
        "elects-never-uncleanly",
        "election.ZOOKEEPER_CONTROLLER",
        "nobody leads although unclean election is on",
        Golden("EL-01/unsafe"),
        patches={"oracle.rules.election.elect": elects_if_unclean_is(on=False)},
    ),
    Mutant(
        "elects-nobody-on-return",
        "election.ZOOKEEPER_CONTROLLER",
        "a broker that comes back is registered only",
        Story("leader-restarts-on-2.0.0"),
        with_election(returned=only_registered),
    ),
    Mutant(
        "last-member-leaves",
        "election.ZOOKEEPER_CONTROLLER",
        "1.1 empties the ISR with unclean election, as 1.0 does",
        Story("kip-279-on-1.1"),
        with_election(removed=election.removed_even_if_last),
    ),
    Mutant(
        "last-member-stays",
        "election.ZOOKEEPER_CONTROLLER",
        "1.0 keeps the last ISR member with unclean election, as 1.1 does",
        Story("tr-03-on-0.10.2"),
        with_election(removed=election.removed),
    ),
    Mutant(
        "bumps-no-epoch",
        "election.ZOOKEEPER_CONTROLLER",
        "an ISR change of the controller does not start an epoch",
        Story("tr-03-on-2.8"),
        patches={"oracle.rules.election.shrunk": in_the_same_epoch},
    ),
    Mutant(
        "bumps-the-epoch-on-shrink",
        "election.KRAFT_CONTROLLER",
        "3.9 starts an epoch when the ISR shrinks",
        Story("caught-up-on-3.9-kraft"),
        with_election(removed=election.removed),
    ),
    Mutant(
        "bumps-no-epoch-on-shrink",
        "election.KRAFT_CONTROLLER",
        "3.5 starts no epoch when the ISR shrinks by lag",
        Story("lag-shrinks-on-3.5-kraft"),
        with_election(left=election.left),
    ),
    Mutant(
        "listens-to-the-setting",
        "unclean_election.ON_REQUEST_ONLY",
        "a KRaft controller before 3.9 looks at the topic's unclean.leader.election.enable",
        Story("unclean-on-request-only-on-3.8-kraft"),
        with_fields(election=election.KRAFT),
    ),
    Mutant(
        "empties-the-isr",
        "election.KRAFT_CONTROLLER",
        "without eligible leader replicas the ISR becomes empty",
        Story("elr-off"),
        with_election(removed=leader_leaves_too),
    ),
    Mutant(
        "unclean-shutdown-stays-eligible",
        "eligible_leaders.KIP_966",
        "a replica that was killed may be elected from the eligible ones",
        Story("elr-unclean-registration"),
        with_election(returned=returns(clean=True)),
    ),
    Mutant(
        "clean-shutdown-is-not-eligible",
        "eligible_leaders.KIP_966",
        "a replica that stopped gracefully is not eligible either",
        Story("elr-graceful-stops"),
        with_election(returned=returns(clean=False)),
    ),
    Mutant(
        "eligible-although-min-isr",
        "eligible_leaders.KIP_966",
        "who leaves an ISR that is large enough is eligible",
        Story("elr-graceful-stops"),
        patches={"oracle.rules.eligible_leaders.with_isr": always_eligible},
    ),
    Mutant(
        "nobody-is-eligible",
        "eligible_leaders.KIP_966",
        "who leaves an ISR that is too small is forgotten",
        Story("elr-graceful-stops"),
        patches={"oracle.rules.eligible_leaders.with_isr": never_eligible},
    ),
    Mutant(
        "forgets-the-last-known-leader",
        "eligible_leaders.KIP_966",
        "nobody leads once nobody is eligible",
        Story("elr-last-known-leader"),
        patches={"oracle.rules.eligible_leaders._last_known_leader": lambda _view: None},
    ),
    Mutant(
        "last-replica-stands",
        "eligible_leaders.KIP_966",
        "4.1 elects the last ISR member, whatever its disk lost",
        Story("lost-tail-on-4.1"),
        with_fields(election=election.KRAFT),
    ),
    Mutant(
        "tells-a-fenced-broker",
        "delivery",
        "a ZooKeeper-era controller still reaches the broker whose session expired",
        Answer(decisions_on_their_way(1, to=1, version="3.9.2"), 0),
        with_delivery(reaches_unregistered=True),
    ),
    Mutant(
        "tells-no-fenced-broker",
        "delivery",
        "a fenced KRaft broker does not read on",
        Answer(decisions_on_their_way(1, to=1, version="3.9.2-kraft"), 1),
        with_delivery(reaches_unregistered=False),
    ),
    Mutant(
        "merges-decisions",
        "delivery",
        "a ZooKeeper-era broker hears only the last of two decisions",
        Answer(decisions_on_their_way(3, 2, to=1, version="3.9.2"), 2),
        with_delivery(merges=True),
    ),
    Mutant(
        "tells-roles-before-metadata",
        "delivery",
        "a broker that registers hears its role before the first UpdateMetadata",
        Answer(role_while_metadata_is_held("2.8.2"), ReplicaRole.LEADER),
        with_delivery(tells_metadata_first=False),
    ),
    Mutant(
        "tells-every-decision",
        "delivery",
        "a KRaft broker hears two decisions one by one",
        Answer(decisions_on_their_way(3, 2, to=1, version="3.9.2-kraft"), 1),
        with_delivery(merges=False),
    ),
    Mutant(
        "tells-that-nobody-leads",
        "delivery",
        "a ZooKeeper-era controller tells brokers that nobody leads",
        Story("leader-restarts-on-2.0.0"),
        with_delivery(tells_leaderless=True),
    ),
    Mutant(
        "tells-not-that-nobody-leads",
        "delivery",
        "the metadata log does not say that nobody leads",
        Answer(news_that_nobody_leads("3.9.2-kraft"), 1),
        with_delivery(tells_leaderless=False),
    ),
    Mutant(
        "tells-a-join-twice",
        "delivery",
        "a ZooKeeper-era controller tells a join apart from its answer",
        Answer(news_of_a_committed_join("3.9.2"), 0),
        with_delivery(tells_joins=True),
    ),
    Mutant(
        "tells-a-join-once",
        "delivery",
        "the metadata log does not say that a replica has joined",
        Answer(news_of_a_committed_join("3.9.2-kraft"), 1),
        with_delivery(tells_joins=False),
    ),
)
