"""How is a deviation said: what was expected, and what was measured?"""

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.reconcile.deviations import MISSING, UNEXPECTED
from conformance.reconcile.summary import name_of

Row = Mapping[str, Any]


def record_deviations(rows: Sequence[Row], labels: Mapping[int, str]) -> list[dict[str, object]]:
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


def replica_log_deviations(rows: Sequence[Row], labels: Mapping[int, str]) -> list[dict[str, object]]:
    """Return the same for entries of replica logs, with broker and offset besides."""
    return [_replica_log_deviation(row, labels) for row in rows]


def divergence_deviations(rows: Sequence[Row], labels: Mapping[int, str]) -> list[dict[str, object]]:
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


def divergence(row: Row, labels: Mapping[int, str]) -> dict[str, object]:
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
