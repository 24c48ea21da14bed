"""Which runs were given, and how did the newest of each entry and line end?"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from conformance.record.directory import RunDirectoryError
from conformance.record.run import open_run, read_run, runs_given
from conformance.record.verdict import read_verdict
from reports.site.model import MeasuredRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.run import Run
    from reports.site.model import EntryText, SitePage

NONE_GIVEN = "no runs were given, so nothing is said of what brokers did."
SOME_GIVEN = "under “Last measured” stands the newest of the runs that were given; an entry without it is in none."
REPORT = "report.html"


def about_runs(runs: Sequence[Path]) -> str:
    """Return of which runs verdicts are shown, as the end of a sentence."""
    return SOME_GIVEN if runs else NONE_GIVEN


def newest_runs(
    runs: Sequence[Path], complain: Callable[[str], None] = lambda _: None
) -> dict[tuple[str, str], RunDirectory]:
    """Return the newest judged run of every entry and line among run directories and directories of runs.

    Runs of a user's own Kafka, and runs held against another release's rules, say nothing of a release and are left
    out; so are, with a complaint, those of a directory of runs that cannot be read.

    Raises:
        RunDirectoryError: what was given has no run, or is one that cannot be read.
    """
    newest: dict[tuple[str, str], tuple[str, str, RunDirectory]] = {}
    for path in runs_given(runs) if runs else ():
        try:
            run = open_run(path)
            about, verdict = read_run(run), read_verdict(run)
        except RunDirectoryError as unreadable:
            if path in runs:
                raise
            complain(f"left out: {unreadable}")
            continue
        if about.scenario is None or not _is_of_release(about) or verdict is None:
            continue
        key = (about.scenario, f"{about.kafka}/{about.metadata}")
        mark = (about.started or "", path.name)
        if key not in newest or mark > newest[key][:2]:
            newest[key] = (*mark, run)
    return {key: run for key, (_, _, run) in newest.items()}


def _is_of_release(about: Run) -> bool:
    return about.rules_of is None and about.label is None and about.build is None and not about.no_fetch_sessions


def with_runs(page: SitePage, runs: Mapping[tuple[str, str], RunDirectory], folder: Path) -> SitePage:
    """Return a page with the newest run on every line beside each of its entries.

    Args:
        page: of the site.
        runs: by the entry's name and the line.
        folder: where the page lies; links to reports are relative to it.
    """
    if not runs or not page.entries:
        return page
    return replace(page, entries=tuple(_entry_with_runs(entry, runs, folder) for entry in page.entries))


def _entry_with_runs(entry: EntryText, runs: Mapping[tuple[str, str], RunDirectory], folder: Path) -> EntryText:
    found = ((line, run) for (name, line), run in runs.items() if name == entry.name)
    return replace(entry, measured=tuple(_in_order(_measured(line, run, folder) for line, run in found)))


def _in_order(measured: Iterable[MeasuredRun]) -> list[MeasuredRun]:
    return sorted(measured, key=lambda one: (one.line.endswith("kraft"), _numbers(one.line)))


def _numbers(line: str) -> tuple[int, ...]:
    return tuple(int(part) for part in line.partition("/")[0].split(".") if part.isdigit())


def _measured(line: str, run: RunDirectory, folder: Path) -> MeasuredRun:
    verdict = read_verdict(run)
    assert verdict is not None, "only runs that were judged are kept"
    date = (read_run(run).started or "")[:10]
    return MeasuredRun(line, verdict.conformance, verdict.promise, date, _address(run.path, folder))


def _address(run: Path, folder: Path) -> str:
    """Return the way to the run's own report, else to the one beside it; nothing if there is none."""
    for report in (run / REPORT, run.parent / REPORT):
        if report.is_file():
            return quote(Path(os.path.relpath(report.resolve(), folder.resolve())).as_posix())
    return ""
