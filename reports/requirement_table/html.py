"""How does the page of the table come about? One file, whole without script; its links lead to releases' reports."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from conformance.record.verdict import Conformance, PromiseKept
from reports.html import breakable, content_policy, inline_scripts, style_sheet, template_environment
from reports.overview import NOT_AS_RELEASED, duration_words
from reports.requirement_table.as_text import render_markdown, render_table_json
from reports.requirement_table.examined import examined_runs
from reports.requirement_table.rows import (
    MEANING,
    NONE,
    NONE_MEANS,
    counted,
    flake_words,
    groups_of,
    headline,
    held_words,
    share_words,
    time_words,
    told_problems,
    unlike_the_releases,
    without_runs,
)
from reports.requirement_table.table import requirement_table
from reports.verdict_words import CONFORMANCE_LOOKS, PROMISE_LOOKS
from reports.version_matrix import metadata_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Environment

    from reports.requirement_table.examined import Column, Examined
    from reports.requirement_table.table import RequirementTable, RequirementText


GLYPHS = {
    Conformance.CONFORMS: "\N{CHECK MARK}",
    Conformance.DEVIATES: "\N{NOT EQUAL TO}",
    Conformance.INCONCLUSIVE: "?",
    Conformance.HARNESS_ERROR: "!",
    Conformance.NOT_RUN: "\N{WHITE CIRCLE}",
}
"""One sign a verdict, for the lists of runs: there are thousands."""


def render_page(table: RequirementTable, link: Callable[[Path], str], seed: int | None) -> str:
    """Return the page; ``link`` says where a file lies, seen from it."""
    return (
        _environment(link)
        .get_template("requirement_table.html.j2")
        .render(
            table=table,
            problems=told_problems(table.problems),
            groups=groups_of(table),
            silent=without_runs(table),
            headline=headline(table),
            meaning=MEANING,
            facts=_facts(table, seed),
            reasons=_reasons(table),
            bad=[run for run in table.runs if run.conformance not in {Conformance.CONFORMS, Conformance.NOT_RUN}],
            shown=[word for word in Conformance if any(total.counts[word] for total in table.totals)],
            breaking=[total for total in table.totals if total.breaking],
            broken=PROMISE_LOOKS[PromiseKept.BROKEN_AS_PREDICTED],
            css=style_sheet("report.css", "tables.css", "requirement_table.css"),
            scripts=(scripts := inline_scripts("tables.js")),
            policy=content_policy(scripts),
        )
    )


def _environment(link: Callable[[Path], str]) -> Environment:
    environment = template_environment()
    environment.filters |= {
        "link": link,
        "look": CONFORMANCE_LOOKS.__getitem__,
        "promise_look": PROMISE_LOOKS.__getitem__,
        "glyph": GLYPHS.__getitem__,
        "metadata": metadata_words,
        "breakable": breakable,
        "share_words": share_words,
        "held_words": held_words,
        "time_words": time_words,
        "flake_words": flake_words,
        "counted": counted,
    }
    environment.globals |= {"dash": NONE, "dash_means": NONE_MEANS}
    return environment


def _facts(table: RequirementTable, seed: int | None) -> dict[str, str]:
    rounds = max((total.rounds for total in table.totals), default=1)
    facts = {
        "Release lines": str(len(table.columns)),
        "Entries of the catalogue": str(len({run.scenario for run in table.runs})),
        "Runs": str(len(table.runs)),
        "Time": duration_words(sum(total.seconds for total in table.totals)),
        "Rounds": str(rounds),
        "Not the same in every round": str(len(table.flakes)) if rounds > 1 else "one round cannot tell",
    }
    if unlike := unlike_the_releases(table):
        facts[NOT_AS_RELEASED] = "; ".join(f"{releases}: {quirk}" for quirk, releases in unlike.items())
    return facts | ({} if seed is None else {"Seed": str(seed)})


def _reasons(table: RequirementTable) -> dict[str, dict[str, list[str]]]:
    """Return why entries were not run: of each entry every reason once, with the columns that it is about."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for run in table.runs:
        if run.conformance is Conformance.NOT_RUN:
            columns = reasons.setdefault(run.scenario, {}).setdefault(run.reason, [])
            if run.column.words not in columns:
                columns.append(run.column.words)
    return reasons


# Which files does the table consist of? A page for people, JSON for programs, Markdown for a CI summary.


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
    requirements: Sequence[RequirementText],
    folder: Path,
    seed: int | None = None,
    problems: Sequence[str] = (),
) -> RequirementTable:
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
