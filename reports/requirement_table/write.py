"""Which files does the table consist of? A page for people, JSON for programs, Markdown for a CI summary."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from reports.requirement_table.as_json import render_table_json
from reports.requirement_table.examined import examined_runs
from reports.requirement_table.html import render_page
from reports.requirement_table.markdown import render_markdown
from reports.requirement_table.table import requirement_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.requirement_table.examined import Column, Examined
    from reports.requirement_table.table import Requirement, Table

PAGE_NAME = "matrix.html"
TABLE_NAME = "matrix.json"
SUMMARY_NAME = "matrix.md"


@dataclass(frozen=True, slots=True)
class ReleasePage:
    """What the table takes from the report of one release.

    Attributes:
        examined: its runs.
        again: how many runs were put aside because they had to be run again.
    """

    examined: tuple[Examined, ...]
    again: int = 0

    @classmethod
    def read(cls, page: Path, runs: Sequence[Path], again: int = 0) -> ReleasePage:
        """Read the runs that a page tells, in its order."""
        return cls(examined_runs(runs, page), again)


def write_table(
    pages: Sequence[ReleasePage],
    requirements: Sequence[Requirement],
    folder: Path,
    seed: int | None = None,
    problems: Sequence[str] = (),
) -> Table:
    """Write matrix.html, matrix.json and matrix.md into a folder.

    Args:
        pages: what the reports of the releases tell; links lead there.
        requirements: the rows.
        folder: where the files go; it is there.
        seed: what the runs were made with, if it is one for all.
        problems: releases that could not be run at all, each in one sentence.

    Returns:
        The table that was written.
    """
    examined = [run for page in pages for run in page.examined]
    again: dict[Column, int] = {}
    for page in pages:
        for column in {run.column for run in page.examined}:
            again[column] = again.get(column, 0) + page.again
    table = requirement_table(examined, requirements, again, problems)

    def link(path: Path) -> str:
        return quote(Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix())

    (folder / TABLE_NAME).write_text(render_table_json(table, link, seed), encoding="utf-8")
    (folder / PAGE_NAME).write_text(render_page(table, link, seed), encoding="utf-8")
    (folder / SUMMARY_NAME).write_text(render_markdown(table), encoding="utf-8")
    return table
