"""What does an unclean election cost (documents 001 to 004)?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.scenario import QUICK, Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    hold_request,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.steps.produce import Produce
    from oracle.steps.step import Step


def _acknowledged(label: str) -> Produce:
    return produce(label)


def _refused(label: str) -> Produce:
    return produce(label, expect=Expectation.REFUSED, error="NOT_ENOUGH_REPLICAS")


def _first_to_crash_leads(attempt: Callable[[str], Produce]) -> tuple[Step, ...]:
    """Crash three replicas in turn; the first to crash is back, its fetch held, when the last one dies."""
    return (
        produce("m0"),
        kill(3),
        await_isr(1, 2),
        attempt("m1"),
        kill(2),
        await_isr(1),
        attempt("m2"),
        hold_request("refetch", follower=3, leader=1),
        start(3),
        await_hold("refetch"),
        checkpoint("broker 3 is back and has m0"),
        kill(1),
        await_leader(3),
        checkpoint("broker 3 leads"),
        attempt("m3"),
        start(1),
        start(2),
        await_isr(1, 2, 3),
        produce("m4"),
        checkpoint("end"),
    )


SUFFIX_IS_LOST = Scenario(
    name="EL-02/unsafe",
    profiles=QUICK,
    variant="unsafe",
    explanation=(
        "Broker 3 crashed first and is back, its fetch held before the leader sees it. The leader dies: broker 3 is "
        "elected with m0 alone, and m1 and m2 go."
    ),
    schedule=Schedule(
        id="election/unclean-election-loses-the-suffix",
        requirement="An unclean election loses exactly the records that the elected replica never had.",
        sources=("EL-02", "TR-08", "001", "003"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=True),
        steps=_first_to_crash_leads(_acknowledged),
    ),
)

NOTHING_TO_LOSE = Scenario(
    name="EL-02/safe",
    profiles=QUICK,
    variant="safe",
    explanation="min.insync.replicas equals the replication factor: what an unclean election could lose was refused.",
    schedule=Schedule(
        id="election/unclean-election-with-full-min-isr-loses-nothing",
        requirement="With min.insync.replicas equal to the replication factor an unclean election loses nothing.",
        sources=("EL-02", "AC-04", "001", "003"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=3, unclean_leader_election=True),
        steps=_first_to_crash_leads(_refused),
    ),
)

SCENARIOS = (SUFFIX_IS_LOST, NOTHING_TO_LOSE)
