"""What does a matrix's directory hold together? Its table, its totals and the exit code."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.catalogue.requirements import REQUIREMENTS
from conformance.commands.matrix_cells import FILE, RequestedRuns, runs_of, runs_put_aside
from conformance.commands.report_page import write_page
from conformance.commands.versions import folder_text
from conformance.judgement.verdicts import exit_code
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.verdict import Conformance, PromiseKept, read_verdict
from fault_injection.releases import UsageError
from reports.requirement_table import ReleasePage, write_table
from reports.requirement_table.html import PAGE_NAME, TABLE_NAME
from reports.requirement_table.rows import held_words, missing_line, total_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reports.requirement_table.table import RequirementTable

Answer = tuple[Conformance, PromiseKept | None]


@dataclass(slots=True)
class MatrixTable:
    """The table over all lines in one directory.

    Attributes:
        seed: what the lines are run with; None if they have several.
        expected: lines that must be there, by their folders.
    """

    folder: Path
    seed: int | None = None
    expected: Mapping[Path, str] = field(default_factory=dict)
    _pages: dict[Path, ReleasePage] = field(default_factory=dict)
    _unreadable: dict[Path, str] = field(default_factory=dict)
    _asked: dict[Path, RequestedRuns] = field(default_factory=dict)
    _table: RequirementTable | None = None

    @classmethod
    def over(cls, folder: Path, seed: int | None = None, expected: Mapping[Path, str] | None = None) -> MatrixTable:
        """Read the lines that are there, and the seed unless one is given.

        Raises:
            UsageError: nothing is to be run, and there are none.
        """
        table = cls(folder, cls.seed_of(folder) if seed is None else seed, expected or {})
        for line in line_folders(folder):
            table.read(line)
        if seed is None and not table._pages and not table._asked:
            raise UsageError(f"{folder} holds no matrix: there is no run in LINE/round-N/RUN below it.")
        return table

    @staticmethod
    def seed_of(folder: Path) -> int | None:
        """Return the seed of the matrix that a directory holds, or None; the lines know it if the table does not."""
        try:
            seed = json.loads((folder / TABLE_NAME).read_text(encoding="utf-8"))["seed"]
        except (OSError, ValueError, KeyError, TypeError):
            seed = None
        if isinstance(seed, int):
            return seed
        seeds = seeds_of_lines(folder)
        return seeds[0] if len(seeds) == 1 else None

    @property
    def file(self) -> Path:
        """Return the table as JSON."""
        return self.folder / TABLE_NAME

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be run or is not there, each in one sentence."""
        told = [problem for asked in self._asked.values() for problem in asked.problems]
        told += self._unreadable.values()
        told += [text for line, asked in self._asked.items() if (text := asked.missing(line)) is not None]
        told += self._mixed()
        known = {*self._pages, *self._asked, *self._unreadable}
        told += [missing_line(text) for line, text in self.expected.items() if line not in known]
        return tuple(dict.fromkeys(told))

    def _mixed(self) -> Iterator[str]:
        """Return which lines fetch in which way, if they do not all fetch in one."""
        for way in (True, False):
            lines = [asked.line for asked in self._asked.values() if asked.fetch_sessions is way]
            if 0 < len(lines) < len(self._asked):
                with_what = sessions_text(fetch_sessions=way)
                yield f"one matrix holds both ways to fetch: {', '.join(lines)} with {with_what}"

    def read(self, line: Path) -> None:
        """Write the report of one line, and take its runs into the table; a line that has none says why."""
        asked, runs = RequestedRuns.read(line), runs_of(line)
        self._unreadable.pop(line, None)
        if asked is not None:
            self._asked[line] = asked
        try:
            if runs:
                page = write_page(runs, line / "report.html")
                self._pages[line] = ReleasePage.read(page, runs, runs_put_aside(line))
        except Exception as error:  # noqa: BLE001 - one line must not keep the others out of the table
            self._unreadable[line] = f"{line.name} could not be read: {error!r}"

    def write(self) -> None:
        """Write the table's files."""
        pages = list(self._pages.values())
        self._table = write_table(pages, REQUIREMENTS, self.folder, self.seed, self.problems)

    def words_of(self, line: Path) -> str:
        """Return what a line came to, and how much room it takes."""
        page = self._pages.get(line)
        if page is None or self._table is None:
            return "no runs"
        column = page.examined[0].column
        total = next(total for total in self._table.totals if total.column == column)
        return f"{total_words(total)}; {folder_text(line)}"

    def summary(self) -> Iterator[str]:
        """Yield what came out, line by line."""
        table = self._table
        if table is None:
            return
        width = max((len(column.words) for column in table.columns), default=0)
        for total in table.totals:
            yield f"{total.column.words:{width}}  {total_words(total)}"
        for number, column in enumerate(table.columns):
            held = ", ".join(f"{row.requirement.id} {held_words(row.held[number])}" for row in table.every_run)
            yield f"{column.words:{width}}  held in every run, observations: {held}"
        for run in table.runs:
            if run.conformance.value not in {Conformance.CONFORMS.value, Conformance.NOT_RUN.value}:
                yield f"{run.conformance.value}: {run.place}: {run.reason}"
        yield from (f"not the same in every round: {flake.sentence}" for flake in table.flakes)
        yield from (f"did not hold: {words}" for words in table.broken_in_every_run)
        yield from table.problems
        yield f"flakes: {len(table.flakes)}; table: {self.folder / PAGE_NAME}"

    def exit_code(self, *, require_promise: bool) -> int:
        """Return the exit code over all lines, as of ``run``; what was not run is a harness error."""
        answers: list[Answer] = [answer for page in self._pages.values() for answer in _answers(page)]
        answers += [(Conformance.HARNESS_ERROR, None)] * len(
            self.problems if self._table is None else self._table.problems
        )
        return exit_code(answers, require_promise=require_promise)


def line_folders(folder: Path) -> list[Path]:
    """Return the folders of the lines that a matrix's directory holds."""
    return sorted({path.parent for name in ("round-*", FILE) for path in folder.glob(f"*/{name}")})


def seeds_of_lines(folder: Path) -> list[int]:
    """Return the seeds that the lines of a matrix are run with; several if they were put together."""
    return sorted({asked.seed for asked in map(RequestedRuns.read, line_folders(folder)) if asked is not None})


def sessions_of_lines(folder: Path) -> set[bool]:
    """Return whether the lines of a matrix are run with fetch sessions; both if they were put together."""
    return {asked.fetch_sessions for asked in map(RequestedRuns.read, line_folders(folder)) if asked is not None}


def sessions_text(*, fetch_sessions: bool) -> str:
    """Return how followers fetch."""
    return "fetch sessions as brokers have them" if fetch_sessions else "fetch sessions switched off"


def _answers(page: ReleasePage) -> Iterator[Answer]:
    for examined in page.examined:
        if examined.conformance.value == Conformance.HARNESS_ERROR.value:
            yield Conformance.HARNESS_ERROR, None  # as the table has it, also of a run of which a file cannot be read
            continue
        try:
            verdict = read_verdict(RunDirectory(examined.path))
        except RunDirectoryError:
            verdict = None
        yield (Conformance.HARNESS_ERROR, None) if verdict is None else (verdict.counted, verdict.promise)
