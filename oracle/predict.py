"""What must happen? ``predict`` interprets a schedule under a rule set, before any broker starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.points import NotOnReleaseError as NotOnReleaseError
from oracle.points import check_points
from oracle.predicting.assumptions import what_passes
from oracle.predicting.branches import Branch, Ways
from oracle.predicting.interleavings import STATES_MAX
from oracle.predicting.outcome import conclude
from oracle.predicting.races import merged
from oracle.predicting.step_effects import take as take
from oracle.replication.electing import notify
from oracle.rules import fetch_sessions, message_format, unclean_election
from oracle.schedule import check_structure
from oracle.state import ControllerView, PartitionState, ReplicaState
from oracle.steps.frames import AwaitHold, Hold
from oracle.steps.step import ScheduleError
from oracle.steps.waits import AwaitIsr, AwaitLeader, Checkpoint
from oracle.vocabulary import LeaderEpoch
from oracle.world import Obstacles, World

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from oracle.prediction import Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId


def predict(schedule: Schedule, rules: RuleSet, states_max: int = STATES_MAX) -> Prediction:
    """Predict every checkpoint, every record's fate and every produce's outcome.

    Args:
        schedule: what happens.
        rules: the release's.
        states_max: how many states are looked at between two rest points.

    Raises:
        ScheduleError: if a step assumes what no rule of this release can bring about, or a hold never meets a frame;
            names the step.
        NotOnReleaseError: if the release has no such protocol point or election, or does not look at a setting
            that the schedule needs.
    """
    try:
        return _predicted(schedule, rules, states_max)
    except ScheduleError as error:
        heeding = replace(rules, election=unclean_election.heeded(rules.election))
        if heeding == rules or not _is_possible(schedule, heeding, states_max):
            raise
        message = f"{unclean_election.why_unheeded(rules.version)}: {error}"
        raise NotOnReleaseError(message, step=error.step, field=error.field) from error


def _is_possible(schedule: Schedule, rules: RuleSet, states_max: int) -> bool:
    try:
        _predicted(schedule, rules, states_max)
    except ScheduleError:
        return False
    return True


def _predicted(schedule: Schedule, rules: RuleSet, states_max: int) -> Prediction:
    check_structure(schedule)
    check_points(schedule, rules)
    ways = Ways((Branch(initial_world(schedule, rules, schedule.brokers)),))
    for index, step in enumerate(schedule.steps):
        met = frozenset().union(*(way.world.gate.met for way in ways.ways))
        ways = ways.after(index, step, states_max)
        check_awaited(schedule.steps, index, met, [way.world for way in ways.ways])
    check_met(schedule.steps, [way.world for way in ways.ways])
    if ways.ways[0].world.obstacles != Obstacles():
        message = (
            "the schedule must end with every broker resumed and rejoined and every link healed, to read its topic"
        )
        raise ScheduleError(message, step=len(schedule.steps) - 1, field="steps")
    ends = [(way.race, replace(_concluded(schedule, way), answers=way.answers)) for way in ways.ways]
    return replace(merged(ends), assumed=ways.assumed)


def _concluded(schedule: Schedule, way: Branch) -> Prediction:
    return conclude(schedule, way.world.rules, way.world.state, way.moments, way.chronicle)


def adapted(rules: RuleSet, schedule: Schedule) -> RuleSet:
    """Return the rules that a release follows in a schedule: by its message format, with fetch sessions or without."""
    rules = message_format.adapted(rules, schedule.settings)
    return rules if schedule.fetch_sessions else fetch_sessions.without_sessions(rules)


def initial_world(schedule: Schedule, rules: RuleSet, order: tuple[BrokerId, ...]) -> World:
    """Return the partition right after its creation, at rest: the first replica leads all others.

    Args:
        schedule: its settings, and the rules that they bring with them.
        rules: the release's.
        order: in which order followers take their turns in a round.
    """
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
    rules = adapted(rules, schedule)
    world = World(notify(state, elected, rules), rules, schedule.checkpointing, order, timing=schedule.timing)
    return world.settle()


# Will every hold catch its frame on real brokers too? If that is not certain, no broker starts.
#
# A hold that never meets a frame ends a run in an error of the tester: what was to be tried was not tried. And a
# follower that has everything fetches all the time, up to twice a second and no rule says when: a hold that counts its
# frames (``nth``) may have counted few or many of these by the next step, so that step has to await it.
#
# Sources: AbstractFetcherThread.doWork, DelayedFetch (replica.fetch.wait.max.ms); architecture, "Contract of a step" 3.


LOOKS_ONLY = (Checkpoint, AwaitLeader, AwaitIsr)
"""Steps that change nothing, so that it does not matter whether a hold has caught its frame before them."""


def check_met(steps: Sequence[Step], ends: Sequence[World]) -> None:
    """Refuse holds that catch no frame on any way through the schedule.

    Raises:
        ScheduleError: names the hold's step, and says what there is instead.
    """
    for index, step in enumerate(steps):
        if isinstance(step, Hold) and not any(step.name in end.gate.met for end in ends):
            message = f"hold {step.name!r} never catches a frame: {_instead(step, ends[0])}"
            raise ScheduleError(message, step=index, field="name")


def _instead(hold: Hold, end: World) -> str:
    armed = end.gate.named(hold.name)
    return "none comes before its connection ends" if armed is None else what_passes(end, armed)


def check_awaited(steps: Sequence[Step], index: int, met: Collection[str], worlds: Sequence[World]) -> None:
    """Refuse a step that brings a counted frame into the gate, and that is not followed by an await of it.

    Args:
        steps: of the whole schedule.
        index: of the step that was taken last.
        met: the holds that had caught a frame before it.
        worlds: where it has led, on every way.

    Raises:
        ScheduleError: names the hold's step, and the step after which it must be awaited.
    """
    later = (step for step in steps[index + 1 :] if not isinstance(step, LOOKS_ONLY))
    following = next(later, None)
    for world in worlds:
        for armed in world.gate.holds:
            name = armed.hold.name
            is_new = armed.caught and armed.hold.nth > 1 and name not in met
            if is_new and following != AwaitHold(name):
                message = (
                    f"hold {name!r} counts fetches that bring nothing too, and no rule says how many come by the step "
                    f"after step {index + 1}: an await_hold of it must follow there"
                )
                raise ScheduleError(message, step=steps.index(armed.hold), field="nth")
