"""What does a new leader tell a consumer about the latest offset? On both sides of KIP-207."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.predict import initial_world, take
from oracle.replication.consuming import ListOffsetsAnswer, preferred_read_replica
from oracle.replication.remote import RemoteReplica
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill
from oracle.steps.frames import ReleaseHold
from oracle.vocabulary import Acks, MetadataMode, Offset, PointName
from tests.oracle.latest_offset import latest_offset
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId
    from oracle.world import World

ELECTED: tuple[Step, ...] = (
    hold("answer to 2", PointName.FETCH_RESPONSE, fetch_offset=1),
    hold("answer to 3", PointName.FETCH_RESPONSE, follower=THREE, fetch_offset=1),
    produce("m0"),
    hold("first fetch", follower=THREE, leader=TWO),
    Kill(ONE),
)
"""Broker 2 leads; it has m0, committed, but does not know that it is, and has not heard of broker 3 yet."""


def told(version: str, *steps: Step, request_version: int = 5) -> ListOffsetsAnswer | None:
    rules = rules_for(version, MetadataMode.ZOOKEEPER)
    replicas = (ONE, TWO, THREE)
    world: World = initial_world(schedule(*steps, replicas=replicas), rules, replicas)
    for step in steps:
        world = take(world, step)
    return latest_offset(world.state, rules, request_version=request_version)


@pytest.mark.parametrize(
    ("version", "request_version", "answer"),
    [
        ("2.1.1", 5, ListOffsetsAnswer(0, None)),  # type: ignore[arg-type]
        ("2.2.0", 5, ListOffsetsAnswer(None, "OFFSET_NOT_AVAILABLE")),
        ("2.2.0", 4, ListOffsetsAnswer(None, "LEADER_NOT_AVAILABLE")),
        ("3.9.2", 10, ListOffsetsAnswer(None, "OFFSET_NOT_AVAILABLE")),
    ],
)
def test_a_new_leader_that_lags_behind_its_epoch(version: str, request_version: int, answer: ListOffsetsAnswer) -> None:
    assert told(version, *ELECTED, request_version=request_version) == answer


@pytest.mark.parametrize("version", ["2.1.1", "2.2.0"])
def test_once_its_follower_has_fetched_it_answers(version: str) -> None:
    assert told(version, *ELECTED, ReleaseHold("first fetch")) == ListOffsetsAnswer(1, None)  # type: ignore[arg-type]


def test_nobody_answers_where_nobody_leads() -> None:
    assert told("2.2.0", Kill(THREE), Kill(TWO), Kill(ONE)) is None


RACKS = {ONE: "a", TWO: "b", THREE: "b"}


@pytest.mark.parametrize(
    ("asked", "offset", "rack", "named"),
    [
        (ONE, 1, "b", THREE),
        (ONE, 2, "b", None),
        (ONE, 0, "a", None),
        (ONE, 0, "c", None),
        (ONE, 0, "", None),
        (TWO, 0, "a", None),
    ],
)
def test_a_leader_names_the_follower_in_the_rack_that_has_fetched_furthest(
    asked: BrokerId, offset: int, rack: str, named: BrokerId | None
) -> None:
    steps = (hold("fetch of 2", follower=TWO, fetch_offset=0), produce("m0", acks=Acks.LEADER))
    rules, replicas = rules_for("4.3.1", MetadataMode.KRAFT), (ONE, TWO, THREE)
    world = initial_world(schedule(*steps, replicas=replicas), rules, replicas)
    for step in steps:
        world = take(world, step)
    assert preferred_read_replica(world.state.replica(asked), Offset(offset), rack, RACKS) == named


def test_a_leader_names_nobody_who_has_not_fetched_from_it() -> None:
    world = initial_world(schedule(replicas=(ONE, TWO)), rules_for("4.3.1", MetadataMode.KRAFT), (ONE, TWO))
    leader = replace(world.state.replica(ONE), remotes=(RemoteReplica(TWO),))
    assert preferred_read_replica(leader, Offset(0), "b", RACKS) is None
