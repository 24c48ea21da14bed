"""How does a prediction reach the run directory? As JSON for people, as Parquet for the join."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from conformance.catalogue.answers import write_questions
from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.catalogue.questions import Answer
    from conformance.run_directory import RunDirectory
    from oracle.prediction import Prediction
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")


@cache
def _records_schema() -> pa.Schema:
    """Return the columns of the predicted records."""
    return pa.schema(
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


@cache
def _replica_logs_schema() -> pa.Schema:
    """Return the columns of the predicted logs."""
    return pa.schema(
        [
            ("broker", pa.int32()),
            ("offset", pa.int64()),
            ("label", pa.string()),
            ("record_id", pa.int64()),
            ("leadership", pa.int32()),
        ]
    )


def write_prediction(
    run: RunDirectory,
    prediction: Prediction,
    record_id_base: int,
    answers: Sequence[Answer] = (),
) -> None:
    """Write a prediction and freeze it.

    Args:
        run: where it goes.
        prediction: of records and numbers.
        record_id_base: the id of the run's first record.
        answers: what else the run must answer.
    """
    document = prediction.as_json()
    run.write_json("prediction/prediction.json", document)
    write_tables(run.path / "prediction", document, record_id_base)
    if answers:
        write_questions(run, answers)
    run.freeze_prediction()


def write_tables(directory: Path, document: Mapping[str, Any], record_id_base: int) -> None:
    """Write a prediction's records and logs, for the join.

    Args:
        directory: where the tables go.
        document: the prediction, as prediction.json has it.
        record_id_base: the id of the run's first record.
    """
    ids = {record["label"]: record_id_base + record["id"] for record in document["records"]}
    records = [{**record, "record_id": ids[record["label"]]} for record in document["records"]]
    logs = [
        {**entry, "broker": int(broker), "record_id": ids[entry["label"]]}
        for broker, entries in document["logs"].items()
        for entry in entries
    ]
    for name, rows, schema in (("records", records, _records_schema()), ("replica_logs", logs, _replica_logs_schema())):
        pq.write_table(pa.Table.from_pylist(_columns(rows, schema), schema=schema), directory / f"{name}.parquet")


def _columns(rows: list[dict[str, Any]], schema: pa.Schema) -> list[dict[str, Any]]:
    return [{name: row[name] for name in schema.names} for row in rows]
