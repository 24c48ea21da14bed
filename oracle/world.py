"""How does the model run to rest? It moves every link that no hold blocks until nothing changes.

A ``World`` is the partition plus the gate: the holds that are armed or hold a frame. A link with a
held frame stands still, since a follower has one request in flight.

Sources: architecture, "Contract of a step" 1-3; AbstractFetcherThread (one request per fetcher).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle.events import (
    BrokerRemoved,
    BrokerReturned,
    DecisionReceived,
    Event,
    FetchCompleted,
    IsrEvent,
    JoinAnswered,
    JoinCommitted,
    JoinRefused,
    LinkEvent,
    RequestReceived,
    RequestSent,
    ResponseReceived,
    ShrinkAnswered,
    ShrinkCommitted,
)
from oracle.gate import POINTS as POINTS  # part of this module's public names
from oracle.gate import ModelledGate, SlowNews
from oracle.replacing import replace
from oracle.replication import joining
from oracle.replication.electing import awaiting, checkpoint_high_watermarks
from oracle.rules import isr
from oracle.state import FetchInFlight, FetchStage, PartitionState, ReplicaState
from oracle.transitions import Refusal, step
from oracle.vocabulary import HighWatermarkCheckpoint, PointName, ReplicaRole, Timing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.vocabulary import BrokerId

    Link = tuple[BrokerId, BrokerId | None]


_AT_FOLLOWER = (None, FetchStage.ANSWERED)
"""Where a request is whose next half-step its follower takes: none is under way, or its answer has come."""


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What keeps frames from passing besides holds? Paused brokers, cut links and isolated brokers.

    A paused broker does nothing: it sends no request, handles no answer, serves nobody and hears nothing, while its
    connections stay. On a cut link a fetch is lost with its connection and tried again in vain. An isolated broker has
    every link cut, those between it and the controller too: it goes on in its old role, alone.

    Sources: SIGSTOP; AbstractFetcherThread (a lost fetch is repeated), ControllerChannelManager.RequestSendThread,
    BrokerToControllerChannelManager (a lost request is repeated).

    Attributes:
        paused: brokers that are frozen.
        isolated: brokers that reach no other node, and are reached by none.
        cuts: links (follower, leader) that lose every fetch.
        untried: those of them on which no fetch has been tried since they were cut.
    """

    paused: frozenset[BrokerId] = frozenset()
    isolated: frozenset[BrokerId] = frozenset()
    cuts: frozenset[Link] = frozenset()
    untried: frozenset[Link] = frozenset()

    def severs(self, follower: BrokerId, leader: BrokerId | None) -> bool:
        """Return whether no fetch of one broker reaches another."""
        return (follower, leader) in self.cuts or not self.isolated.isdisjoint((follower, leader))

    def stops(self, follower: BrokerId, leader: BrokerId | None, stage: FetchStage | None) -> bool:
        """Return whether a follower's request, at some stage or not sent yet, can make no half-step."""
        next_to_act = follower if stage in _AT_FOLLOWER else leader
        return next_to_act in self.paused or self.severs(follower, leader)

    @property
    def unreachable(self) -> frozenset[BrokerId]:
        """Return the brokers that hear no decision, and that the controller does not hear."""
        return self.paused | self.isolated

    def with_paused(self, broker: BrokerId) -> Obstacles:
        """Return the obstacles with one more broker frozen."""
        return replace(self, paused=self.paused | {broker})

    def without_paused(self, broker: BrokerId) -> Obstacles:
        """Return the obstacles after a broker goes on, or has died."""
        return replace(self, paused=self.paused - {broker})

    def with_isolated(self, broker: BrokerId) -> Obstacles:
        """Return the obstacles with one more broker alone."""
        return replace(self, isolated=self.isolated | {broker})

    def without_isolated(self, broker: BrokerId) -> Obstacles:
        """Return the obstacles after a broker's links work again."""
        return replace(self, isolated=self.isolated - {broker})

    def with_cut(self, follower: BrokerId, leader: BrokerId) -> Obstacles:
        """Return the obstacles with one more link cut."""
        link = (follower, leader)
        return replace(self, cuts=self.cuts | {link}, untried=self.untried | {link})

    def with_tried(self, follower: BrokerId, leader: BrokerId | None) -> Obstacles:
        """Return the obstacles after a follower has tried to fetch from a leader."""
        link = (follower, leader)
        return replace(self, untried=self.untried - {link}) if link in self.untried else self

    def without_cut(self, follower: BrokerId, leader: BrokerId) -> Obstacles:
        """Return the obstacles after a link is healed."""
        return replace(self, cuts=self.cuts - {(follower, leader)})


