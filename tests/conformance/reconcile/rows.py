"""Rows of joined records for tests of single anomalies: a record that is as it should be, but for what is given."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

_COLUMNS = {
    "run": "string",
    "side": "string",
    "record_id": "bigint",
    "attempts": "bigint",
    "predictions": "bigint",
    "outcome": "string",
    "error": "string",
    "acknowledged_offset": "bigint",
    "fate": "string",
    "was_committed": "boolean",
    "predicted_outcome": "string",
    "predicted_error": "string",
    "predicted_offset": "bigint",
    "copies": "bigint",
    "first_offset": "bigint",
    "last_offset": "bigint",
    "values_match": "boolean",
}
_KEPT = {
    "run": "a run",
    "side": "measured",
    "record_id": 7,
    "attempts": 1,
    "predictions": 1,
    "outcome": "acknowledged",
    "acknowledged_offset": 0,
    "fate": "present",
    "was_committed": True,
    "predicted_outcome": "acknowledged",
    "predicted_offset": 0,
    "copies": 1,
    "first_offset": 0,
    "last_offset": 0,
    "values_match": True,
}
GONE = {"copies": 0, "first_offset": None, "last_offset": None, "values_match": None}


def records(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return joined records: each one kept and as predicted, but for the given columns."""
    whole = [_KEPT | row for row in rows]
    schema = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    return spark.createDataFrame([tuple(row.get(name) for name in _COLUMNS) for row in whole], schema)
