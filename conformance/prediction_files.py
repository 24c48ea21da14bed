"""How does a prediction reach the run directory? As JSON for people, as Parquet for the join."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from conformance.run_directory import RunDirectory
    from oracle.prediction import Prediction

RECORDS = pa.schema(
    [
        ("record_id", pa.int64()),
        ("label", pa.string()),
        ("fate", pa.string()),
        ("was_committed", pa.bool_()),
        ("outcome", pa.string()),
        ("error", pa.string()),
        ("offset", pa.int64()),
        ("acks", pa.int32()),
    ]
)
REPLICA_LOGS = pa.schema(
    [
        ("broker", pa.int32()),
        ("offset", pa.int64()),
        ("label", pa.string()),
        ("record_id", pa.int64()),
        ("leadership", pa.int32()),
    ]
)


def write_prediction(run: RunDirectory, prediction: Prediction, record_id_base: int) -> None:
    """Write a prediction and freeze it."""
    run.write_json("prediction/prediction.json", prediction.as_json())
    records = [
        {
            "record_id": record_id_base + r.id,
            "label": r.label,
            "fate": r.fate.value,
            "was_committed": r.was_committed,
            "outcome": r.outcome.value,
            "error": r.error,
            "offset": r.offset,
            "acks": int(r.acks),
        }
        for r in prediction.records
    ]
    ids = {r.label: record_id_base + r.id for r in prediction.records}
    logs = [
        {
            "broker": broker,
            "offset": entry.offset,
            "label": entry.label,
            "record_id": ids[entry.label],
            "leadership": entry.leadership,
        }
        for broker, entries in prediction.logs.items()
        for entry in entries
    ]
    directory = run.path / "prediction"
    pq.write_table(pa.Table.from_pylist(records, schema=RECORDS), directory / "records.parquet")
    pq.write_table(pa.Table.from_pylist(logs, schema=REPLICA_LOGS), directory / "replica_logs.parquet")
    run.freeze_prediction()
