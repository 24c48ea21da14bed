"""From what do questions derive their predicted answers? From prediction.json, or from the model's last state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle.predict import initial_world, take

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.world import World


def world_after(schedule: Schedule, rules: RuleSet) -> World:
    """Return the model's world after the last step of a schedule that leaves nothing open."""
    world = initial_world(schedule, rules, schedule.replicas)
    for step in schedule.steps:
        world = take(world, step)
    return world


def log_end_offset(prediction: Mapping[str, Any], checkpoint: str, broker: int) -> int:
    """Return a replica's predicted log end offset."""
    return _replica(prediction, checkpoint, broker)["log_end_offset"]


def high_watermark(prediction: Mapping[str, Any], checkpoint: str, broker: int) -> int:
    """Return a replica's predicted high watermark."""
    return _replica(prediction, checkpoint, broker)["high_watermark"]


def remote_log_end_offset(prediction: Mapping[str, Any], checkpoint: str, broker: int) -> int | None:
    """Return the leader's predicted copy of a follower's log end offset; None if it has none."""
    copies: dict[str, int | None] = _moment(prediction, checkpoint)["remote_log_end_offsets"]
    return copies[str(broker)]


def _replica(prediction: Mapping[str, Any], checkpoint: str, broker: int) -> dict[str, int]:
    replica: dict[str, int] = _moment(prediction, checkpoint)["replicas"][str(broker)]
    return replica


def _moment(prediction: Mapping[str, Any], checkpoint: str) -> dict[str, Any]:
    moment: dict[str, Any] = next(one for one in prediction["checkpoints"] if one["name"] == checkpoint)
    return moment
