"""How is one line of the matrix run? Every pending cell on brokers of one release, as ``run`` does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.commands.choosing import check_predictable
from conformance.commands.matrix_cells import LineProgress, RequestedRuns, progress_of, put_aside, round_folder
from conformance.commands.versions import jars_text
from conformance.schedules.schedule_file import ScheduleFileError
from conformance.session import Task, in_running_order, session_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.commands.choosing import Choice
    from conformance.commands.matrix_cells import MatrixCell
    from conformance.console import Console
    from conformance.line import Line
    from conformance.run_options import RunOptions


@dataclass(frozen=True, slots=True)
class LineOptions:
    """How every line is run.

    Attributes:
        runs: the matrix's directory; a line has a folder in it.
        choice: what ``entries`` were chosen by.
        rounds: how many times each entry is run.
        options: how they are run; the backend, ``docker`` or ``process``, is the same for all lines.
    """

    runs: Path
    choice: Choice
    entries: Sequence[Entry]
    rounds: int
    seed: int
    options: RunOptions

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
    with session_on(line, lines.options, lines.seed, console.progress, words) as session:
        if session.cluster_pool.jars.files:
            console.progress(f"{line.words}: {jars_text(session.cluster_pool.jars)}")
        put_aside(folder, progress.unfinished)
        session.run_all(tasks_of(folder, pending), f"{line.words} ", failed, console.begin)


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
