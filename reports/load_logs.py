"""What did every replica's log hold in the end, and what is no longer there?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reports.load_records import acknowledged_offsets
from reports.model import FinalLogs, Ghost, LogEntry, ReplicaLog
from reports.run_files import ROWS_MAX, count_rows, read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from reports.model import Records

_COLUMNS = ("broker", "offset", "record_id", "leader_epoch", "value_matches", "high_watermark")


def load_final_logs(path: Path, run: Mapping[str, Any], prediction: Mapping[str, Any], records: Records) -> FinalLogs:
    """Return the measured logs, or the predicted ones if none were read; ``note`` says which."""
    total = count_rows(path / "replica_logs")
    if total > ROWS_MAX:
        return FinalLogs(note=f"The replicas hold {total:,} records: too many to draw.")
    base = int(run.get("record_id_base") or 0)
    labels = {int(item["id"]): str(item["label"]) for item in prediction.get("records") or ()}
    were_read = any((path / "replica_logs").glob("*.parquet"))
    if were_read:
        rows = read_rows(path / "replica_logs", _COLUMNS)
        brokers = {int(broker) for broker in prediction.get("logs") or ()}
        logs, note = _measured_logs(rows, labels, base, brokers), ""
    else:
        logs, note = _predicted_logs(prediction), "Not measured: these are the logs the model predicts."
    if not logs:
        return FinalLogs()
    ghosts = _ghosts(records, labels, acknowledged_offsets(path, base), prediction)
    deleted = frozenset(row.label for row in records.rows if (row.measured_fate or row.predicted_fate) == "deleted")
    return FinalLogs(logs, ghosts, _diverged(logs), were_read, note, deleted)


def _measured_logs(
    rows: Sequence[Mapping[str, Any]], labels: Mapping[int, str], base: int, brokers: set[int]
) -> tuple[ReplicaLog, ...]:
    """Return every replica's log; a replica that was read and holds nothing is among ``brokers`` alone."""
    logs = []
    for broker in sorted({int(row["broker"]) for row in rows} | brokers):
        own = sorted((row for row in rows if row["broker"] == broker), key=lambda row: int(row["offset"]))
        entries = tuple(_entry(row, labels, base) for row in own)
        logs.append(ReplicaLog(broker, entries, own[0]["high_watermark"] if own else None))
    return tuple(logs)


def _entry(row: Mapping[str, Any], labels: Mapping[int, str], base: int) -> LogEntry:
    record_id = None if row["record_id"] is None else int(row["record_id"]) - base
    epoch = row["leader_epoch"]
    is_known = record_id in labels and row["value_matches"] is not False
    label = labels.get(record_id, f"#{record_id}") if record_id is not None else "?"
    return LogEntry(int(row["offset"]), label, None if epoch in {None, -1} else int(epoch), is_known)


def _predicted_logs(prediction: Mapping[str, Any]) -> tuple[ReplicaLog, ...]:
    steps: Sequence[Mapping[str, Any]] = prediction.get("steps") or ({},)
    last = steps[-1].get("replicas") or {}
    return tuple(
        ReplicaLog(
            broker=int(broker),
            entries=tuple(
                LogEntry(int(entry["offset"]), str(entry["label"]), entry.get("leadership")) for entry in entries
            ),
            high_watermark=(last.get(broker) or {}).get("high_watermark"),
        )
        for broker, entries in (prediction.get("logs") or {}).items()
    )


def _diverged(logs: Sequence[ReplicaLog]) -> frozenset[int]:
    """Return the offsets at which two replicas hold different records."""
    seen: dict[int, set[str]] = {}
    for log in logs:
        for entry in log.entries:
            seen.setdefault(entry.offset, set()).add(entry.label)
    return frozenset(offset for offset, labels in seen.items() if len(labels) > 1)


def _ghosts(
    records: Records,
    labels: Mapping[int, str],
    acknowledged: Mapping[int, int],
    prediction: Mapping[str, Any],
) -> tuple[Ghost, ...]:
    """Return the records that are gone and whose offset is known: told to the producer, or predicted."""
    offsets = {
        str(item["label"]): item["offset"] for item in prediction.get("records") or () if item.get("offset") is not None
    }
    offsets.update({labels[record_id]: offset for record_id, offset in acknowledged.items() if record_id in labels})
    gone = [(row, row.measured_fate or row.predicted_fate) for row in records.rows]
    return tuple(
        Ghost(row.label, int(offsets[row.label]), fate)
        for row, fate in gone
        if fate in {"lost", "absent"} and row.label in offsets
    )
