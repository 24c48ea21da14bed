"""How do files of a user's become scenarios? YAML has one; Python is run, and its tuple ``SCENARIOS`` taken.

A file in YAML has a schedule, or a script of transactions.
A file in Python has what a module of the catalogue has. Its schedules are held to the same as those in YAML: each is
written down and read again. It cannot ask questions besides: ``judge`` would not find them in the run's files.
"""

from __future__ import annotations

import re
import runpy
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any

from conformance.catalogue.scenario import Scenario
from conformance.schedules import PYTHON
from conformance.schedules.schedule_file import ScheduleFileError, error_words, locate, read_schedule
from oracle.schedule import check_structure
from oracle.schedule_format import decode, encode
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.examination import Entry

LOOKS_LIKE_SCENARIOS = re.compile(
    r"^from conformance\.catalogue\.scenario import .*^SCENARIOS\b[^\n]*=", re.MULTILINE | re.DOTALL
)


def has_scenarios(path: Path) -> bool:
    """Return whether a file in Python looks as if it had scenarios; nothing of it is run."""
    if path.suffix != PYTHON or not path.is_file():
        return False
    return LOOKS_LIKE_SCENARIOS.search(path.read_text(encoding="utf-8", errors="replace")) is not None


def read_scenarios(path: Path) -> tuple[Entry, ...]:
    """Return the scenarios of a file; what is not Python is read as YAML, and has one, or a script of transactions.

    Raises:
        ScheduleFileError: it cannot be read, run or understood; says where and why.
    """
    if path.suffix != PYTHON:
        return (_read_script(path) or read_schedule(path),)
    scenarios = _run(path).get("SCENARIOS")
    if not isinstance(scenarios, tuple | list) or not scenarios:
        raise ScheduleFileError(f"{path}: no tuple SCENARIOS is in it, such as SCENARIOS = (MINE,)")
    for scenario in scenarios:
        _check(path, scenario)
    return tuple(scenarios)


def _read_script(path: Path) -> Entry | None:
    """Read a script of transactions; the model of these is imported for a file alone."""
    script: Entry | None = import_module("conformance.schedules.transaction_file").read_script(path)
    return script


def locate_own(path: Path, scenario: Entry, error: ScheduleError) -> ScheduleFileError:
    """Return an error about a schedule of a file with its place there: in YAML the line too."""
    if path.suffix != PYTHON:
        return ScheduleFileError(locate(path, error))
    return ScheduleFileError(error_words(f"{path}: {scenario.name}", error.step, error))


def _run(path: Path) -> dict[str, Any]:
    """Run a file, and return what it has defined."""
    try:
        path.read_bytes()
    except OSError as error:
        raise ScheduleFileError(f"{path}: {error.strerror or error}") from error
    try:
        return runpy.run_path(str(path), run_name=path.stem)
    except SyntaxError as error:
        raise ScheduleFileError(f"{path}:{error.lineno or 1}: not valid Python: {error.msg}") from error
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        lines = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == str(path)]
        raise ScheduleFileError(f"{path}:{lines[-1] if lines else 1}: {type(error).__name__}: {error}") from error


def _check(path: Path, scenario: object) -> None:
    """Refuse what is no scenario, asks questions, or has a schedule that no file could hold."""
    if not isinstance(scenario, Scenario):
        raise ScheduleFileError(f"{path}: SCENARIOS has {scenario!r:.60}, which is no Scenario")
    if scenario.questions:
        raise ScheduleFileError(f"{path}: {scenario.name}: only entries of the catalogue ask questions: leave them out")
    try:
        check_structure(decode(encode(scenario.schedule)))
    except ScheduleError as error:
        raise locate_own(path, scenario, error) from error
    except (AttributeError, TypeError) as error:
        raise ScheduleFileError(f"{path}: {scenario.name}: something is no step, or no setting: {error}") from error
