"""Which entry of the catalogue was run? The one of that name, if it still does and asks the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.answers import QUESTIONS
from conformance.catalogue.examination import Examination
from conformance.registry import CATALOGUE
from conformance.run_directory import RunDirectoryError
from conformance.schedules.schedule_format import encode

if TYPE_CHECKING:
    from conformance.catalogue.examination import Entry
    from conformance.catalogue.questions import Question
    from conformance.run_directory import RunDirectory


def questions_of(run: RunDirectory) -> tuple[Question, ...]:
    """Return the questions that a scenario's run was asked, to be measured or predicted again.

    Raises:
        RunDirectoryError: it was asked what the catalogue does not ask any more.
    """
    asked = asked_of(run)
    entry = _entry(run)
    if not asked:
        return ()
    if entry is None or isinstance(entry, Examination) or [one.what for one in entry.questions] != asked:
        raise RunDirectoryError(f"{run.path}: the catalogue does not ask any more what this run was asked")
    return entry.questions


def asked_of(run: RunDirectory) -> list[str]:
    """Return what a run was asked, as it was frozen."""
    if not (run.path / QUESTIONS).exists():
        return []
    return [question["what"] for question in run.read_json(QUESTIONS)["questions"]]


def examination_of(run: RunDirectory) -> Examination:
    """Return the examination that was held.

    Raises:
        RunDirectoryError: the catalogue does not hold it any more.
    """
    entry = _entry(run)
    if not isinstance(entry, Examination):
        raise RunDirectoryError(f"{run.path}: the catalogue does not hold this examination any more")
    return entry


def _entry(run: RunDirectory) -> Entry | None:
    about = run.read_json("run.json")
    entry = next((one for one in CATALOGUE if one.name == about["scenario"]), None)
    if entry is None or isinstance(entry, Examination):
        return entry
    return entry if encode(entry.schedule) == run.read_json("schedule.json") else None
