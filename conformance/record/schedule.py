"""Which steps did a run take? ``schedule.json``: the schedule as ``oracle.schedule_format`` encodes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.record.directory import RunDirectoryError
from oracle.schedule_format import decode, encode
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory
    from oracle.schedule import Schedule

SCHEDULE_FILE = "schedule.json"


def write_schedule(run: RunDirectory, schedule: Schedule) -> None:
    """Write a run's schedule, before its first step."""
    run.write(SCHEDULE_FILE, encode(schedule))


def read_schedule(run: RunDirectory) -> Schedule:
    """Read a run's schedule.

    Raises:
        RunDirectoryError: there is none, it cannot be read, or has a step that this tester does not know.
    """
    try:
        return decode(run.read(SCHEDULE_FILE, dict[str, Any]))
    except ScheduleError as error:
        at = "" if error.step is None else f", step {error.step + 1}"
        raise RunDirectoryError(f"{run.path / SCHEDULE_FILE}{at} cannot be read: {error}") from error
