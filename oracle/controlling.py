"""What do the frames between the controller and the brokers do next? Each on its own channel, unless held.

Downward: a decision reaches its broker. One frame at a time is under way per broker, so a held one
keeps back every later decision. In KRaft mode a broker fetches metadata all the time: a hold catches
the next such fetch at once, and while it stands in the gate the broker hears nothing.
Before all that: brokers that were killed together are noticed one by one, each when its session ends.
Upward: a leader's wish to change the ISR reaches the controller, and the answer its leader.

Sources: ControllerChannelManager.RequestSendThread, AlterPartitionManager, KafkaRaftClient; KIP-497.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.events import (
    BrokerRemoved,
    DecisionReceived,
    JoinAnswered,
    JoinCommitted,
    JoinRefused,
    ShrinkAnswered,
    ShrinkCommitted,
)
from oracle.replication import joining
from oracle.replication.electing import awaiting
from oracle.rules import kip_497
from oracle.vocabulary import PointName, Timing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.events import Event
    from oracle.state import ReplicaState
    from oracle.vocabulary import BrokerId
    from oracle.world import World

    Move = tuple[Event | None, World]


def settled(world: World) -> World:
    """Let everything happen that no hold blocks, the elected leader first."""
    while possible := moves(world):
        _, world = possible[0]
    return world


def moves(world: World) -> tuple[Move, ...]:
    """Return what can happen next: an event with the world after it, or no event where a hold catches a frame."""
    caught = _caught_at_once(world)
    if caught is not None:
        return ((None, caught),)
    return (*_removals(world), *_isr_changes(world), *_deliveries(world))


def unnoticed(world: World) -> tuple[BrokerId, ...]:
    """Return the dead brokers whose sessions are about to end."""
    if world.timing is not Timing.SESSION:
        return ()
    registered = world.state.controller.registered
    return tuple(r.broker for r in world.state.replicas if not r.alive and r.broker in registered)


def _removals(world: World) -> Iterator[Move]:
    for broker in unnoticed(world):
        event = BrokerRemoved(broker)
        yield event, world.apply(event)


def _caught_at_once(world: World) -> World | None:
    """Let a hold have the metadata fetch of a broker, or the UpdateMetadata that it is sent."""
    live = frozenset(r.broker for r in world.state.replicas if r.alive) - world.obstacles.deaf
    gate = world.gate.with_metadata_fetches(live).with_updates_sent(live)
    return None if gate == world.gate else replace(world, gate=gate)


def _deliveries(world: World) -> Iterator[Move]:
    for broker in awaiting(world.state):
        if world.blocks_decisions(broker):
            continue
        is_stop = world.state.replica(broker).undelivered[0].deletes
        request = PointName.STOP_REPLICA if is_stop else PointName.LEADER_AND_ISR
        gate = world.gate.caught_by(request, broker)
        if gate is None:
            event = DecisionReceived(broker)
            yield event, _answered(world.apply(event), broker, is_stop=is_stop)
        else:
            yield None, replace(world, gate=gate)


def _answered(world: World, broker: BrokerId, *, is_stop: bool) -> World:
    """Let a hold catch a broker's answer to LeaderAndIsr: the controller sends nothing more until it has that."""
    gate = None if is_stop else world.gate.caught_by(PointName.LEADER_AND_ISR_RESPONSE, broker)
    return world if gate is None else replace(world, gate=gate)


def _isr_changes(world: World) -> Iterator[Move]:
    """Return what can become of leaders' wishes; that of a leader whom the controller refuses stays pending."""
    if not any(replica.has_isr_request for replica in world.state.replicas):
        return
    for leader in world.state.replicas:
        if not leader.has_isr_request or world.blocks_isr_changes(leader.broker):
            continue
        gate = world.gate.caught_by(PointName.ALTER_PARTITION_REQUEST, leader.broker)
        if gate is not None:
            yield None, replace(world, gate=gate)
        elif leader.isr_answer is not None and kip_497.takes_answer(leader.isr_answer, leader):
            event = _late_answer(leader)
            yield event, world.apply(event)
        elif joining.refusal(world.state, leader) is None:
            yield _isr_change(world, leader)


def _isr_change(world: World, leader: ReplicaState) -> Move:
    """Let the controller commit a wish; a hold may catch its answer."""
    gate = world.gate.caught_by(PointName.ALTER_PARTITION_RESPONSE, leader.broker)
    event = _commit(world, leader, is_answered=gate is None)
    after = world.apply(event)
    return event, after if gate is None else replace(after, gate=gate)


def _late_answer(leader: ReplicaState) -> Event:
    return ShrinkAnswered(leader.broker) if leader.leaving else JoinAnswered(min(leader.joining), leader.broker)


def _commit(world: World, leader: ReplicaState, *, is_answered: bool) -> Event:
    if leader.leaving:
        return ShrinkCommitted(is_answered=is_answered)
    follower = min(leader.joining)
    if not joining.is_eligible(world.state, leader, follower, world.rules):
        return JoinRefused(follower)
    return JoinCommitted(follower, is_answered=is_answered)
