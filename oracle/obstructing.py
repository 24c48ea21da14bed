"""What do pauses, cuts, kills, starts and the lag time change, and what does the controller make of it?

Under ``timing: session`` the controller takes a broker for dead that it does not hear: a paused one, and in
KRaft mode an isolated one, whose heartbeats are cut. It has lost nothing when it comes back: it is a zombie
until it hears what was decided. ZooKeeper goes on hearing an isolated broker, since that link is not cut.

Not predicted, and refused: a pause of the leader under ``timing: lag`` (when it goes on it may look at its ISR
before anybody has fetched), and whatever reaches a paused broker meanwhile, since no rule says what it does first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.events import BrokerDied, BrokerRemoved, BrokerReturned, LagPassed, RequestLost
from oracle.vocabulary import MetadataMode, PointName, ReplicaRole, Timing
from oracle.world import ImpossibleEventError, fetches

if TYPE_CHECKING:
    from oracle.vocabulary import BrokerId
    from oracle.world import World


def pause(world: World, broker: BrokerId) -> World:
    """Freeze a broker; under session the controller removes it.

    Raises:
        ImpossibleEventError: it cannot be frozen, or what follows cannot be predicted.
    """
    _require_reached(world, broker)
    if world.timing is Timing.LAG and world.state.replica(broker).role is ReplicaRole.LEADER:
        message = f"broker {broker} leads: under timing: lag nobody knows what it does first when it goes on"
        raise ImpossibleEventError(message)
    for other in world.state.replicas:
        if world.gate.blocks(other.broker, broker):
            message = f"a hold has a frame from broker {other.broker} to broker {broker}, which gives it up: let it go"
            raise ImpossibleEventError(message)
    world = replace(world, obstacles=world.obstacles.with_paused(broker))
    return _noticed(world, broker) if world.timing is Timing.SESSION else world


def resume(world: World, broker: BrokerId) -> World:
    """Let a frozen broker go on; the controller takes it back if it had removed it.

    Raises:
        ImpossibleEventError: it is not frozen.
    """
    if broker not in world.obstacles.paused:
        raise ImpossibleEventError(f"broker {broker} is not paused")
    return _returned(replace(world, obstacles=world.obstacles.without_paused(broker)), broker)


def cut(world: World, follower: BrokerId, leader: BrokerId) -> World:
    """Lose every fetch of a follower to a leader, the one under way and what holds have of it too.

    Raises:
        ImpossibleEventError: the link is cut already.
    """
    if world.obstacles.severs(follower, leader):
        raise ImpossibleEventError(f"no fetch of broker {follower} reaches broker {leader} already")
    world = _without_request(world, follower, leader)
    gate = world.gate.without_link(follower, leader)
    return replace(world, gate=gate, obstacles=world.obstacles.with_cut(follower, leader)).with_cuts_tried()


def heal(world: World, follower: BrokerId, leader: BrokerId) -> World:
    """Let fetches of a follower reach a leader again.

    Raises:
        ImpossibleEventError: the link is not cut, or the leader cannot take a fetch now.
    """
    if (follower, leader) not in world.obstacles.cuts:
        raise ImpossibleEventError(f"the link from broker {follower} to broker {leader} is not cut")
    if (follower, leader) in world.obstacles.untried:
        raise ImpossibleEventError(f"broker {follower} never fetches from broker {leader} while that link is cut")
    if leader in world.obstacles.paused:
        raise ImpossibleEventError(f"broker {leader} is paused: resume it before")
    return replace(world, obstacles=world.obstacles.without_cut(follower, leader))


def isolate(world: World, broker: BrokerId) -> World:
    """Cut every link of a broker; in KRaft mode and under session the controller fences it.

    Raises:
        ImpossibleEventError: it cannot be cut off.
    """
    _require_reached(world, broker)
    _require_linked(world, broker)
    world = _without_request(world, broker, world.state.replica(broker).leader)
    for other in world.state.replicas:
        world = _without_request(world, other.broker, broker)
    gate = world.gate.without_broker(broker)
    world = replace(world, gate=gate, obstacles=world.obstacles.with_isolated(broker))
    is_fenced = world.timing is Timing.SESSION and world.rules.metadata is MetadataMode.KRAFT
    return _noticed(world, broker) if is_fenced else world


def rejoin(world: World, broker: BrokerId) -> World:
    """Let a broker's links work again; the controller takes it back if it had removed it.

    Raises:
        ImpossibleEventError: it is not isolated.
    """
    if broker not in world.obstacles.isolated:
        raise ImpossibleEventError(f"broker {broker} is not isolated")
    return _returned(replace(world, obstacles=world.obstacles.without_isolated(broker)), broker)


def require_hearing(world: World, broker: BrokerId, deed: str) -> None:
    """Make sure that a broker takes part in what a step does to it.

    Raises:
        ImpossibleEventError: it is paused or isolated; says which step must come before.
    """
    if broker in world.obstacles.paused:
        raise ImpossibleEventError(f"broker {broker} is paused: resume it before it is {deed}")
    if broker in world.obstacles.isolated:
        raise ImpossibleEventError(f"broker {broker} is isolated: let it rejoin before it is {deed}")


def require_known_to_leader(world: World, broker: BrokerId) -> None:
    """Refuse the return, or the noticed end, of a broker while the metadata log of its KRaft leader is held.

    To that one it stays fenced, or registered (KIP-841). The end of a member of the ISR is a decision, which it has
    not heard then.

    Raises:
        ImpossibleEventError: says which frame must be let go before.
    """
    view = world.state.controller
    is_deaf = view.leader not in (None, broker) and world.gate.blocks_decisions(view.leader)
    if world.rules.metadata is MetadataMode.KRAFT and is_deaf and broker not in view.isr:
        stays = "registered" if broker in view.registered else "fenced"
        message = (
            f"a hold has the metadata log of leader {view.leader}, for whom broker {broker} stays {stays}: "
            "let it go before"
        )
        raise ImpossibleEventError(message)


def _noticed(world: World, broker: BrokerId) -> World:
    """Let the controller notice that a broker is gone; its leader must be able to know that, too."""
    require_known_to_leader(world, broker)
    return world.apply(BrokerRemoved(broker))


def _require_reached(world: World, broker: BrokerId) -> None:
    """Refuse a broker that is down or cut off already, or whose channel to the controller is held."""
    if not world.state.replica(broker).alive:
        raise ImpossibleEventError(f"broker {broker} is not running")
    require_hearing(world, broker, "cut off again")
    if world.gate.blocks_decisions(broker) or world.gate.blocks_isr_changes(broker):
        raise ImpossibleEventError(f"a hold has a frame between broker {broker} and the controller: let it go before")


def _require_linked(world: World, broker: BrokerId) -> None:
    """Refuse to cut off a broker that nobody fetches from and that fetches from nobody: no frame would meet the cut."""
    for follower in world.state.replicas:
        link = {follower.broker, follower.leader}
        is_stopped = world.obstacles.severs(follower.broker, follower.leader) or link & world.obstacles.paused
        if broker in link and fetches(world.state, follower) and not is_stopped:
            return
    message = f"broker {broker} fetches from nobody and nobody fetches from it: there is nothing to cut"
    raise ImpossibleEventError(message)


def _without_request(world: World, follower: BrokerId, leader: BrokerId | None) -> World:
    fetch = world.state.replica(follower).fetch
    return world if fetch is None or fetch.leader != leader else world.apply(RequestLost(follower))


def _returned(world: World, broker: BrokerId) -> World:
    """Register a broker anew that the controller had removed and that runs: it has lost nothing."""
    if not world.state.replica(broker).alive or broker in world.state.controller.registered:
        return world
    require_known_to_leader(world, broker)
    returned = world.apply(BrokerReturned(broker, clean=True))
    _require_nothing_unanswered(world, returned, broker)
    return returned


def _require_nothing_unanswered(before: World, after: World, broker: BrokerId) -> None:
    """Refuse the return of a KRaft broker that leads again, if a record of its earlier leadership has no answer yet.

    Its fetch of the metadata log and its heartbeat race: if it reads that it leads no more before it is unfenced, and
    so elected, it refuses the record; otherwise it acknowledges it (``BrokerLifecycleManager``, ``ReplicaManager``).
    """
    is_elected_again = after.state.controller.leader == broker != before.state.controller.leader
    if after.rules.metadata is MetadataMode.KRAFT and is_elected_again:
        waiting = [one.label for one in before.state.produces if one.leader == broker and one.outcome is None]
        if waiting:
            message = (
                f"broker {broker} leads again when it is back, and has not answered {waiting[0]} yet: whether it hears "
                f"before that it leads no more, nobody knows"
            )
            raise ImpossibleEventError(message)


# Who removes a silent replica from the ISR? What the two timing profiles make of a kill and of passing time.
#
# ``session``: the controller, because the broker's session ends within seconds; the lag time is longer
# than any schedule. ``lag``: the leader, because the lag time passes; the session is longer, so that the
# controller does not notice a kill, and the dead broker's registration stays in the way of a new start.


def end(world: World, broker: BrokerId, *, graceful: bool) -> World:
    """End a broker; the controller notices a graceful end always, a kill only by the session.

    Raises:
        ImpossibleEventError: it does not run, or it shall end gracefully and cannot tell the controller.
    """
    if graceful:
        require_hearing(world, broker, "stopped")
        _require_granted(world, broker)
    world = world.apply(BrokerDied(broker, graceful=graceful))
    is_noticed = graceful or world.timing is Timing.SESSION
    return _noticed(world, broker) if is_noticed else world


def _require_granted(world: World, broker: BrokerId) -> None:
    """Refuse a controlled shutdown that a KRaft controller does not grant while a registered broker hears nothing.

    It waits until every active broker has read that others lead now (``BrokerHeartbeatManager.lowestActiveOffset``).
    """
    if world.rules.metadata is not MetadataMode.KRAFT:
        return
    others = (r for r in world.state.replicas if r.broker in world.state.controller.registered - {broker})
    deaf = [r.broker for r in others if not r.alive or world.blocks_decisions(r.broker)]
    if deaf:
        message = (
            f"broker {broker} would wait in its controlled shutdown for broker {deaf[0]}, which does not read the "
            "metadata log: let what holds it go before"
        )
        raise ImpossibleEventError(message)


def end_together(world: World, brokers: tuple[BrokerId, ...]) -> World:
    """Kill brokers at once; under ``session`` the controller notices them later, in any order (``world.unnoticed``).

    Raises:
        ImpossibleEventError: how often the controller writes to a broker matters, and it may notice both at once.
    """
    _require_any_number_of_decisions(world, brokers)
    for broker in brokers if world.timing is Timing.SESSION else ():
        require_known_to_leader(world, broker)
    for broker in brokers:
        world = world.apply(BrokerDied(broker, graceful=False))
    return world


_AFTER_A_DECISION = (PointName.LEADER_AND_ISR_RESPONSE, PointName.UPDATE_METADATA)
"""Points on a broker's channel at which it has heard one decision, and hears no other."""


