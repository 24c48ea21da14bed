"""How does the page of the table come about? One file, no script; its links lead to the releases' reports."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reports.overview import duration_words
from reports.requirement_table.words import (
    MEANING,
    cell_words,
    counted,
    headline,
    held_words,
    total_words,
)
from reports.verdict_words import CONFORMANCE_LOOKS, Conformance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reports.requirement_table.table import Row, Table

TEMPLATES = Path(__file__).parent.parent / "templates"


def render_page(table: Table, link: Callable[[Path], str], seed: int | None) -> str:
    """Return the page; ``link`` says where a file lies, seen from it."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {
        "link": link,
        "look": CONFORMANCE_LOOKS.__getitem__,
        "cell_words": cell_words,
        "held_words": held_words,
        "total_words": total_words,
        "counted": counted,
    }
    environment.filters.update(filters)
    return environment.get_template("requirement_table.html.j2").render(
        table=table,
        areas=_areas(table.rows),
        headline=headline(table),
        meaning=MEANING,
        facts=_facts(table, seed),
        reasons=_reasons(table),
        bad=[run for run in table.runs if run.conformance not in {Conformance.CONFORMS, Conformance.NOT_RUN}],
        legend=[CONFORMANCE_LOOKS[word] for word in Conformance],
        css=Markup("\n").join(Markup(_style(name)) for name in ("report.css", "requirement_table.css")),  # noqa: S704
    )


def _style(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _areas(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    return [(area, list(group)) for area, group in groupby(rows, key=lambda row: row.requirement.area)]


def _facts(table: Table, seed: int | None) -> dict[str, str]:
    facts = {
        "Releases": str(len(table.columns)),
        "Runs": str(len(table.runs)),
        "Time": duration_words(sum(total.seconds for total in table.totals)),
        "Rounds": str(max((total.rounds for total in table.totals), default=1)),
        "Not the same in every round": str(len(table.flakes)),
    }
    return facts | ({} if seed is None else {"Seed": str(seed)})


def _reasons(table: Table) -> list[tuple[str, list[str]]]:
    """Return why something was not run, each reason once, with what it is about."""
    about: dict[str, dict[str, None]] = {}
    for run in table.runs:
        if run.conformance is Conformance.NOT_RUN:
            about.setdefault(f"{run.scenario}: {run.reason}", {})[run.column.words] = None
    return [(reason, list(columns)) for reason, columns in about.items()]
