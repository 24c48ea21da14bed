"""What must hold at rest, whatever happened? Named predicates over the model's worlds."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from oracle.vocabulary import Acks, ProduceOutcome

if TYPE_CHECKING:
    from oracle.world import World
    from tests.oracle.walks import Walk


def high_watermarks_are_within_logs(world: World) -> bool:
    return all(0 <= replica.high_watermark <= replica.log.log_end_offset for replica in world.state.replicas)


def leader_high_watermark_rises(before: World, after: World) -> bool:
    old, new = before.state.serving_leader(), after.state.serving_leader()
    if old is None or new is None or (old.broker, old.leader_epoch) != (new.broker, new.leader_epoch):
        return True
    return old.high_watermark <= new.high_watermark


def epochs_never_decrease_in_a_log(world: World) -> bool:
    return all(
        earlier.leader_epoch <= later.leader_epoch
        for replica in world.state.replicas
        for earlier, later in pairwise(replica.log.entries)
    )


def epoch_caches_are_those_of_the_logs(world: World) -> bool:
    """Every epoch of the log starts where the cache says; the cache may know empty epochs besides."""
    for replica in world.state.replicas:
        cached = {entry.leader_epoch: entry.start_offset for entry in replica.log.epochs}
        starts: dict[int, int] = {}
        for offset, entry in enumerate(replica.log.entries):
            starts.setdefault(entry.leader_epoch, offset)
        if any(cached.get(epoch) != start for epoch, start in starts.items()):  # type: ignore[call-overload]
            return False
    return True


def logs_agree_below_high_watermarks(world: World) -> bool:
    for one, other in combinations(world.state.replicas, 2):
        end = min(one.high_watermark, other.high_watermark)
        if one.log.entries[:end] != other.log.entries[:end]:
            return False
    return True


def in_sync_replicas_hold_what_is_committed(world: World) -> bool:
    """Strong ISR: what a leader exposed is on every replica that may be elected cleanly."""
    leader = world.state.serving_leader()
    if leader is None:
        return True
    committed = leader.log.entries[: leader.high_watermark]
    candidates = set(world.state.controller.isr) | world.state.controller.elr
    return all(world.state.replica(b).log.entries[: leader.high_watermark] == committed for b in candidates)


def acknowledged_records_survive(walk: Walk) -> bool:
    leader = walk.end.state.serving_leader()
    assert leader is not None, "a walk ends with every broker running"
    served = {entry.label for entry in leader.log.entries[: leader.high_watermark]}
    acknowledged = {
        produce.label
        for produce in walk.end.state.produces
        if produce.acks is Acks.ALL and produce.outcome is ProduceOutcome.ACKNOWLEDGED
    }
    return acknowledged <= served


def controller_view_is_consistent(world: World) -> bool:
    view = world.state.controller
    minimum = min(world.state.settings.min_insync_replicas, len(world.state.assignment))
    leads = view.leader is None or (view.leader in view.isr and view.leader in view.registered)
    return leads and not view.elr & set(view.isr) and (not view.elr or len(view.isr) < minimum)
