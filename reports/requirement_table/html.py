"""How does the page of the table come about? One file, no script; its links lead to the releases' reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reports.html import TEMPLATES, breakable, style_sheet
from reports.overview import NOT_AS_RELEASED, duration_words
from reports.requirement_table.missing_lines import told_problems
from reports.requirement_table.rows import groups_of, without_runs
from reports.requirement_table.words import (
    MEANING,
    NONE,
    NONE_MEANS,
    counted,
    flake_words,
    headline,
    held_words,
    share_words,
    time_words,
    unlike_the_releases,
)
from reports.verdict_words import CONFORMANCE_LOOKS, PROMISE_LOOKS, Conformance, Promise
from reports.version_matrix import metadata_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reports.requirement_table.table import Table

GLYPHS = {
    Conformance.CONFORMS: "\N{CHECK MARK}",
    Conformance.DEVIATES: "\N{NOT EQUAL TO}",
    Conformance.INCONCLUSIVE: "?",
    Conformance.HARNESS_ERROR: "!",
    Conformance.NOT_RUN: "\N{WHITE CIRCLE}",
}
"""One sign a verdict, for the lists of runs: there are thousands."""


def render_page(table: Table, link: Callable[[Path], str], seed: int | None) -> str:
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
            broken=PROMISE_LOOKS[Promise.BROKEN_AS_PREDICTED],
            css=style_sheet("report.css", "requirement_table.css"),
        )
    )


def _environment(link: Callable[[Path], str]) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "link": link,
        "look": CONFORMANCE_LOOKS.__getitem__,
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


def _facts(table: Table, seed: int | None) -> dict[str, str]:
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


def _reasons(table: Table) -> dict[str, dict[str, list[str]]]:
    """Return why entries were not run: of each entry every reason once, with the columns that it is about."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for run in table.runs:
        if run.conformance is Conformance.NOT_RUN:
            columns = reasons.setdefault(run.scenario, {}).setdefault(run.reason, [])
            if run.column.words not in columns:
                columns.append(run.column.words)
    return reasons
