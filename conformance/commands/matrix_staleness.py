"""Did a finished run do and expect what its catalogue entry says today?

The entry is foretold again, which is pure and cheap, and compared with what was frozen in the run: a run that was left
out for a reason of yesterday, or was never asked today's question, is no answer to today's catalogue.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.catalogue.answers import QUESTIONS
from conformance.catalogue.scenario import Scenario
from conformance.run_directory import RunDirectoryError
from conformance.schedules.schedule_format import encode
from conformance.stages.foretelling import foretell
from oracle.schedule import ScheduleError

if TYPE_CHECKING:
    from conformance.catalogue.examination import Entry
    from conformance.run_directory import RunDirectory
    from conformance.stages.foretelling import Foretold
    from oracle.rules.rule_set import RuleSet

PREDICTION = "prediction/prediction.json"


class Today:
    """What the model says of catalogue entries on one release today, each foretold once."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._foretold: dict[str, Foretold | None] = {}

    def difference(self, run: RunDirectory, entry: Entry) -> str | None:
        """Say in what a run is not of today, in words that follow its name; None if it is."""
        try:
            return self._difference(run, entry)
        except RunDirectoryError:
            return "cannot be read"

    def _difference(self, run: RunDirectory, entry: Entry) -> str | None:
        if _done(run, entry) != _to_do(entry):
            return "is of another schedule"
        foretold = self._of(entry)
        if foretold is None:
            return "cannot be predicted any more"
        if run.read_json("run.json").get("not_run") != foretold.not_run:
            return "applied to other releases when it was run"
        if foretold.not_run is not None:
            return None
        if foretold.prediction is not None and run.read_json(PREDICTION) != _as_read(foretold.prediction.as_json()):
            return "was predicted otherwise"
        return None if _asked(run) == _as_read(foretold.questions()) else "was asked something else"

    def _of(self, entry: Entry) -> Foretold | None:
        """Foretell an entry; None if no rule of the release satisfies its schedule any more."""
        if entry.name not in self._foretold:
            try:
                self._foretold[entry.name] = foretell(entry, self._rules)
            except ScheduleError:
                self._foretold[entry.name] = None
        return self._foretold[entry.name]


def _to_do(entry: Entry) -> object:
    return _as_read(encode(entry.schedule) if isinstance(entry, Scenario) else list(entry.subject.steps()))


def _done(run: RunDirectory, entry: Entry) -> object:
    if isinstance(entry, Scenario):
        return run.read_json("schedule.json")
    return run.read_json("run.json").get("steps")


def _asked(run: RunDirectory) -> list[dict[str, Any]]:
    """Return what was asked, with the predicted answers; nothing if there is no such file."""
    if not (run.path / QUESTIONS).exists():
        return []
    asked = run.read_json(QUESTIONS).get("questions", [])
    return [{"what": one.get("what"), "predicted": one.get("predicted")} for one in asked]


def _as_read(value: object) -> Any:  # noqa: ANN401 - a JSON value
    """Return a value as it is when it was written to a file and read again."""
    return json.loads(json.dumps(value, default=str))
