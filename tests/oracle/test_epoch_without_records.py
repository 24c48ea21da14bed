"""KAFKA-10706: does a former leader whose last epoch has no record ever finish its truncation?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.events import BrokerRemoved, BrokerReturned, RecordSent
from oracle.gate import ModelledGate
from oracle.obstructing import end
from oracle.predict import initial_world
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Acks, Label, MetadataMode
from tests.oracle.schedules import LOOKUP, ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.world import World


def deposed_leader(version: str) -> World:
    """Broker 2 led an epoch without records, between two of broker 1, and lacks a record of the first."""
    rules = rules_for(version, MetadataMode.ZOOKEEPER)
    replicas = (ONE, TWO, THREE)
    world = initial_world(schedule(produce("m0"), replicas=replicas, unclean=True), rules, replicas)
    world = world.apply(RecordSent(Label("m0"), Acks.ALL)).settle()
    world = end(world, THREE, graceful=False).settle()
    gate = world.gate.arm(hold("gap")).arm(hold("lookup", LOOKUP, follower=ONE, leader=TWO))
    world = replace(world, gate=gate).settle()
    world = world.apply(RecordSent(Label("m1"), Acks.LEADER)).settle()
    world = world.apply(BrokerRemoved(ONE)).settle().apply(BrokerReturned(ONE, clean=True)).settle()
    world = world.apply(BrokerRemoved(TWO)).settle().apply(BrokerReturned(TWO, clean=True))
    return replace(world, gate=ModelledGate()).settle()


@pytest.mark.parametrize(("version", "finishes"), [("2.6.0", False), ("2.6.1", True)])
def test_truncation_finishes(version: str, *, finishes: bool) -> None:
    world = deposed_leader(version)
    assert [entry.label for entry in world.state.replica(ONE).log.entries] == ["m0", "m1"]
    assert world.state.controller.leader == ONE
    follower = world.state.replica(TWO)
    assert follower.truncating is not finishes
    assert (follower.log.entries == world.state.replica(ONE).log.entries) is finishes
