"""How does the model run to rest? It moves every link that no hold blocks until nothing changes.

A ``World`` is the partition plus the armed holds. A hold catches one frame: a request hold the
next matching request sent after it was armed; a response hold the answer to the next matching
request that reached the leader after it was armed. A link with a caught frame stands still: a
follower has one request in flight.

Sources: architecture, "Contract of a step" 1-3; AbstractFetcherThread (one request per fetcher).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oracle.electing import checkpoint_high_watermarks
from oracle.events import (
    BrokerDied,
    Event,
    FetchCompleted,
    JoinCommitted,
    RequestReceived,
    RequestSent,
    ResponseReceived,
)
from oracle.state import Fetch, FetchKind, FetchStage, PartitionState
from oracle.transitions import Refusal, step
from oracle.vocabulary import HighWatermarkCheckpoint, PointName, Role

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.steps import Hold
    from oracle.vocabulary import BrokerId

POINTS = {
    PointName.FETCH_REQUEST: (FetchKind.FETCH, FetchStage.REQUESTED),
    PointName.FETCH_RESPONSE: (FetchKind.FETCH, FetchStage.ANSWERED),
    PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST: (FetchKind.EPOCH_LOOKUP, FetchStage.REQUESTED),
    PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE: (FetchKind.EPOCH_LOOKUP, FetchStage.ANSWERED),
}
"""The points the model can predict a hold at."""


class ImpossibleEventError(ValueError):
    """An event that no rule allows in this state."""


@dataclass(frozen=True, slots=True)
class ArmedHold:
    """A hold from the step that armed it until its frame is let go.

    Attributes:
        remaining: matching frames still to let pass, counting the one to catch.
        marked: a response hold whose request has reached the leader.
        caught: the frame stands in the gate.
    """

    hold: Hold
    remaining: int
    marked: bool = False
    caught: bool = False

    def matches(self, follower: BrokerId, fetch: Fetch) -> bool:
        """Tell whether this hold is about that request (or its answer)."""
        kind, _ = POINTS[self.hold.point]
        same_link = (follower, fetch.leader) == (self.hold.follower, self.hold.leader)
        same_offset = self.hold.fetch_offset in (None, fetch.offset)
        return same_link and kind is fetch.kind and same_offset and not self.caught

    @property
    def holds_responses(self) -> bool:
        """Whether it catches answers rather than requests."""
        return POINTS[self.hold.point][1] is FetchStage.ANSWERED


@dataclass(frozen=True, slots=True)
class World:
    """The partition, the gate and the rules it all runs under."""

    state: PartitionState
    rules: RuleSet
    checkpointing: HighWatermarkCheckpoint
    order: tuple[BrokerId, ...]
    holds: tuple[ArmedHold, ...] = field(default=())

    def apply(self, event: Event) -> World:
        """Apply an event that the rules must allow.

        Raises:
            ImpossibleEventError: if the rules refuse it; the message says why.
        """
        result = step(self.state, event, self.rules)
        if isinstance(result, Refusal):
            raise ImpossibleEventError(result.reason)
        world = replace(self, state=result.state)
        if isinstance(event, BrokerDied):
            return replace(world, holds=tuple(h for h in self.holds if not _touches(h, event.broker)))
        return world

    def hold_named(self, name: str) -> ArmedHold | None:
        """Return an armed or caught hold."""
        return next((armed for armed in self.holds if armed.hold.name == name), None)

    def arm(self, hold: Hold) -> World:
        """Arm a hold; it sees frames from now on."""
        return replace(self, holds=(*self.holds, ArmedHold(hold, hold.nth)))

    def let_go(self, name: str) -> World:
        """Forget a hold, so that its link moves again."""
        return replace(self, holds=tuple(h for h in self.holds if h.hold.name != name))

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


def _touches(armed: ArmedHold, broker: BrokerId) -> bool:
    return broker in (armed.hold.follower, armed.hold.leader)


def _round(world: World, follower: BrokerId) -> World:
    """Run one fetch round of a follower as far as holds let it."""
    world = _commit_joins(world)
    for advance in (_complete, _respond, _request, _arrive):
        if _is_blocked(world, follower):
            return world
        world = advance(world, follower)
    return world


def _commit_joins(world: World) -> World:
    leader = world.state.serving_leader()
    for follower in sorted(leader.joining) if leader else ():
        world = world.apply(JoinCommitted(follower))
    return world


def _is_blocked(world: World, follower: BrokerId) -> bool:
    leader = world.state.replica(follower).leader
    return any(armed.caught and (armed.hold.follower, armed.hold.leader) == (follower, leader) for armed in world.holds)


def _fetch_at(world: World, follower: BrokerId, stage: FetchStage) -> Fetch | None:
    fetch = world.state.replica(follower).fetch
    return fetch if fetch is not None and fetch.stage is stage else None


def _complete(world: World, follower: BrokerId) -> World:
    parked = _fetch_at(world, follower, FetchStage.PARKED)
    return world.apply(FetchCompleted(follower)) if parked else world


def _respond(world: World, follower: BrokerId) -> World:
    fetch = _fetch_at(world, follower, FetchStage.ANSWERED)
    if fetch is None:
        return world
    marked = next((h for h in world.holds if h.marked and h.matches(follower, fetch)), None)
    if marked is not None:
        return _replaced(world, marked, replace(marked, caught=True))
    return world.apply(ResponseReceived(follower))


def _request(world: World, follower: BrokerId) -> World:
    replica = world.state.replica(follower)
    idle = replica.alive and replica.role is Role.FOLLOWER and replica.fetch is None and not replica.stuck
    leader = world.state.serving_leader()
    if not idle or leader is None or leader.broker != replica.leader:
        return world
    world = world.apply(RequestSent(follower))
    return _noticed(world, follower, holds_responses=False)


def _arrive(world: World, follower: BrokerId) -> World:
    fetch = _fetch_at(world, follower, FetchStage.REQUESTED)
    if fetch is None:
        return world
    world = _noticed(world, follower, holds_responses=True)
    world = world.apply(RequestReceived(follower))
    answered = _fetch_at(world, follower, FetchStage.ANSWERED)
    return _respond(world, follower) if answered and not _is_blocked(world, follower) else world


def _noticed(world: World, follower: BrokerId, *, holds_responses: bool) -> World:
    """Count a request that passes; the hold whose turn it is catches it or marks its answer."""
    fetch = world.state.replica(follower).fetch
    assert fetch is not None
    for armed in world.holds:
        if armed.holds_responses is not holds_responses or armed.marked or not armed.matches(follower, fetch):
            continue
        remaining = armed.remaining - 1
        is_turn = remaining == 0
        caught = is_turn and not holds_responses
        world = _replaced(
            world, armed, replace(armed, remaining=remaining, caught=caught, marked=is_turn and not caught)
        )
    return world


def _replaced(world: World, old: ArmedHold, new: ArmedHold) -> World:
    return replace(world, holds=tuple(new if armed is old else armed for armed in world.holds))
