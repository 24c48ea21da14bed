"""Which leader epochs did the brokers write down? Questions about leader-epoch-checkpoint and the controller's epochs.

The files are those that a run keeps of each broker when its last step is done. Kafka's own epochs are compared here,
not their order: the model states each rise.

Source: LeaderEpochCheckpointFile: a version, a count, then a line ``epoch startOffset`` each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, ScheduleQuestion
from conformance.notes import checkpoints
from oracle.predict import initial_world, take
from oracle.steps.waits import Checkpoint

if TYPE_CHECKING:
    from conformance.catalogue.questions import Expected
    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.record.prediction import FrozenPrediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.vocabulary import BrokerId
    from oracle.world import World


FILE = "leader-epoch-checkpoint"
HEADER_LINES = 2


def epoch_files(schedule: Schedule) -> tuple[ScheduleQuestion, ...]:
    """Ask, for each replica, for the pairs of its file at the end; none: it has no such file."""
    return tuple(_epoch_file(schedule, broker) for broker in schedule.brokers)


def _epoch_file(schedule: Schedule, broker: BrokerId) -> ScheduleQuestion:
    def predict(rules: RuleSet, _: FrozenPrediction) -> Expected:
        if not has_epochs(rules):
            return None
        log = worlds(schedule, rules)[-1].state.replica(broker).log
        return [[int(entry.leader_epoch), int(entry.start_offset)] for entry in log.epochs]

    what = f"pairs (leader epoch, first offset) that broker {broker} has on disk at the end"
    return ScheduleQuestion(what, predict, lambda run: pairs_on_disk(run, broker))


def epoch_file_while_running(schedule: Schedule, broker: BrokerId, checkpoint: str) -> ScheduleQuestion:
    """Ask for the pairs that a running broker has on disk at a checkpoint, before any recovery could write them."""
    names = [step.name for step in schedule.steps if isinstance(step, Checkpoint)]

    def predict(rules: RuleSet, _: FrozenPrediction) -> Expected:
        world = worlds_at_checkpoints(schedule, rules)[names.index(checkpoint)]
        return [[int(entry.leader_epoch), int(entry.start_offset)] for entry in world.state.replica(broker).log.epochs]

    def measure(run: RunDirectory) -> Value:
        files = next((one.epoch_files for one in checkpoints(run) if one.name == checkpoint), None)
        if files is None or broker not in files:
            raise NotSeenError(f"the epoch file of broker {broker} was not read at {checkpoint!r}")
        return [list(pair) for pair in files[broker]]

    what = f"pairs (leader epoch, first offset) that broker {broker} has on disk while it runs, when {checkpoint}"
    return ScheduleQuestion(what, predict, measure)


def pairs_on_disk(run: RunDirectory, broker: int) -> Value:
    """Return the pairs of the file that a run kept of a broker, or None if it kept none.

    Raises:
        NotSeenError: nothing was kept of that broker, or the file is not what Kafka writes.
    """
    directory = run.path / "brokers" / str(broker)
    if not (directory / "server.log").exists():
        raise NotSeenError(f"the run kept no files of broker {broker}")
    if not (directory / FILE).exists():
        return None
    lines = (directory / FILE).read_text(encoding="utf-8").splitlines()
    try:
        return [[int(number) for number in line.split()] for line in lines[HEADER_LINES:]]
    except ValueError as error:
        raise NotSeenError(f"{FILE} of broker {broker} is not what Kafka writes: {error}") from error


def leader_epochs(schedule: Schedule) -> ScheduleQuestion:
    """Ask for the controller's leader epoch at each checkpoint."""

    def predict(rules: RuleSet, _: FrozenPrediction) -> Expected:
        return [int(world.state.controller.leader_epoch) for world in worlds_at_checkpoints(schedule, rules)]

    return ScheduleQuestion("leader epoch at each checkpoint", predict, epochs_at_checkpoints)


def epochs_at_checkpoints(run: RunDirectory) -> Value:
    """Return the leader epoch that the controller had committed at each checkpoint of a run."""
    return [seen.leader_epoch for seen in checkpoints(run)]


# What does the model say between the numbers of a prediction? Its states, one after each step.


def worlds(schedule: Schedule, rules: RuleSet) -> tuple[World, ...]:
    """Return the model after its creation and after each step; for schedules without an open race only."""
    after = [initial_world(schedule, rules, schedule.brokers)]
    for step in schedule.steps:
        after.append(take(after[-1], step))
    return tuple(after)


def worlds_at_checkpoints(schedule: Schedule, rules: RuleSet) -> tuple[World, ...]:
    """Return the model at each checkpoint, in their order."""
    after = worlds(schedule, rules)[1:]
    return tuple(world for world, step in zip(after, schedule.steps, strict=True) if isinstance(step, Checkpoint))


def has_epochs(rules: RuleSet) -> bool:
    """Return whether a release's logs have leader epochs (KIP-101)."""
    return not rules.truncation.cuts_to_high_watermark
