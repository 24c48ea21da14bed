"""What must happen? ``predict`` interprets a schedule under a rule set, before any broker starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.points import PointUnavailableError as PointUnavailableError  # part of this module's public names
from oracle.points import check_points
from oracle.predicting.branches import Way, Ways
from oracle.predicting.catching import check_awaited, check_met
from oracle.predicting.outcome import conclude
from oracle.predicting.races import merged
from oracle.predicting.taking import take as take  # part of this module's public names
from oracle.replication.electing import notify
from oracle.rules import message_format, unclean_setting
from oracle.schedule import check_structure
from oracle.state import ControllerView, PartitionState, ReplicaState
from oracle.steps.step import ScheduleError
from oracle.vocabulary import LeaderEpoch
from oracle.world import Obstacles, World

if TYPE_CHECKING:
    from oracle.prediction import Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.vocabulary import BrokerId


def predict(schedule: Schedule, rules: RuleSet) -> Prediction:
    """Predict every checkpoint, every record's fate and every produce's outcome.

    Raises:
        ScheduleError: if a step assumes what no rule of this release can bring about, or a hold never meets a frame;
            names the step.
        PointUnavailableError: if the release has no such protocol point or election, or does not look at a setting
            that the schedule needs.
    """
    try:
        return _predicted(schedule, rules)
    except ScheduleError as error:
        heeding = replace(rules, election=unclean_setting.heeded(rules.election))
        if heeding == rules or not _is_possible(schedule, heeding):
            raise
        message = f"{unclean_setting.why_unheeded(rules.version)}: {error}"
        raise PointUnavailableError(message, step=error.step, field=error.field) from error


def _is_possible(schedule: Schedule, rules: RuleSet) -> bool:
    try:
        _predicted(schedule, rules)
    except ScheduleError:
        return False
    return True


def _predicted(schedule: Schedule, rules: RuleSet) -> Prediction:
    check_structure(schedule)
    check_points(schedule, rules)
    rules = message_format.adapted(rules, schedule.settings)
    ways = Ways((Way(initial_world(schedule, rules, schedule.brokers)),))
    for index, step in enumerate(schedule.steps):
        met = frozenset().union(*(way.world.gate.met for way in ways.ways))
        ways = ways.after(index, step)
        check_awaited(schedule.steps, index, met, [way.world for way in ways.ways])
    check_met(schedule.steps, [way.world for way in ways.ways])
    if ways.ways[0].world.obstacles != Obstacles():
        message = (
            "the schedule must end with every broker resumed and rejoined and every link healed, to read its topic"
        )
        raise ScheduleError(message, step=len(schedule.steps) - 1, field="steps")
    ends = [(way.race, replace(_concluded(schedule, rules, way), answers=way.answers)) for way in ways.ways]
    return replace(merged(ends), assumed=ways.assumed)


def _concluded(schedule: Schedule, rules: RuleSet, way: Way) -> Prediction:
    return conclude(schedule, rules, way.world.state, way.moments, way.chronicle)


def initial_world(schedule: Schedule, rules: RuleSet, order: tuple[BrokerId, ...]) -> World:
    """Return the partition right after its creation, at rest: the first replica leads all others."""
    leader = schedule.replicas[0]
    epoch = LeaderEpoch(0)
    view = ControllerView(
        registered=frozenset(schedule.brokers),
        leader=None,
        leader_epoch=LeaderEpoch(-1),
        isr=schedule.replicas,
    )
    replicas = tuple(ReplicaState(broker) for broker in schedule.brokers)
    state = PartitionState(schedule.replicas, schedule.settings, replicas, view)
    elected = replace(view, leader=leader, leader_epoch=epoch, leaderships=((epoch, leader, True),))
    world = World(notify(state, elected, rules), rules, schedule.checkpointing, order, timing=schedule.timing)
    return world.settle()
