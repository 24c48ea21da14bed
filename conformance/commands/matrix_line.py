"""How is one line of the matrix run? Every pending cell on brokers of one release, as ``run`` does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.commands.choosing import check_predictable
from conformance.commands.matrix_cells import (
    LineProgress,
    MatrixCell,
    RequestedRuns,
    progress_of,
    put_aside,
    round_folder,
)
from conformance.commands.versions import jars_text
from conformance.lanes import Lanes, SessionOrder
from conformance.registry import entries_named
from conformance.schedules.schedule_file import ScheduleFileError
from conformance.session import Task, in_pieces, in_running_order, session_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.commands.choosing import Choice
    from conformance.console import Console
    from conformance.line import Line
    from conformance.pipeline import Finished
    from conformance.run_options import RunOptions
    from conformance.session import Session


@dataclass(frozen=True, slots=True)
class LineOptions:
    """How every line is run.

    Attributes:
        runs: the matrix's directory; a line has a folder in it.
        choice: what ``entries`` were chosen by.
        rounds: how many times each entry is run.
        options: how they are run; the backend, ``docker`` or ``process``, is the same for all lines.
        lanes: how many clusters of a line run side by side.
    """

    runs: Path
    choice: Choice
    entries: Sequence[Entry]
    rounds: int
    seed: int
    options: RunOptions
    lanes: int = 1

    def folder(self, line: Line) -> Path:
        """Return where a line's runs and report are."""
        return line_folder(self.runs, line, self.options.backend)

    def asked_of(self, line: Line) -> RequestedRuns:
        """Return what a line is to run."""
        names = tuple(entry.name for entry in self.entries)
        return RequestedRuns(line.words, self.seed, names, self.rounds, self.options.fetch_sessions)


def line_folder(runs: Path, line: Line, backend: str) -> Path:
    """Return where the runs and the report of a line are in a matrix's directory."""
    named = f"{line.release.version}-{line.metadata.value}"
    return runs / "-".join((named, *([line.label] if line.label else []), backend))


def run_line(console: Console, lines: LineOptions, line: Line, problems: list[str]) -> None:
    """Run what is not finished of a line; says what is skipped, and what is run again and why.

    Args:
        console: told what is going on.
        lines: how lines are run.
        line: the line.
        problems: gets a sentence for each cell that cannot be run.

    Raises:
        UsageError: the release's jars, or what runs its brokers, cannot be had.
    """
    folder, entries = lines.folder(line), in_running_order(lines.entries)
    progress = progress_of(folder, entries, lines.rounds, lines.seed, line)
    _announce(console, line, progress)

    def failed(place: str, problem: str) -> None:
        problems.append(f"{line.words}: {problem}")
        console.complain(f"{place} {problem}")

    pending = _predictable(lines.choice, line, progress.pending, failed)
    console.leave_out(len(progress.pending) - len(pending))
    if not pending:
        put_aside(folder, progress.unfinished)
        return
    words = f"{line.words}: seed {lines.seed}."
    if lines.lanes > 1:
        put_aside(folder, progress.unfinished)
        _run_in_lanes(console, lines, SessionOrder(line, lines.options, lines.seed, words), pending, failed)
        return
    with session_on(line, lines.options, lines.seed, console.progress, words) as session:
        if session.cluster_pool.jars.files:
            console.progress(f"{line.words}: {jars_text(session.cluster_pool.jars)}")
        put_aside(folder, progress.unfinished)
        session.run_all(tasks_of(folder, pending), f"{line.words} ", failed, console.begin)


@dataclass(frozen=True, slots=True)
class LaneCells:
    """Cells of one round that a lane runs; it finds their entries in the catalogue by their names."""

    line: Line
    folder: Path
    round: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotRun:
    """Why there is no verdict of a cell."""

    place: str
    problem: str


def _run_in_lanes(
    console: Console,
    lines: LineOptions,
    order: SessionOrder,
    cells: Sequence[MatrixCell],
    failed: Callable[[str, str], None],
) -> None:
    with Lanes(lines.lanes, order, run_cells, console.progress) as lanes:
        for one in lanes.results(_pieces(lines, order.line, cells)):
            if isinstance(one, NotRun):
                failed(one.place, one.problem)
            else:
                console.begin(one.scenario)


def _pieces(lines: LineOptions, line: Line, cells: Sequence[MatrixCell]) -> Iterator[LaneCells]:
    for number in sorted({cell.round for cell in cells}):
        entries = [cell.entry for cell in cells if cell.round == number]
        for piece in in_pieces(entries, lines.lanes):
            yield LaneCells(line, lines.folder(line), number, tuple(entry.name for entry in piece))


def run_cells(session: Session, cells: LaneCells) -> Iterator[Finished | NotRun]:
    """Run cells in a lane, and tell of each what came of it."""
    tasks = tasks_of(cells.folder, [MatrixCell(entry, cells.round) for entry in entries_named(cells.names)])
    problems: list[NotRun] = []

    def failed(place: str, problem: str) -> None:
        problems.append(NotRun(place, problem))

    yield from session.run_all(tasks, f"{cells.line.words} ", failed)
    yield from problems


def tasks_of(folder: Path, cells: Sequence[MatrixCell]) -> list[Task]:
    """Return what is to be run for cells of a line."""
    return [Task(one.entry, round_folder(folder, one.round), f"{one.entry.name}, round {one.round}") for one in cells]


def _predictable(
    choice: Choice, line: Line, cells: Sequence[MatrixCell], failed: Callable[[str, str], None]
) -> list[MatrixCell]:
    """Return the cells whose schedules the line's rules satisfy, and tell of each entry that has another."""
    unpredictable: set[str] = set()
    for entry in {cell.entry.name: cell.entry for cell in cells}.values():
        try:
            check_predictable(choice, [entry], line.rules)
        except ScheduleFileError as error:
            failed(line.words, f"cannot be predicted: {error}")
            unpredictable.add(entry.name)
    return [cell for cell in cells if cell.entry.name not in unpredictable]


def _announce(console: Console, line: Line, progress: LineProgress) -> None:
    total, finished = len(progress.finished) + len(progress.pending), len(progress.finished)
    skipped = f", {finished} finished and skipped" if finished else ""
    console.leave_out(finished)
    console.progress(f"{line.words}: {total} {'cell' if total == 1 else 'cells'}{skipped}")
    for one in progress.unfinished:
        console.progress(f"{line.words}: {one.scenario}, round {one.round} is run again: {one.path.name} {one.why}")
