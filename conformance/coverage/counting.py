"""What of the model has a run been through on brokers?

Only a run that conforms by the rules of the graph counts: every number and record as predicted, every frame as allowed.
An edge is held if two checkpoints that were measured, each number as predicted, stand on its two sides with nothing
else between; it was passed if brokers took it between two steps that ended, in one of the orders that lead there. What
rules decided of a step that ended counts over the whole vocabulary, whatever the partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.hunting.deciding import decisions_of
from conformance.record.digests import check_digests
from conformance.record.directory import RunDirectoryError
from conformance.record.reconciliation import read_checkpoints
from conformance.record.run import read_run
from conformance.record.schedule import read_schedule
from conformance.record.timeline import Event, read_timeline
from conformance.record.verdict import Conformance, read_verdict
from oracle.brokers.visited import OtherPartitionError, visits
from oracle.rules.by_version import one_rule_apart
from oracle.steps.step import ScheduleError
from oracle.steps.waits import Checkpoint

if TYPE_CHECKING:
    from conformance.hunting.deciding import RuleDecision
    from conformance.record.directory import RunDirectory
    from oracle.brokers.edges import EdgeGraph
    from oracle.brokers.visited import Visit
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule


@dataclass(frozen=True, slots=True)
class RunEdges:
    """What one run has been through.

    Attributes:
        held: ids of the edges with both sides held and probed.
        passed: ids of the edges that were only passed on the wire.
    """

    held: frozenset[str]
    passed: frozenset[str]


class NotCountedError(Exception):
    """A run does not count; the message says why, in words that are the same for all runs of a kind."""


def schedule_that_counts(run: RunDirectory, rules: RuleSet) -> Schedule:
    """Return the schedule of a run that counts.

    Args:
        run: its directory.
        rules: by which it must conform.

    Raises:
        NotCountedError: it does not conform by these rules, or its files are not those that it ended with.
    """
    try:
        return _counting(run, rules)
    except RunDirectoryError as error:
        raise NotCountedError(str(error)) from error


def _counting(run: RunDirectory, rules: RuleSet) -> Schedule:
    about = read_run(run)
    if about.rules != (rules.version, rules.metadata.value):
        raise NotCountedError(f"held against the rules of {'/'.join(about.rules)}")
    verdict = read_verdict(run)
    if verdict is None or verdict.conformance is not Conformance.CONFORMS:
        raise NotCountedError("without the verdict CONFORMS")
    if about.is_examination:
        raise NotCountedError("an examination, which has no schedule")
    check_digests(run)
    return read_schedule(run)


def edges_of_run(run: RunDirectory, schedule: Schedule, graph: EdgeGraph) -> RunEdges:
    """Return the edges that a run has been through.

    Args:
        run: one that counts.
        schedule: its own.
        graph: of the rules by which it conforms.

    Raises:
        NotCountedError: its partition is not the graph's.
    """
    try:
        found = visits(schedule, graph)
        probed, ended = _probed(run), _ended(run)
    except OtherPartitionError as error:
        raise NotCountedError("of other replicas or settings") from error
    except ScheduleError as error:
        raise NotCountedError("of a step that the model refuses") from error
    except RunDirectoryError as error:
        raise NotCountedError(str(error)) from error
    held = frozenset(visit.edge.id for visit in found if visit.is_held and set(_sides(schedule, visit)) <= probed)
    passed = frozenset(visit.edge.id for visit in found if visit.after in ended)
    return RunEdges(held, passed - held)


def decisions_of_run(run: RunDirectory, schedule: Schedule, rules: RuleSet) -> frozenset[RuleDecision]:
    """Return what rules decided of a run's steps.

    Args:
        run: one that counts.
        schedule: its own.
        rules: by which it conforms.

    Raises:
        NotCountedError: its timeline cannot be read, or the rules refuse a step.
    """
    try:
        ended = _ended(run)
        decided = decisions_of(schedule, rules, one_rule_apart(rules))
        return frozenset().union(*(found for index, found in enumerate(decided) if index in ended))
    except ScheduleError as error:
        raise NotCountedError("of a step that the model refuses") from error
    except RunDirectoryError as error:
        raise NotCountedError(str(error)) from error


def _sides(schedule: Schedule, visit: Visit) -> tuple[str, str]:
    """Return the names of the checkpoints on both sides of a held edge."""
    names = tuple(
        step.name
        for step in (schedule.steps[visit.before], schedule.steps[visit.after])
        if isinstance(step, Checkpoint)
    )
    assert len(names) == 2, "an edge is held between checkpoints"
    return names[0], names[1]


def _probed(run: RunDirectory) -> set[str]:
    """Return the checkpoints of which every number was measured as predicted."""
    return {one.name for one in read_checkpoints(run) if one.rows and all(row.agrees for row in one.rows)}


def _ended(run: RunDirectory) -> set[int | None]:
    """Return the steps that ended."""
    return {mark.step for mark in read_timeline(run) if mark.event is Event.STEP_FINISHED}