MOVES_MAX = 1_000
"""More moves of the controller than any release makes before all is told and every wish is answered."""


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
    gate: ModelledGate = field(default_factory=ModelledGate)
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
            fetch = self.state.replica(broker).fetch
            gate, obstacles = gate.without_dead(broker, fetch), obstacles.without_paused(broker)
        if isinstance(event, DecisionReceived):
            gate = gate.with_decision_heard(event.broker)
            gate = self._without_closed_connection(gate, self.state.replica(event.broker), result.state)
        if result.state.assignment != self.state.assignment:
            self._require_removal_heard(result.state)
        if result.state.controller != self.state.controller:
            gate = self._with_slow_news(gate, event)
            gate = gate.with_updates_due(self._decisions_before_update(event, result.state))
        return replace(self, state=result.state, gate=gate, obstacles=obstacles).with_cuts_tried()

    def with_cuts_tried(self) -> World:
        """Note on which cut links followers try to fetch: every one that is awake and whose leader runs."""
        obstacles = self.obstacles
        for replica in self.state.replicas if obstacles.untried else ():
            if fetches(self.state, replica) and replica.broker not in obstacles.paused:
                obstacles = obstacles.with_tried(replica.broker, replica.leader)
        return replace(self, obstacles=obstacles)

    def _require_removal_heard(self, after: PartitionState) -> None:
        """Refuse to take a replica away that fetches on, since a hold keeps the decision from its broker.

        Up to 2.6 nobody keeps it from the ISR but its leader, which knows it no more (Partition.makeLeader).

        Raises:
            ImpossibleEventError: names the broker.
        """
        for broker in () if self.rules.asks_controller_to_join else self.state.assignment:
            follows = self.state.replica(broker).role is ReplicaRole.FOLLOWER and after.assignment
            if follows and broker not in after.assignment and self.gate.blocks_decisions(broker):
                message = f"a hold keeps from broker {broker} that it is no replica any more, and it fetches on"
                raise ImpossibleEventError(f"{message}: let that frame go before")

    def _with_slow_news(self, gate: ModelledGate, event: Event) -> ModelledGate:
        """Note that brokers are told later of an ISR that a leader wrote to ZooKeeper, and what is told before that."""
        if self.rules.asks_controller_to_join:
            return gate
        if isinstance(event, LinkEvent | IsrEvent):
            return replace(gate, slow_news=gate.slow_news or SlowNews.DUE)
        return replace(gate, slow_news=gate.slow_news and SlowNews.KNOWN)

    def _decisions_before_update(self, event: Event, after: PartitionState) -> dict[BrokerId | None, int]:
        """Return behind how many decisions each registered broker is sent UpdateMetadata.

        It follows the decision that it tells, unless the controller tells what it knows before it decides.
        """
        is_first = isinstance(event, BrokerReturned) and self.rules.delivery.tells_metadata_first
        told = self.state if is_first else after
        return {b: len(told.replica(b).undelivered) for b in after.controller.registered}

    def _without_closed_connection(
        self, gate: ModelledGate, before: ReplicaState, after: PartitionState
    ) -> ModelledGate:
        """Lose what the connection to a follower's former leader carried, if a decision has ended its fetcher.

        Raises:
            ImpossibleEventError: the release does not close it, and waits for what is held.
        """
        replica = after.replica(before.broker)
        is_ended = (
            before.role is ReplicaRole.FOLLOWER
            and replica.role is not ReplicaRole.NONE
            and replica.leader != before.leader
        )
        if not is_ended or before.leader is None or not gate.blocks(before.broker, before.leader):
            return gate
        if self.rules.closes_former_fetch:
            return gate.without_connection(before.broker, before.leader, before.fetch)
        message = (
            f"broker {before.broker} takes another leader while a hold has its fetch: up to Kafka 1.0 it waits for the "
            f"answer and hears nothing more (KAFKA-6051); let the frame go before"
        )
        raise ImpossibleEventError(message)

    def blocks_decisions(self, broker: BrokerId) -> bool:
        """Return whether a broker hears no decision of the controller."""
        return broker in self.obstacles.unreachable or self.gate.blocks_decisions(broker)

    def blocks_isr_changes(self, leader: BrokerId) -> bool:
        """Return whether a leader's wish to change the ISR, or its answer, does not get through."""
        return leader in self.obstacles.unreachable or self.gate.blocks_isr_changes(leader)

    def _gate_after(self, event: Event) -> ModelledGate:
        if not isinstance(event, BrokerReturned) or self.state.replica(event.broker).alive:
            return self.gate
        if self.gate.waits_for_running(event.broker):
            message = f"broker {event.broker} starts with its channel to the controller held: arm the hold once it runs"
            raise ImpossibleEventError(message)
        return self.gate.with_started(event.broker)

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


