"""Which cells of the matrix are finished, and which are still to be run?

A cell is one catalogue entry in one round on one release; its run lies in ``LINE/round-N/``. It is finished when it
has a verdict that is not the tester's own failure, by the same seed and schedule as now, and was predicted as it is
predicted now. Anything else that lies there for a cell, or cannot be read, is put aside into ``LINE/run-again/``, so
that nothing is counted twice and no evidence is thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.catalogue.examination import without_sessions
from conformance.catalogue.scenario import Scenario
from conformance.record.answers import read_predicted
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.prediction import frozen_form, read_prediction
from conformance.record.run import BACKENDS, read_run
from conformance.record.schedule import read_schedule
from conformance.record.verdict import Conformance, read_verdict
from conformance.stages.predicting import predict_entry
from fault_injection.cluster.backends.choice import digest_of_image
from fault_injection.releases import jars_of
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.line import Line
    from conformance.record.run import Digests
    from conformance.stages.predicting import EntryPrediction


ASIDE = "run-again"
UNREADABLE = "a run that cannot be read"
"""What stands for the scenario of a run that does not say which it is."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One catalogue entry in one round, from 1 on."""

    entry: Entry
    round: int


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that is there and does not count."""

    path: Path
    scenario: str
    round: int
    why: str


@dataclass(frozen=True, slots=True)
class LineProgress:
    """How far one line of the matrix is.

    Attributes:
        finished: runs that count.
        pending: cells that are to be run.
        unfinished: runs of such cells that are there already.
    """

    finished: tuple[Path, ...]
    pending: tuple[MatrixCell, ...]
    unfinished: tuple[Unfinished, ...]


def progress_of(folder: Path, entries: Sequence[Entry], rounds: int, seed: int, line: Line) -> LineProgress:
    """Return what of the entries is finished in the folder of a line, and what is not."""
    today = Today(line)
    finished: list[Path] = []
    pending: list[MatrixCell] = []
    unfinished: list[Unfinished] = []
    for number in range(1, rounds + 1):
        runs = runs_by_scenario(round_folder(folder, number))
        unfinished += (Unfinished(path, UNREADABLE, number, "cannot be read") for path in runs.pop(None, []))
        for entry in entries:
            reasons = {path: _why_not(path, entry, seed, today) for path in runs.get(entry.name, [])}
            counting = next((path for path, why in reasons.items() if why is None), None)
            if counting is None:
                pending.append(MatrixCell(entry, number))
            else:
                finished.append(counting)
            unfinished += (
                Unfinished(path, entry.name, number, why or "was run twice")
                for path, why in reasons.items()
                if path != counting
            )
    return LineProgress(tuple(finished), tuple(pending), tuple(unfinished))


def round_folder(line: Path, number: int) -> Path:
    """Return where the runs of a round are, the first being 1."""
    return line / f"round-{number}"


def runs_of(line: Path) -> list[Path]:
    """Return every run of a line that was not put aside, round by round, the oldest first."""
    rounds = sorted(line.glob("round-*"), key=lambda folder: (len(folder.name), folder.name))
    return [run for folder in rounds for run in sorted(folder.iterdir()) if (run / "run.json").is_file()]


def runs_put_aside(line: Path) -> int:
    """Return how many runs of a line were put aside."""
    return sum(1 for _ in (line / ASIDE).glob("*/run.json"))


def put_aside(line: Path, unfinished: Sequence[Unfinished]) -> None:
    """Move runs that do not count out of their rounds."""
    for one in unfinished:
        target = line / ASIDE / one.path.name
        number = 2
        while target.exists():
            target, number = line / ASIDE / f"{one.path.name}-{number}", number + 1
        target.parent.mkdir(parents=True, exist_ok=True)
        one.path.rename(target)


def runs_by_scenario(folder: Path) -> dict[str | None, list[Path]]:
    """Return the runs of a round by the scenario that they say they are of; None of those that cannot be read."""
    found: dict[str | None, list[Path]] = {}
    for path in sorted(folder.glob("*/run.json")):
        try:
            scenario = read_run(RunDirectory(path.parent)).scenario
        except RunDirectoryError:
            scenario = None
        found.setdefault(scenario, []).append(path.parent)
    return found


def _why_not(path: Path, entry: Entry, seed: int, today: Today) -> str | None:
    """Return why a run does not count for a cell, or return None if it does."""
    run = RunDirectory(path)
    try:
        about, verdict = read_run(run), read_verdict(run)
    except RunDirectoryError:
        return "was not finished"
    if verdict is None:
        return "was not finished"
    if verdict.conformance is Conformance.HARNESS_ERROR:
        return f"ended in a harness error ({verdict.reason})"
    if about.seed != seed:
        return f"has seed {about.seed}"
    return today.difference(run, entry)


# What was asked of a line of the matrix, and what of it is not there?
#
# Every line's folder says it in ``asked.json``: an interrupted matrix, or one whose files were put together from
# several machines, is thereby known to be incomplete, and goes on with its seed. What was asked last counts.


FILE = "asked.json"
NAMED_MAX = 5


@dataclass(frozen=True, slots=True)
class RequestedRuns:
    """What one line was to run.

    Attributes:
        line: the line as the command line takes it, such as ``3.9.2/kraft``.
        seed: what it is run with.
        scenarios: catalogue entries by name.
        rounds: how many times each is run.
        fetch_sessions: whether followers kept their fetch sessions; False lists every partition in every fetch.
        problems: why something could not be run, each in one sentence.
    """

    line: str
    seed: int
    scenarios: tuple[str, ...]
    rounds: int = 1
    fetch_sessions: bool = True
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path) -> RequestedRuns | None:
        """Return what was asked of the line in a folder; None if that is not known."""
        try:
            return RunDirectory(folder).read(FILE, cls)
        except RunDirectoryError:
            return None

    def write(self, folder: Path) -> None:
        """Write what was asked into the folder of the line."""
        RunDirectory(folder).write(FILE, self)

    def missing(self, folder: Path) -> str | None:
        """Return which cells have no run in the folder of the line, or return None if all have one."""
        cells = []
        for number in range(1, self.rounds + 1):
            there = runs_by_scenario(round_folder(folder, number))
            cells += [f"{name}, round {number}" for name in self.scenarios if name not in there]
        if not cells:
            return None
        more = f" and {len(cells) - NAMED_MAX} more" if len(cells) > NAMED_MAX else ""
        share = f"{len(cells)} of {len(self.scenarios) * self.rounds} cells"
        return f"{self.line}{_on(folder)} is incomplete: {share} have no run: {'; '.join(cells[:NAMED_MAX])}{more}"


def _on(folder: Path) -> str:
    """Return the backend that a line's folder is named after: a matrix may have the line once on each."""
    backend = folder.name.rpartition("-")[2]
    return f" on the {backend} backend" if backend in BACKENDS else ""


