"""How does the model run to rest? It moves every link that no hold blocks until nothing changes.

A ``World`` is the partition plus the gate: the holds that are armed or hold a frame. A link with a
held frame stands still, since a follower has one request in flight.

Sources: architecture, "Contract of a step" 1-3; AbstractFetcherThread (one request per fetcher).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oracle import controlling
from oracle.events import (
    BrokerReturned,
    DecisionReceived,
    Event,
    FetchCompleted,
    RequestReceived,
    RequestSent,
    ResponseReceived,
)
from oracle.gate import POINTS as POINTS  # part of this module's public names
from oracle.gate import Gate
from oracle.obstacles import Obstacles
from oracle.replication.electing import checkpoint_high_watermarks
from oracle.state import Fetch, FetchStage, PartitionState, ReplicaState
from oracle.transitions import Refusal, step
from oracle.vocabulary import HighWatermarkCheckpoint, Role, Timing

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.vocabulary import BrokerId


class ImpossibleEventError(ValueError):
    """An event that no rule allows in this state."""


@dataclass(frozen=True, slots=True)
class World:
    """The partition, the gate and the rules it all runs under.

    Attributes:
        timing: who removes a silent replica from the ISR.
        order: in which order followers take their turns in a round.
        obstacles: the brokers and links that stand still, whatever frames they have.
    """

    state: PartitionState
    rules: RuleSet
    checkpointing: HighWatermarkCheckpoint
    order: tuple[BrokerId, ...]
    gate: Gate = field(default_factory=Gate)
    timing: Timing = Timing.SESSION
    obstacles: Obstacles = field(default_factory=Obstacles)

    def apply(self, event: Event) -> World:
        """Apply an event that the rules must allow.

        Raises:
            ImpossibleEventError: if the rules refuse it; the message says why.
        """
        result = step(self.state, event, self.rules)
        if isinstance(result, Refusal):
            raise ImpossibleEventError(result.reason)
        gate, obstacles = self._gate_after(event), self.obstacles
        for broker in _ended(self.state, result.state):
            gate, obstacles = gate.without_broker(broker), obstacles.without_paused(broker)
        if isinstance(event, DecisionReceived):
            gate = gate.with_decision_heard(event.broker)
            gate = self._without_closed_connection(gate, self.state.replica(event.broker), result.state)
        if result.state.controller != self.state.controller:
            gate = gate.with_updates_due(self._decisions_before_update(event, result.state))
        return replace(self, state=result.state, gate=gate, obstacles=obstacles).with_cuts_tried()

    def with_cuts_tried(self) -> World:
        """Note on which cut links followers try to fetch: every one that is awake and whose leader runs."""
        obstacles = self.obstacles
        for replica in self.state.replicas if obstacles.untried else ():
            if _fetches(self.state, replica) and replica.broker not in obstacles.paused:
                obstacles = obstacles.with_tried(replica.broker, replica.leader)
        return replace(self, obstacles=obstacles)

    def _decisions_before_update(self, event: Event, after: PartitionState) -> dict[BrokerId | None, int]:
        """Return behind how many decisions each registered broker is sent UpdateMetadata.

        It follows the decision that it tells, unless the controller tells what it knows before it decides.
        """
        is_first = isinstance(event, BrokerReturned) and self.rules.delivery.tells_metadata_first
        told = self.state if is_first else after
        return {b: len(told.replica(b).undelivered) for b in after.controller.registered}

    def _without_closed_connection(self, gate: Gate, before: ReplicaState, after: PartitionState) -> Gate:
        """Lose what the connection to a follower's former leader carried, if a decision has ended its fetcher.

        Raises:
            ImpossibleEventError: the release does not close it, and waits for what is held.
        """
        replica = after.replica(before.broker)
        is_ended = before.role is Role.FOLLOWER and replica.role is not Role.NONE and replica.leader != before.leader
        if not is_ended or before.leader is None or not gate.blocks(before.broker, before.leader):
            return gate
        if self.rules.closes_former_fetch:
            return gate.without_connection(before.broker, before.leader)
        message = (
            f"broker {before.broker} takes another leader while a hold has its fetch: up to Kafka 1.0 it waits for the "
            f"answer and hears nothing more (KAFKA-6051); let the frame go before"
        )
        raise ImpossibleEventError(message)

    def blocks_decisions(self, broker: BrokerId) -> bool:
        """Tell whether a broker hears no decision of the controller."""
        return broker in self.obstacles.deaf or self.gate.blocks_decisions(broker)

    def blocks_isr_changes(self, leader: BrokerId) -> bool:
        """Tell whether a leader's wish to change the ISR, or its answer, does not get through."""
        return leader in self.obstacles.deaf or self.gate.blocks_isr_changes(leader)

    def _gate_after(self, event: Event) -> Gate:
        if not isinstance(event, BrokerReturned) or self.state.replica(event.broker).alive:
            return self.gate
        if self.gate.waits_for_running(event.broker):
            message = f"broker {event.broker} starts with its channel to the controller held: arm the hold once it runs"
            raise ImpossibleEventError(message)
        return self.gate

    def settle(self) -> World:
        """Run all replication that no hold blocks, until a whole round changes nothing."""
        world = self
        while True:
            before = world
            for follower in world.order:
                world = _round(world, follower)
            if world.checkpointing is HighWatermarkCheckpoint.PROMPT:
                world = replace(world, state=checkpoint_high_watermarks(world.state))
            if world == before:
                return world


