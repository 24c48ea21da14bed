"""What did each checkpoint predict, and what was measured? The judge's rows, or a plain comparison.

The judge's own comparison is shown whenever it exists; only a run that was never judged has its
numbers put side by side here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reports.model import CheckpointView, Comparison
from reports.run_files import read_array, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

UNKNOWN = "—"


def load_checkpoints(path: Path, prediction: Mapping[str, Any]) -> tuple[CheckpointView, ...]:
    """Return the checkpoints in schedule order."""
    judged = read_array(path / "reconciliation" / "checkpoints.json")
    if judged:
        named = [(str(item.get("name") or ""), _judged_rows(item.get("rows") or ())) for item in judged]
    else:
        named = _compared(prediction.get("checkpoints") or (), read_lines(path / "observations.ndjson"))
    return tuple(CheckpointView(number, name, rows) for number, (name, rows) in enumerate(named, start=1))


def number_words(value: object) -> str:
    """Return a checkpoint's value as words: none, 2, or {1, 2}."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return "{" + ", ".join(str(item) for item in value) + "}"
        case _:
            return str(value)


def _judged_rows(rows: Sequence[Mapping[str, Any]]) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            what=str(row.get("what") or ""),
            predicted=number_words(row.get("predicted")),
            measured=number_words(row.get("measured")),
            agrees=bool(row.get("agrees")),
        )
        for row in rows
    )


def _compared(
    predicted: Sequence[Mapping[str, Any]], observations: Sequence[Mapping[str, Any]]
) -> list[tuple[str, tuple[Comparison, ...]]]:
    measured = {row.get("name"): row for row in observations if row.get("kind") == "checkpoint"}
    return [
        (str(item.get("name") or ""), _side_by_side(_values(item), _seen(item, measured.get(item.get("name"), {}))))
        for item in predicted
    ]


def _side_by_side(predicted: Mapping[str, str], measured: Mapping[str, str]) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(what, value, measured.get(what, UNKNOWN), value == measured.get(what, value))
        for what, value in predicted.items()
    )


def _seen(predicted: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, str]:
    """Return what was measured; where no frame tells which of two offsets a leader knows, the predicted one of them."""
    values, offsets = _values(measured), predicted.get("remote_log_end_offsets") or {}
    for broker, offset in (measured.get("or_if_diverging_counts") or {}).items():
        if offsets.get(broker) == offset:
            values[f"remote log end offset of {broker}"] = number_words(offset)
    return values


def _values(item: Mapping[str, Any]) -> dict[str, str]:
    values = {}
    for broker, numbers in (item.get("replicas") or {}).items():
        values[f"broker {broker} log end offset"] = number_words(numbers.get("log_end_offset"))
        values[f"broker {broker} high watermark"] = number_words(numbers.get("high_watermark"))
    if item:
        values["leader"] = number_words(item.get("leader"))
        values["isr"] = number_words(sorted(item.get("isr") or ()))
    for broker, offset in (item.get("remote_log_end_offsets") or {}).items():
        values[f"remote log end offset of {broker}"] = number_words(offset)
    return values