# Did a finished run do and expect what its catalogue entry says today?
#
# The entry is predicted again, which is pure and cheap, and compared with what was frozen in the run: a run that was
# left out for a reason of yesterday, or was never asked today's question, is no answer to today's catalogue.


class Today:
    """What is run on a line today, and what the model says of catalogue entries there, each predicted once."""

    def __init__(self, line: Line) -> None:
        self._rules = line.rules
        self._build = line.release.build
        own = line.own
        self._jars = None if own is None or own.home is None else jars_of(line.release, own.home).digest
        self._image = None if own is None or own.image is None else digest_of_image(own.image)
        self._predicted: dict[str, EntryPrediction | None] = {}

    def difference(self, run: RunDirectory, entry: Entry) -> str | None:
        """Return in what a run is not of today, in words that follow its name; None if it is."""
        try:
            return self._difference(run, entry)
        except RunDirectoryError:
            return "cannot be read"

    def _difference(self, run: RunDirectory, entry: Entry) -> str | None:
        about = read_run(run)
        if about.build != self._build or self._is_of_other_files(about.digests):
            return "is of another build of your own Kafka"
        entry = without_sessions(entry) if about.no_fetch_sessions else entry
        if _done(run, entry) != _to_do(entry):
            return "is of another schedule"
        predicted = self._of(entry)
        if predicted is None:
            return "cannot be predicted any more"
        if about.not_run != predicted.not_run:
            return "applied to other releases when it was run"
        if predicted.not_run is not None:
            return None
        if predicted.prediction is not None and read_prediction(run) != frozen_form(predicted.prediction.as_json()):
            return "was predicted otherwise"
        asked = tuple(answer.predicted for answer in predicted.answers)
        return None if (read_predicted(run) or ()) == asked else "was asked something else"

    def _is_of_other_files(self, digests: Digests) -> bool:
        """Return whether the user's own Kafka was rebuilt; a run that started no broker of an image names none."""
        rebuilt = None not in {self._image, digests.image} and self._image != digests.image
        return rebuilt or self._jars not in {None, digests.jars}

    def _of(self, entry: Entry) -> EntryPrediction | None:
        """Predict an entry; None if no rule of the release satisfies its schedule any more."""
        if entry.name not in self._predicted:
            try:
                self._predicted[entry.name] = predict_entry(entry, self._rules)
            except ScheduleError:
                self._predicted[entry.name] = None
        return self._predicted[entry.name]


def _to_do(entry: Entry) -> object:
    return entry.schedule if isinstance(entry, Scenario) else list(entry.subject.steps())


def _done(run: RunDirectory, entry: Entry) -> object:
    if isinstance(entry, Scenario):
        return read_schedule(run)
    return list(read_run(run).steps or ())