def _fetches(state: PartitionState, replica: ReplicaState) -> bool:
    """Tell whether a follower fetches from a leader that runs."""
    is_follower = replica.alive and replica.role is Role.FOLLOWER and not replica.stuck
    return is_follower and replica.leader is not None and state.replica(replica.leader).alive


def _ended(before: PartitionState, after: PartitionState) -> list[BrokerId]:
    """Return the brokers that an event has ended, or that it made end themselves."""
    pairs = zip(before.replicas, after.replicas, strict=True)
    return [old.broker for old, new in pairs if old.alive and not new.alive]


def _round(world: World, follower: BrokerId) -> World:
    """Run one fetch round of a follower as far as holds let it."""
    world = controlling.settled(world)
    for advance in (_complete, _respond, _request, _arrive, _respond):
        if _is_blocked(world, follower):
            return world
        world = advance(world, follower)
    return world


def half_step(world: World, follower: BrokerId) -> World:
    """Move a follower's request by one half-step; the same world if it has none to take or a hold has its frame."""
    if _is_blocked(world, follower):
        return world
    fetch = world.state.replica(follower).fetch
    if fetch is None:
        return _request(world, follower)
    return _HALF_STEPS[fetch.stage](world, follower)


def _is_blocked(world: World, follower: BrokerId) -> bool:
    replica = world.state.replica(follower)
    stage = None if replica.fetch is None else replica.fetch.stage
    return world.gate.blocks(follower, replica.leader) or world.obstacles.stops(follower, replica.leader, stage)


def _fetch_at(world: World, follower: BrokerId, stage: FetchStage) -> Fetch | None:
    fetch = world.state.replica(follower).fetch
    return fetch if fetch is not None and fetch.stage is stage else None


def _complete(world: World, follower: BrokerId) -> World:
    parked = _fetch_at(world, follower, FetchStage.PARKED)
    return world.apply(FetchCompleted(follower)) if parked else world


def _respond(world: World, follower: BrokerId) -> World:
    """Let the follower have its answer, unless a hold has marked that answer."""
    fetch = _fetch_at(world, follower, FetchStage.ANSWERED)
    if fetch is None:
        return world
    gate = world.gate.with_response(follower, fetch)
    return world.apply(ResponseReceived(follower)) if gate is None else replace(world, gate=gate)


def _request(world: World, follower: BrokerId) -> World:
    """Let an idle follower send its next request; a hold may catch it on its way."""
    replica = world.state.replica(follower)
    is_idle = replica.alive and replica.role is Role.FOLLOWER and replica.fetch is None and not replica.stuck
    if not is_idle or replica.leader is None or world.state.presumed_leader(replica.leader) is None:
        return world
    world = world.apply(RequestSent(follower))
    sent = _fetch_at(world, follower, FetchStage.REQUESTED)
    assert sent is not None
    return replace(world, gate=world.gate.with_request(follower, sent))


def _arrive(world: World, follower: BrokerId) -> World:
    """Let the leader have the request; one that it refuses is repeated, and no hold counts it."""
    fetch = _fetch_at(world, follower, FetchStage.REQUESTED)
    if fetch is None:
        return world
    world = world.apply(RequestReceived(follower))
    if world.state.replica(follower).fetch is None:
        return world
    return replace(world, gate=world.gate.with_forwarded(follower, fetch))


_HALF_STEPS = {FetchStage.PARKED: _complete, FetchStage.REQUESTED: _arrive, FetchStage.ANSWERED: _respond}
