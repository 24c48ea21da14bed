"""How is the table written without a page: Markdown for people, matrix.json for programs?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.record.verdict import Conformance
from reports.overview import NOT_AS_RELEASED
from reports.requirement_table.rows import (
    MEANING,
    NONE,
    NONE_MEANS,
    cell_words,
    flake_words,
    groups_of,
    headline,
    held_words,
    time_words,
    told_problems,
    unlike_the_releases,
    without_runs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from reports.requirement_table.examined import Column, Examined
    from reports.requirement_table.rows import ShownRow
    from reports.requirement_table.table import EveryRunRow, RequirementCell, RequirementRow, RequirementTable, Total


TO_BE_LOOKED_AT = (Conformance.DEVIATES, Conformance.HARNESS_ERROR, Conformance.INCONCLUSIVE)


def render_markdown(table: RequirementTable) -> str:
    """Return the summary."""
    silent = without_runs(table)
    parts = [
        f"## {headline(table)}",
        MEANING,
        *([f"> {_plain(problem)}" for problem in told_problems(table.problems)]),
        _releases(table),
        *_list(NOT_AS_RELEASED, (f"{names}: {quirk}" for quirk, names in unlike_the_releases(table).items())),
        *_list("Durability promises that were broken", _broken_promises(table)),
        *_list("To be looked at", _runs_to_look_at(table)),
        *_list("Not the same in every round", (flake.sentence for flake in table.flakes)),
        *_list("Not predicted by the model", _not_modelled(table)),
        *_list("Held in every run, but not always", table.broken_in_every_run),
        *_grids(table),
        f"{NONE}: {NONE_MEANS}." + (f" No run is about {', '.join(silent)}." if silent else ""),
    ]
    return "\n\n".join(parts) + "\n"


def _releases(table: RequirementTable) -> str:
    shown = [word for word in Conformance if any(total.counts[word] for total in table.totals)]
    head = [
        "Kafka",
        "backend",
        "entries",
        "runs",
        *(word.value for word in shown),
        "time",
        "rounds",
        "flakes",
        "run again",
    ]
    rows = [
        [
            total.column.words,
            total.column.backend,
            str(total.entries),
            str(len(total.runs)),
            *(str(total.counts[word]) for word in shown),
            time_words(total),
            str(total.rounds),
            flake_words(total),
            str(total.again),
        ]
        for total in table.totals
    ]
    return _grid(head, rows)


def _not_modelled(table: RequirementTable) -> Iterable[str]:
    """Name the entries whose answers come from elsewhere."""
    told = {(run.basis, run.scenario) for run in table.runs if run.basis not in {"", "predicted"}}
    for basis in sorted({basis for basis, _ in told}):
        yield f"{basis}: {', '.join(sorted(name for its, name in told if its == basis))}"


def _broken_promises(table: RequirementTable) -> Iterable[str]:
    """Tell of every release line the first one, and how many more there are."""
    for total in table.totals:
        first = next((run.broken for run in total.breaking), None)
        if first is not None:
            more = f" (and {total.broken_promises - 1} more)" if total.broken_promises > 1 else ""
            yield f"{first.promise.value} {first.line}, {first.scenario}: {first.cause}{more}"


def _runs_to_look_at(table: RequirementTable) -> Iterable[str]:
    for run in table.runs:
        if run.conformance in TO_BE_LOOKED_AT:
            yield f"{run.conformance.value} {run.place}: {run.reason}"


def _grids(table: RequirementTable) -> Iterable[str]:
    for title, rows in groups_of(table):
        head = [title, *(column.words for column in table.columns)]
        cells = [
            [f"{row.requirement.id} {row.requirement.sentence}", *(_cell(row, at) for at in range(len(table.columns)))]
            for row in rows
        ]
        yield _grid(head, cells)


def _cell(row: ShownRow, column: int) -> str:
    runs = cell_words(row.cells[column]) if row.cells else NONE
    if not row.held:
        return runs
    held = held_words(row.held[column])
    return held if runs == NONE else f"{held}; runs: {runs}"


def _list(title: str, lines: Iterable[str]) -> list[str]:
    items = [f"- {_plain(line)}" for line in lines]
    return [f"### {title}\n\n" + "\n".join(items)] if items else []


def _grid(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_plain(text) for text in line) + " |" for line in lines)


def _plain(text: str) -> str:
    """Keep a text in its line or cell: no line breaks, no bars, no tags."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


# What can a program read? The table as matrix.json: columns, rows with every run, flakes, counts.


def render_table_json(table: RequirementTable, link: Callable[[Path], str], seed: int | None) -> str:
    """Return matrix.json; ``link`` says where a file lies, seen from the table."""
    document = {
        "says": headline(table),
        "means": MEANING,
        "seed": seed,
        "columns": [_column(total) for total in table.totals],
        "seconds": round(sum(total.seconds for total in table.totals), 1),
        "every_run": [_every_run(row) for row in table.every_run],
        "requirements": [_row(row, link) for row in table.rows],
        "flakes": [flake.sentence for flake in table.flakes],
        "problems": list(table.problems),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _column(total: Total) -> dict[str, Any]:
    return {
        **_named(total.column),
        "entries": total.entries,
        "runs": len(total.runs),
        "conformance": {word.value: total.counts[word] for word in Conformance},
        "broken_promises": total.broken_promises,
        "seconds": round(total.seconds, 1),
        "seconds_of_rounds": [round(seconds, 1) for seconds in total.seconds_of_rounds],
        "rounds": total.rounds,
        "flakes": total.flakes,
        "run_again": total.again,
        "seeds": sorted({run.seed for run in total.runs}),
        "quirks": list(dict.fromkeys(quirk for run in total.runs for quirk in run.quirks)),
    }


def _named(column: Column) -> dict[str, str | None]:
    own = {"label": column.label or None, "build": column.build or None}
    return {"kafka": column.kafka, "metadata": column.metadata, "backend": column.backend, **own}


def _every_run(row: EveryRunRow) -> dict[str, Any]:
    return {
        "id": row.requirement.id,
        "sentence": row.requirement.sentence,
        "held": [{"probes": h.probes, "frames": h.frames, "broken": list(h.broken)} for h in row.held],
    }


def _row(row: RequirementRow, link: Callable[[Path], str]) -> dict[str, Any]:
    return {
        "id": row.requirement.id,
        "area": row.requirement.area,
        "sentence": row.requirement.sentence,
        "cells": [_cell_values(cell, link) for cell in row.cells],
    }


def _cell_values(cell: RequirementCell, link: Callable[[Path], str]) -> dict[str, Any]:
    return {
        "conformance": cell.word.value if cell.word else None,
        "broken_promises": cell.broken_promises,
        "runs": [_run(run, link) for run in cell.runs],
    }


def _run(run: Examined, link: Callable[[Path], str]) -> dict[str, Any]:
    return {
        "scenario": run.scenario,
        "round": run.round,
        "basis": run.basis or None,
        "conformance": run.conformance.value,
        "promise": None if run.promise is None else run.promise.value,
        "reason": run.reason,
        "promise_broken_by": None if run.broken is None else run.broken.cause,
        "seconds": run.seconds,
        "seed": run.seed,
        "run": link(run.path),
        "report": f"{link(run.page)}#{run.anchor}",
    }
