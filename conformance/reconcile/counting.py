"""How do the collected parts become a ``Reconciliation``, and do the numbers add up?

The identity sets what Spark counted against the row counts in the footers of the files, which Spark's query
never sees: a record dropped or multiplied anywhere in the query makes them differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.reconcile import run_files, wording
from conformance.reconcile.classify import CLASSES, UNATTEMPTED, UNDETERMINED
from conformance.reconcile.codes import OUTCOMES
from conformance.reconcile.reconciliation import Reconciliation
from conformance.reconcile.records import MEASURED, PREDICTED
from conformance.reconcile.summary import (
    COUNTS,
    DEVIATIONS,
    DIVERGENCE_COUNTS,
    DIVERGENCES,
    RECORDS,
    REPLICA_LOG,
    REPLICA_LOG_COUNTS,
    SAMPLE_ROWS_MAX,
    Parts,
    labels_of,
)
from conformance.record.reconciliation import Counts, RecordClass, Totals

_NEVER_PRODUCED = ("phantom", UNATTEMPTED)
_EMPTY_SIDE: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class FileRows:
    """How many rows the files of each table have by their footers."""

    attempts: int
    outcomes: int
    predictions: int
    topic: int

    @classmethod
    def of(cls, run_directory: Path) -> "FileRows":
        """Count the rows of a run directory's files."""
        return cls(
            attempts=run_files.ATTEMPTS.rows(run_directory),
            outcomes=run_files.OUTCOMES.rows(run_directory),
            predictions=run_files.PREDICTED_RECORDS.rows(run_directory),
            topic=run_files.TOPIC.rows(run_directory),
        )


def reconciliation_of(parts: Parts, run_directory: Path, end_offset: int | None) -> Reconciliation:
    """Build the reconciliation from the collected parts.

    Raises:
        ReconcileError: a file of the run directory is unreadable.
    """
    sides = {row["side"]: row for row in parts.get(COUNTS, [])}
    measured, predicted = sides.get(MEASURED, _EMPTY_SIDE), sides.get(PREDICTED, _EMPTY_SIDE)
    rows = FileRows.of(run_directory)
    divergences = parts[DIVERGENCE_COUNTS][0]
    by_kind = {
        "record": measured.get("deviations", 0),
        "replica_log": _deviating_entries(parts) + divergences["unpredicted"],
    }
    counts = Counts(
        totals=Totals(**_totals(measured, rows)),
        classes={**_classes(measured), "diverged": divergences["diverged"]},
        primary=_primary(measured),
        predicted=_predicted(predicted, run_directory),
        deviations=sum(by_kind.values()),
        deviations_by_kind=by_kind,
        identity_holds=identity_holds(measured, rows),
        end_offset_read=end_offset,
    )
    return Reconciliation(counts, _samples(parts, run_directory), _record_classes(parts))


def _record_classes(parts: Parts) -> list[RecordClass]:
    ours = [row for row in parts.get(RECORDS, []) if row["record_id"] is not None]
    rows = sorted(ours, key=lambda row: int(row["record_id"]))
    predicted = {row["record_id"]: row["classification"] for row in rows if row["side"] == PREDICTED}
    return [
        RecordClass(
            record_id=row["record_id"],
            predicted=predicted.get(row["record_id"]),
            measured=row["classification"],
            offset=row["first_offset"],
            copies=row["copies"],
            outcome=row["outcome"],
            error=row["error"],
            acknowledged_offset=row["acknowledged_offset"],
            deviates=row["deviating"],
        )
        for row in rows
        if row["side"] == MEASURED
    ]


def identity_holds(measured: Mapping[str, Any], rows: FileRows) -> bool:
    """Return whether every row of every file is in the counts, and each produced record in one primary class."""
    produced = sum(count for name, count in _primary(measured).items() if name not in _NEVER_PRODUCED)
    pairs = (
        (produced, rows.attempts),
        *((measured.get(name, 0), rows.attempts) for name in ("attempts", "attempted")),
        *((measured.get(name, 0), rows.outcomes) for name in ("outcomes", "outcomes_of_attempts")),
        *((measured.get(name, 0), rows.predictions) for name in ("predictions", "predicted_ids")),
        (measured.get("copies", 0), rows.topic),
        (measured.get("classified", 0), measured.get("rows", 0)),
    )
    return all(counted == expected for counted, expected in pairs)


def _totals(measured: Mapping[str, Any], rows: FileRows) -> dict[str, int]:
    outcomes = {name: measured.get(name, 0) for name in OUTCOMES}
    return {"produced": rows.attempts, "predicted": rows.predictions, "read": rows.topic, **outcomes}


def _classes(side: Mapping[str, Any]) -> dict[str, int]:
    return {name: side.get(f"class_{name}", 0) for name in CLASSES}


def _primary(measured: Mapping[str, Any]) -> dict[str, int]:
    return {name: measured.get(f"primary_{name}", 0) for name in (*CLASSES, UNATTEMPTED)}


def _predicted(side: Mapping[str, Any], run_directory: Path) -> dict[str, int]:
    return {
        **_classes(side),
        "diverged": len(run_files.predicted_divergences(run_directory)),
        UNDETERMINED: side.get(f"primary_{UNDETERMINED}", 0),
    }


def _deviating_entries(parts: Parts) -> int:
    return sum(row["deviating"] for row in parts.get(REPLICA_LOG_COUNTS, []))


def _samples(parts: Parts, run_directory: Path) -> dict[str, list[dict[str, object]]]:
    labels = labels_of(run_directory, _sampled_ids(parts))
    divergences = parts.get(DIVERGENCES, [])
    deviations = [
        *wording.record_deviations(parts.get(DEVIATIONS, []), labels),
        *wording.replica_log_deviations(parts.get(REPLICA_LOG, []), labels),
        *wording.divergence_deviations([row for row in divergences if not row["is_predicted"]], labels),
    ]
    return {
        **{name: [_labelled(row, labels) for row in parts.get(name, [])] for name in CLASSES},
        DEVIATIONS: deviations[:SAMPLE_ROWS_MAX],
        DIVERGENCES: [wording.divergence(row, labels) for row in divergences],
    }


def _sampled_ids(parts: Parts) -> set[int]:
    names = ("record_id", "predicted_record", "measured_record", "record_a", "record_b")
    rows = [row for sample in parts.values() for row in sample]
    return {row[name] for row in rows for name in names if row.get(name) is not None}


def _labelled(row: Mapping[str, Any], labels: Mapping[int, str]) -> dict[str, object]:
    """Return a sampled record with its label and, as the record's offset, the first one it was read at."""
    label = labels.get(row["record_id"])
    kept = {name: content for name, content in row.items() if name not in ("record_id", "deviations")}
    return {"record_id": row["record_id"], "label": label, "offset": row["first_offset"], **kept}
