"""Which steps did a run take? ``schedule.json``: a schedule as ``conformance.schedules.schedule_format`` encodes it."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

SCHEDULE_FILE = "schedule.json"


@dataclass(frozen=True, slots=True)
class StoredSchedule:
    """schedule.json as far as a reader needs it who does not take its steps.

    Attributes:
        replicas: preferred leader first.
        settings: the topic's, by their names in Kafka.
        steps: each a mapping of its verb to its arguments, or to its main argument.
    """

    replicas: tuple[int, ...]
    settings: Mapping[str, int | bool | str | None]
    steps: tuple[Any, ...]
    id: str = ""
    timing: str = "session"
    checkpointing: str = "prompt"


def read_schedule(run: RunDirectory) -> StoredSchedule:
    """Read a run's schedule.

    Raises:
        RunDirectoryError: there is none, or it cannot be read.
    """
    return run.read(SCHEDULE_FILE, StoredSchedule)


def read_document(run: RunDirectory) -> dict[str, Any]:
    """Read a run's schedule to be decoded, or compared with an encoded one.

    Raises:
        RunDirectoryError: there is none, or it cannot be read.
    """
    return run.read(SCHEDULE_FILE, dict[str, Any])
