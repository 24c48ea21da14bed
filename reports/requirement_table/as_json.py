"""What can a program read? The table as matrix.json: columns, rows with every run, flakes, counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.record.verdict import Conformance
from reports.requirement_table.words import MEANING, headline

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reports.requirement_table.examined import Column, Examined
    from reports.requirement_table.table import EveryRunRow, RequirementCell, RequirementRow, RequirementTable, Total


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
        "cells": [_cell(cell, link) for cell in row.cells],
    }


def _cell(cell: RequirementCell, link: Callable[[Path], str]) -> dict[str, Any]:
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
