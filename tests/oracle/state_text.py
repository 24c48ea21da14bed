"""How does the model's state read? One line for the controller, one per replica, one per hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.vocabulary import ReplicaRole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle.gate import ArmedHold
    from oracle.state import ControllerDecision, ControllerView, ReplicaState
    from oracle.world import World


def state_lines(world: World) -> Iterator[str]:
    """Return the state at rest, line by line."""
    yield _controller(world.state.controller)
    for replica in world.state.replicas:
        yield _replica(replica, has_epochs=not world.rules.truncation.cuts_to_high_watermark)
    for armed in world.gate.holds:
        where = (
            "dropped"
            if armed.dropped
            else "holds a frame"
            if armed.caught
            else f"waits for match {max(armed.remaining, 1)}"
        )
        yield f"hold {armed.hold.name!r} {where}"


def _where(armed: ArmedHold) -> str:
    if armed.dropped:
        return "has dropped its frame"
    return "holds a frame" if armed.caught else f"waits for match {max(armed.remaining, 1)}"


def outcomes(world: World) -> dict[str, str]:
    """Return what every producer knows."""
    return {
        produce.label: (produce.outcome.value if produce.outcome else "pending")
        + (f" ({produce.error})" if produce.error else "")
        for produce in world.state.produces
    }


def _controller(view: ControllerView) -> str:
    leader = "no leader" if view.leader is None else f"leader {view.leader}"
    text = f"{leader}, epoch {view.leader_epoch}, ISR {_ids(view.isr)}"
    if view.elr:
        text += f", ELR {_ids(view.elr)}"
    if view.last_known_leader is not None:
        text += f", last known leader {view.last_known_leader}"
    if view.is_recovering:
        text += ", recovering"
    return text


def _ids(brokers: Iterable[int]) -> str:
    return "{" + " ".join(str(broker) for broker in sorted(brokers)) + "}"


def _replica(replica: ReplicaState, *, has_epochs: bool) -> str:
    log = " ".join(f"{entry.label}/{entry.leader_epoch}" for entry in replica.log.entries) or "-"
    parts = [
        f"{replica.broker} {_role(replica):8} LEO {replica.log.log_end_offset} HW {replica.high_watermark}",
        f"log {log}",
    ]
    cache = " ".join(f"{entry.leader_epoch}@{entry.start_offset}" for entry in replica.log.epochs)
    parts += [f"epochs {cache}"] if cache and has_epochs else []
    parts += [f"starts at {replica.log_start_offset}"] if replica.log_start_offset else []
    remotes = [f"{remote.broker} at {_offset(remote.log_end_offset)}" for remote in replica.remotes]
    parts += [f"knows {', '.join(remotes)}"] if remotes else []
    if replica.fetch is not None:
        parts.append(f"{replica.fetch.kind.value}({replica.fetch.offset}) {replica.fetch.stage.value}")
    parts += ["fetcher stopped" if replica.alive else "process hangs"] if replica.stuck else []
    parts += [f"not heard yet: {_decision(decision)}" for decision in replica.undelivered]
    parts += [f"wishes {_ids(replica.joining)} to join"] if replica.joining else []
    return " | ".join(parts)


def _decision(decision: ControllerDecision) -> str:
    leader = "no leader" if decision.leader is None else f"leader {decision.leader}"
    return f"{leader}, epoch {decision.leader_epoch}"


def _role(replica: ReplicaState) -> str:
    if not replica.alive:
        return "is down"
    return {ReplicaRole.LEADER: "leads", ReplicaRole.FOLLOWER: "follows", ReplicaRole.NONE: "waits"}[replica.role]


def _offset(offset: int | None) -> str:
    return "?" if offset is None else str(offset)
