"""Which steps did a run take? ``schedule.json``: the schedule as ``oracle.schedule_format`` encodes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.record.directory import RunDirectoryError
from oracle.schedule_format import decode, encode
from oracle.steps.frames import DelayFrame, Hold
from oracle.steps.step import ScheduleError
from oracle.steps.waits import AwaitLag

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

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


# What does a report show of a step? Its words, and the fields that say where it is drawn.


@dataclass(frozen=True, slots=True)
class StepInWords:
    """One step of a schedule, for who draws it and need not know the model.

    Attributes:
        word: its name in files; ``subject`` is what it is about, in words.
        sentence: what it does, without capital and full stop; ``short`` in two or three words.
        leaves: the event that it leaves on the timeline; empty if none.
        injects: whether it injects a fault, or has a frame caught.
        takes_back: the names of the faults that it takes back.
        point: of a hold the protocol point, with the ``fetch_offset`` that it waits for.
        broker: of a hold on a controller's channel whose it is.
        follower: of a hold on a link of replicas the fetching end; ``leader`` the other.
        followers: of a wait for the lag time, who does not fetch meanwhile.
    """

    word: str
    subject: str
    sentence: str
    short: str
    leaves: str = ""
    injects: bool = False
    takes_back: tuple[str, ...] = ()
    point: str | None = None
    broker: int | None = None
    follower: int | None = None
    leader: int | None = None
    fetch_offset: int | None = None
    followers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScheduleInWords:
    """A schedule for who draws it."""

    replicas: tuple[int, ...]
    steps: tuple[StepInWords, ...]


def read_schedule_in_words(run: RunDirectory) -> ScheduleInWords:
    """Read a run's schedule for who draws it.

    Raises:
        RunDirectoryError: there is none, it cannot be read, or has a step that this tester does not know.
    """
    schedule = read_schedule(run)
    return ScheduleInWords(schedule.replicas, tuple(map(in_words, schedule.steps)))


def in_words(step: Step) -> StepInWords:
    """Return a step for who draws it."""
    injects = bool(step.fault) or isinstance(step, Hold | DelayFrame)
    said = (step.word, step.subject(), step.sentence(), step.short(), step.leaves, injects, step.takes_back)
    match step:
        case Hold():
            ends = step.broker, step.follower, step.leader
            return StepInWords(*said, step.point.value, *ends, fetch_offset=step.fetch_offset)
        case AwaitLag():
            return StepInWords(*said, followers=step.followers)
        case _:
            return StepInWords(*said)