def _require_any_number_of_decisions(world: World, ended: tuple[BrokerId, ...]) -> None:
    """Refuse ends at once where it matters whether a ZooKeeper controller takes them for one change or for several.

    It tells of all that went from ``/brokers/ids`` at once in one decision (``KafkaController.BrokerChange``): then a
    hold lets none pass before the one that it keeps, and no member of the ISR is elected in between.
    """
    if world.rules.metadata is not MetadataMode.ZOOKEEPER:
        return
    view = world.state.controller
    matters = [
        f"hold {armed.hold.name!r} would keep the second"
        for armed in world.gate.holds
        if armed.hold.point in _AFTER_A_DECISION and armed.hold.broker not in ended and not armed.caught
    ]
    matters += [f"broker {broker} is in the ISR and down" for broker in view.isr if broker not in view.registered]
    if matters:
        message = (
            f"whether the controller notices brokers that end at once in one decision or in several is not predicted, "
            f"and {matters[0]}: end them one after the other"
        )
        raise ImpossibleEventError(message)


def start(world: World, broker: BrokerId) -> World:
    """Start a broker with its old files.

    Raises:
        ImpossibleEventError: if it runs, if its predecessor, killed or hung, is still registered, or if its leader
            cannot know.
    """
    require_hearing(world, broker, "started")
    require_known_to_leader(world, broker)
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
    follows = replica.alive and replica.role is ReplicaRole.FOLLOWER and replica.leader == leader
    is_kept = world.gate.blocks(broker, leader) or world.obstacles.severs(broker, leader)
    return not follows or replica.stuck or replica.truncating or is_kept or broker in world.obstacles.paused
