"""What goes into a CI job's summary? The table in Markdown, without links: a summary has no files beside it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from reports.overview import duration_words
from reports.requirement_table.words import MEANING, cell_words, headline, held_words
from reports.verdict_words import Conformance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reports.requirement_table.table import Table

BAD = (Conformance.DEVIATES, Conformance.HARNESS_ERROR, Conformance.INCONCLUSIVE)


def render_markdown(table: Table) -> str:
    """Return the summary."""
    parts = [
        f"## {headline(table)}",
        MEANING,
        *([f"> {problem}" for problem in table.problems]),
        _releases(table),
        *_list("Not as predicted", _bad_runs(table)),
        *_list("Not the same in every round", (flake.sentence for flake in table.flakes)),
        *_list("Held in every run, but not always", table.broken_in_every_run),
        _every_run(table),
        *_areas(table),
    ]
    return "\n\n".join(parts) + "\n"


def _releases(table: Table) -> str:
    shown = [word for word in Conformance if any(total.counts[word] for total in table.totals)]
    head = ["Kafka", "backend", "runs", *(word.value for word in shown), "time", "rounds", "flakes", "run again"]
    rows = [
        [
            total.column.words,
            total.column.backend,
            str(len(total.runs)),
            *(str(total.counts[word]) for word in shown),
            duration_words(total.seconds),
            str(total.rounds),
            str(total.flakes),
            str(total.again),
        ]
        for total in table.totals
    ]
    return _grid(head, rows)


def _bad_runs(table: Table) -> Iterable[str]:
    for run in table.runs:
        if run.conformance in BAD:
            yield f"{run.conformance.value} {run.place}: {run.reason}"


def _every_run(table: Table) -> str:
    head = ["In every run: observations that it held for", *(column.words for column in table.columns)]
    rows = [
        [f"{row.requirement.id} {row.requirement.sentence}", *(held_words(held) for held in row.held)]
        for row in table.every_run
    ]
    return _grid(head, rows)


def _areas(table: Table) -> Iterable[str]:
    for area, rows in groupby(table.rows, key=lambda row: row.requirement.area):
        head = [area, *(column.words for column in table.columns)]
        cells = [
            [f"{row.requirement.id} {row.requirement.sentence}", *(cell_words(cell) for cell in row.cells)]
            for row in rows
        ]
        yield _grid(head, cells)


def _list(title: str, lines: Iterable[str]) -> list[str]:
    items = [f"- {_plain(line)}" for line in lines]
    return [f"### {title}\n\n" + "\n".join(items)] if items else []


def _grid(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_plain(text) for text in line) + " |" for line in lines)


def _plain(text: str) -> str:
    """Keep a text in its cell: no line breaks, no bars, no tags."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