def fetches(state: PartitionState, replica: ReplicaState) -> bool:
    """Return whether a follower fetches from a leader that runs."""
    is_follower = replica.alive and replica.role is ReplicaRole.FOLLOWER and not replica.stuck
    return is_follower and replica.leader is not None and state.replica(replica.leader).alive


def _ended(before: PartitionState, after: PartitionState) -> list[BrokerId]:
    """Return the brokers that an event has ended, or that it made end themselves."""
    pairs = zip(before.replicas, after.replicas, strict=True)
    return [old.broker for old, new in pairs if old.alive and not new.alive]


def _round(world: World, follower: BrokerId) -> World:
    """Run one fetch round of a follower as far as holds let it."""
    world = settled(world)
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


def _fetch_at(world: World, follower: BrokerId, stage: FetchStage) -> FetchInFlight | None:
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
    is_idle = replica.alive and replica.role is ReplicaRole.FOLLOWER and replica.fetch is None and not replica.stuck
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


# What do the frames between the controller and the brokers do next? Each on its own channel, unless held.
#
# Downward: a decision reaches its broker. One frame at a time is under way per broker, so a held one
# keeps back every later decision. In KRaft mode a broker fetches metadata all the time: a hold catches
# the next such fetch at once, and while it stands in the gate the broker hears nothing.
# Before all that: brokers that were killed together are noticed one by one, each when its session ends.
# Upward: a leader's wish to change the ISR reaches the controller, and the answer its leader.
#
# Sources: ControllerChannelManager.RequestSendThread, AlterPartitionManager, KafkaRaftClient; KIP-497.


def settled(world: World) -> World:
    """Let everything happen that no hold blocks, the elected leader first.

    Raises:
        ImpossibleEventError: it never ends.
    """
    for _ in range(MOVES_MAX):
        possible = controller_moves(world)
        if not possible:
            return world
        _, world = possible[0]
    raise ImpossibleEventError("controller and leader never come to rest")


def controller_moves(world: World) -> tuple[tuple[Event | None, World], ...]:
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


def _removals(world: World) -> Iterator[tuple[Event | None, World]]:
    for broker in unnoticed(world):
        event = BrokerRemoved(broker)
        yield event, world.apply(event)


def _caught_at_once(world: World) -> World | None:
    """Let a hold have the metadata fetch of a broker, or the UpdateMetadata that it is sent."""
    live = frozenset(r.broker for r in world.state.replicas if r.alive) - world.obstacles.unreachable
    gate = world.gate.with_metadata_fetches(live).with_updates_sent(live)
    return None if gate == world.gate else replace(world, gate=gate)


def _deliveries(world: World) -> Iterator[tuple[Event | None, World]]:
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


def _isr_changes(world: World) -> Iterator[tuple[Event | None, World]]:
    """Return what can become of leaders' wishes; that of a leader whom the controller refuses stays pending."""
    if not any(replica.has_isr_request for replica in world.state.replicas):
        return
    for leader in world.state.replicas:
        if not leader.has_isr_request or world.blocks_isr_changes(leader.broker):
            continue
        gate = world.gate.caught_by(PointName.ALTER_PARTITION_REQUEST, leader.broker)
        if gate is not None:
            yield None, replace(world, gate=gate)
        elif leader.isr_answer is not None and isr.takes_answer(leader.isr_answer, leader):
            event = _late_answer(leader)
            yield event, world.apply(event)
        elif joining.refusal(world.state, leader) is None:
            yield _isr_change(world, leader)


def _isr_change(world: World, leader: ReplicaState) -> tuple[Event | None, World]:
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
