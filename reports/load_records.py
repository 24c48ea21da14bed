"""What became of every record? Prediction, ledger and topic beside each other, one row a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from reports.fates import gone_word, predicted_fate
from reports.model import ClassCount, Records, RecordView
from reports.run_files import count_rows, read_lines, read_object, read_rows
from reports.step_prose import acks_words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RECORDS_MAX = 200
"""A page lists this many records; of a longer run the remarkable ones come first."""


class _Measured(NamedTuple):
    """What was measured of every record, by record id without the run's base."""

    outcomes: Mapping[int, Mapping[str, Any]]
    offsets: Mapping[int, list[int]]
    topic_was_read: bool
    deviating: frozenset[object]


def load_records(
    path: Path, run: Mapping[str, Any], schedule: Mapping[str, Any], prediction: Mapping[str, Any]
) -> Records:
    """Return the records with the reconciliation's counts."""
    counts = read_object(path / "reconciliation" / "counts.json")
    measured = _measured(path, int(run.get("record_id_base") or 0))
    acks = _acks_by_label(schedule)
    predicted = prediction.get("records") or ()
    rows = [_row(record, measured, acks) for record in predicted]
    if len(rows) > RECORDS_MAX:
        rows.sort(key=_is_unremarkable)
    return Records(
        rows=tuple(rows[:RECORDS_MAX]),
        total=len(rows),
        acks=tuple(sorted({row.acks for row in rows if row.acks}, reverse=True)),
        classes=_classes(counts),
        totals=counts.get("totals") or {},
        identity_holds=counts.get("identity_holds"),
    )


def acknowledged_offsets(path: Path, base: int) -> dict[int, int]:
    """Return the offset each record was acknowledged at, by record id without the base."""
    rows = read_rows(path / "ledger", ("record_id", "offset"), "outcomes-*.parquet")
    return {row["record_id"] - base: row["offset"] for row in rows if row["offset"] is not None}


def _is_unremarkable(row: RecordView) -> bool:
    return not row.deviates and row.predicted_fate == "present" and row.measured_outcome == "acknowledged"


def _measured(path: Path, base: int) -> _Measured:
    ledger = read_rows(path / "ledger", ("record_id", "outcome", "error", "offset"), "outcomes-*.parquet")
    topic = read_rows(path / "topic", ("record_id", "offset"))
    offsets: dict[int, list[int]] = {}
    for row in topic:
        if row["record_id"] is not None:
            offsets.setdefault(row["record_id"] - base, []).append(row["offset"])
    samples = read_object(path / "reconciliation" / "samples.json")
    return _Measured(
        outcomes={row["record_id"] - base: row for row in ledger} or _observed_outcomes(path),
        offsets=offsets,
        topic_was_read=_is_written(path / "topic") and count_rows(path / "topic") == len(topic),
        deviating=frozenset(item.get("label") for item in samples.get("deviations") or ()),
    )


def _is_written(folder: Path) -> bool:
    """Say whether there are files, be it without rows: a topic may have lost everything."""
    return any(folder.glob("*.parquet"))


def _observed_outcomes(path: Path) -> dict[int, Mapping[str, Any]]:
    rows = [row for row in read_lines(path / "observations.ndjson") if row.get("kind") == "outcome"]
    return dict(enumerate(rows))


def _acks_by_label(schedule: Mapping[str, Any]) -> dict[str, object]:
    found: dict[str, object] = {}
    for step in schedule.get("steps") or ():
        produce = step.get("produce")
        if isinstance(produce, dict):
            found.update({str(label): produce.get("acks", "all") for label in produce.get("records") or ()})
    return found


def _row(record: Mapping[str, Any], measured: _Measured, acks: Mapping[str, object]) -> RecordView:
    record_id, label = int(record.get("id") or 0), str(record.get("label") or "")
    fate, offset = _measured_fate(record, measured)
    return RecordView(
        label=label,
        acks=acks_words(record.get("acks", acks.get(label))),
        predicted_outcome=_outcome_words(record),
        measured_outcome=_outcome_words(measured.outcomes.get(record_id, {})),
        predicted_fate=predicted_fate(record, str(measured.outcomes.get(record_id, {}).get("outcome") or "")),
        measured_fate=fate,
        offset=offset,
        decided_by=str(record.get("decided_by") or ""),
        promise=str(record.get("promise") or ""),
        promise_reason=str(record.get("promise_reason") or ""),
        deviates=label in measured.deviating,
    )


def _measured_fate(record: Mapping[str, Any], measured: _Measured) -> tuple[str, int | None]:
    """Say where the record is, in the words of the prediction, with its offset in the topic."""
    record_id = int(record.get("id") or 0)
    found = measured.offsets.get(record_id, [])
    if found:
        return ("present" if len(found) == 1 else "present more than once"), found[0]
    if not measured.topic_was_read:
        return "", None
    if record.get("fate") == "deleted":
        return "deleted", None
    return gone_word(record, str(measured.outcomes.get(record_id, {}).get("outcome") or "")), None


def _outcome_words(row: Mapping[str, Any]) -> str:
    outcome, error = str(row.get("outcome") or ""), row.get("error")
    return f"{outcome}: {error}" if error else outcome


def _classes(counts: Mapping[str, Any]) -> tuple[ClassCount, ...]:
    predicted = counts.get("predicted") or {}
    return tuple(
        ClassCount(str(name), predicted.get(name), int(measured))
        for name, measured in (counts.get("classes") or {}).items()
    )
