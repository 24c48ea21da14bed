"""Who removes a silent replica from the ISR? What the two timing profiles make of a kill and of passing time.

``session``: the controller, because the broker's session ends within seconds; the lag time is longer
than any schedule. ``lag``: the leader, because the lag time passes; the session is longer, so that the
controller does not notice a kill, and the dead broker's registration stays in the way of a new start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle import obstructing
from oracle.events import BrokerDied, BrokerRemoved, BrokerReturned, LagPassed
from oracle.vocabulary import Role, Timing
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from oracle.vocabulary import BrokerId
    from oracle.world import World


def end(world: World, broker: BrokerId, *, graceful: bool) -> World:
    """End a broker; the controller notices a graceful end always, a kill only by the session.

    Raises:
        ImpossibleEventError: it does not run, or it shall end gracefully and cannot tell the controller.
    """
    if graceful:
        obstructing.require_hearing(world, broker, "stopped")
    world = world.apply(BrokerDied(broker, graceful=graceful))
    is_noticed = graceful or world.timing is Timing.SESSION
    return world.apply(BrokerRemoved(broker)) if is_noticed else world


def end_together(world: World, brokers: tuple[BrokerId, ...]) -> World:
    """Kill brokers at once; by the session the controller notices them later, in whatever order (``controlling``)."""
    for broker in brokers:
        world = world.apply(BrokerDied(broker, graceful=False))
    return world


def start(world: World, broker: BrokerId) -> World:
    """Start a broker with its old files.

    Raises:
        ImpossibleEventError: if it runs, if its predecessor, killed or hung, is still registered, or if its leader
            cannot know.
    """
    obstructing.require_hearing(world, broker, "started")
    obstructing.require_known_to_leader(world, broker)
    replica = world.state.replica(broker)
    if not replica.alive and broker in world.state.controller.registered:
        message = f"broker {broker} was killed under timing: lag and is still registered: it cannot start again"
        raise ImpossibleEventError(message)
    if replica.stuck and not replica.alive and world.timing is Timing.LAG:
        message = (
            f"broker {broker} hung in its shutdown, and under timing: lag its session stays: it cannot start again"
        )
        raise ImpossibleEventError(message)
    return world.apply(BrokerReturned(broker, clean=replica.shut_down_cleanly))


def let_lag_pass(world: World) -> World:
    """Let replica.lag.time.max.ms pass at rest, so that the leader looks at its ISR.

    Raises:
        ImpossibleEventError: if nobody leads.
    """
    return world.apply(LagPassed(silent_followers(world)))


def silent_followers(world: World) -> tuple[BrokerId, ...]:
    """Return those whose fetches do not reach the leader, or do not show that they have everything."""
    leader = world.state.controller.leader
    return tuple(b for b in sorted(world.state.assignment) if b != leader and _is_silent(world, b))


def _is_silent(world: World, broker: BrokerId) -> bool:
    replica, leader = world.state.replica(broker), world.state.controller.leader
    follows = replica.alive and replica.role is Role.FOLLOWER and replica.leader == leader
    is_kept = world.gate.blocks(broker, leader) or world.obstacles.severs(broker, leader)
    return not follows or replica.stuck or replica.truncating or is_kept or broker in world.obstacles.paused
