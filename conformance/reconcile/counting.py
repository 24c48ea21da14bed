"""How do the collected parts become a ``Reconciliation``, and do the numbers add up?

The identity sets what Spark counted against the row counts in the footers of the files, which Spark's query
never sees: a record dropped or multiplied anywhere in the query makes them differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.reconcile import run_files
from conformance.reconcile.classify import CLASSES, MISSING, UNATTEMPTED, UNDETERMINED, UNEXPECTED
from conformance.reconcile.records import MEASURED, OUTCOMES, PREDICTED
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
    name_of,
)
from conformance.record.directory import RunDirectory
from conformance.record.reconciliation import Counts, RecordClass, Totals, write_reconciliation

if TYPE_CHECKING:
    from pathlib import Path

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What a reconciliation hands over: facts, not verdicts.

    Attributes:
        counts: by class; if they do not add up no other number can be trusted.
        samples: up to 20 rows per class, of the deviations and of the divergences.
        records: every record's class; empty of a run of very many records.
    """

    counts: Counts
    samples: Mapping[str, Sequence[Mapping[str, object]]]
    records: Sequence[RecordClass] = ()

    def write(self, run_directory: Path) -> None:
        """Write ``reconciliation/``."""
        write_reconciliation(RunDirectory(run_directory), self.counts, self.samples, self.records)


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
    def of(cls, run_directory: Path) -> FileRows:
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
    divergences = next(iter(parts.get(DIVERGENCE_COUNTS, ())), {"diverged": 0, "unpredicted": 0})
    deviating_entries = sum(row["deviating"] for row in parts.get(REPLICA_LOG_COUNTS, []))
    by_kind = {"record": measured.get("deviations", 0), "replica_log": deviating_entries + divergences["unpredicted"]}
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
    ours = (row for row in parts.get(RECORDS, []) if row["record_id"] is not None)
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


def _samples(parts: Parts, run_directory: Path) -> dict[str, list[dict[str, object]]]:
    labels = labels_of(run_directory, _sampled_ids(parts))
    divergences = parts.get(DIVERGENCES, [])
    deviations = [
        *_record_deviations(parts.get(DEVIATIONS, []), labels),
        *(_replica_log_deviation(row, labels) for row in parts.get(REPLICA_LOG, [])),
        *_divergence_deviations([row for row in divergences if not row["is_predicted"]], labels),
    ]
    return {
        **{name: [_labelled(row, labels) for row in parts.get(name, [])] for name in CLASSES},
        DEVIATIONS: deviations[:SAMPLE_ROWS_MAX],
        DIVERGENCES: [_divergence(row, labels) for row in divergences],
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


# How is a deviation said: what was expected, and what was measured?


def _record_deviations(rows: Sequence[Row], labels: Mapping[int, str]) -> list[dict[str, object]]:
    """Return an entry per deviation of the sampled records: record_id, label, anomaly, expected, measured."""
    return [
        {
            "kind": "outcome" if anomaly == "outcome" else "record",
            "record_id": row["record_id"],
            "label": labels.get(row["record_id"]),
            "anomaly": anomaly,
            "expected": _expected(anomaly, row),
            "measured": _measured(anomaly, row),
        }
        for row in rows
        for anomaly in row["deviations"]
    ]


def _divergence_deviations(rows: Sequence[Row], labels: Mapping[int, str]) -> list[dict[str, object]]:
    """Return the same for disagreements of replicas that were not predicted."""
    return [
        {
            "kind": "replica_log",
            "record_id": row["record_a"],
            "label": labels.get(row["record_a"]),
            "anomaly": "diverged",
            "offset": row["offset"],
            "expected": f"brokers {row['broker_a']} and {row['broker_b']} agree at offset {row['offset']}",
            "measured": f"{_held(row['record_a'], labels)} on {row['broker_a']}, "
            f"{_held(row['record_b'], labels)} on {row['broker_b']}",
        }
        for row in rows
    ]


def _divergence(row: Row, labels: Mapping[int, str]) -> dict[str, object]:
    """Return a disagreement of two replicas with the labels of both records."""
    return {
        "offset": row["offset"],
        "broker_a": row["broker_a"],
        "record_a": row["record_a"],
        "label_a": labels.get(row["record_a"]),
        "broker_b": row["broker_b"],
        "record_b": row["record_b"],
        "label_b": labels.get(row["record_b"]),
        "is_predicted": row["is_predicted"],
    }


def _expected(anomaly: str, row: Row) -> str:
    said = {
        MISSING: f"at offset {row['predicted_offset']}",
        UNEXPECTED: f"not in the topic ({row['fate']})",
        "phantom": "never produced",
        "duplicated": "once",
        "value_changed": "the value that was sent",
        "outcome": _outcome(row["predicted_outcome"], row["predicted_error"]),
        "unattempted": "attempted",
        "unpredicted": "not attempted",
    }
    return said[anomaly] if anomaly in said else _expected_offset(row)


def _measured(anomaly: str, row: Row) -> str:
    where = "not in the topic" if row["first_offset"] is None else f"at offset {row['first_offset']}"
    said = {
        "duplicated": f"{row['copies']} times, offsets {row['first_offset']} to {row['last_offset']}",
        "value_changed": f"another value {where}",
        "outcome": _outcome(row["outcome"], row["error"]),
        "unattempted": f"not in the ledger, {where}",
    }
    return said.get(anomaly, where)


def _expected_offset(row: Row) -> str:
    predicted, acknowledged = row["predicted_offset"], row["acknowledged_offset"]
    if predicted is None:
        return f"at offset {acknowledged}, where it was acknowledged"
    if acknowledged is None or acknowledged == predicted:
        return f"at offset {predicted}"
    return f"at offset {predicted} (acknowledged at {acknowledged})"


def _outcome(outcome: str | None, error: str | None) -> str:
    return f"{outcome} ({error})" if error else str(outcome)


def _replica_log_deviation(row: Row, labels: Mapping[int, str]) -> dict[str, object]:
    """Return the same for an entry of a replica log, with broker and offset besides."""
    predicted, measured = row["predicted_record"], row["measured_record"]
    is_there = row["value_matches"] is not None
    is_changed = is_there and predicted == measured
    found = f"{name_of(measured, labels)} with another value" if is_changed else name_of(measured, labels)
    record_id = predicted if predicted is not None else measured
    return {
        "kind": "replica_log",
        "record_id": record_id,
        "label": labels.get(record_id),
        "anomaly": "replica_log",
        "broker": row["broker"],
        "offset": row["offset"],
        "expected": _held(predicted, labels),
        "measured": found if is_there else "nothing",
    }


def _held(record_id: int | None, labels: Mapping[int, str]) -> str:
    return "nothing" if record_id is None else name_of(record_id, labels)
