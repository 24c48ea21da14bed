"""A small run directory that a test writes, whole or doctored: rows as plain dicts, written by pyarrow."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.record.directory import RunDirectory
from conformance.record.prediction import PREDICTION_FILE
from tests.conformance.run_files import change_run

Row = dict[str, Any]

WHOSE = {"scenario": "x", "kafka": "4.3.1", "metadata": "kraft", "rules": []}
NOTHING_PREDICTED = WHOSE | {"checkpoints": [], "records": [], "logs": {}, "steps": []}
"""A prediction without numbers: records and logs stand in its tables."""

_LONG, _INT, _TEXT, _FLAG = pa.int64(), pa.int32(), pa.string(), pa.bool_()

ATTEMPTS = {
    "record_id": _LONG,
    "label": _TEXT,
    "topic": _TEXT,
    "partition": _INT,
    "acks": _INT,
    "step": _INT,
    "value_length": _INT,
    "attempted_ns": _LONG,
}
OUTCOMES = {"record_id": _LONG, "outcome": _TEXT, "error": _TEXT, "offset": _LONG, "completed_ns": _LONG}
RECORDS = {
    "record_id": _LONG,
    "label": _TEXT,
    "fate": _TEXT,
    "was_committed": _FLAG,
    "outcome": _TEXT,
    "error": _TEXT,
    "offset": _LONG,
    "acks": _INT,
}
PREDICTED_LOGS = {"broker": _INT, "offset": _LONG, "label": _TEXT, "record_id": _LONG, "leadership": _INT}
TOPIC = {"partition": _INT, "offset": _LONG, "record_id": _LONG, "value_matches": _FLAG}
LOGS = {
    "broker": _INT,
    "offset": _LONG,
    "record_id": _LONG,
    "leader_epoch": _INT,
    "value_matches": _FLAG,
    "high_watermark": _LONG,
}


@dataclass
class Run:
    """The rows of every table of a run; ``base`` is added to the position of a label to give its id."""

    base: int = 1000
    attempts: list[Row] = field(default_factory=list)
    outcomes: list[Row] = field(default_factory=list)
    predicted: list[Row] = field(default_factory=list)
    predicted_logs: list[Row] = field(default_factory=list)
    topic: list[Row] = field(default_factory=list)
    logs: list[Row] = field(default_factory=list)
    diverged: list[Row] = field(default_factory=list)

    def produce(
        self,
        label: str,
        outcome: str | None = "acknowledged",
        offset: int | None = None,
        *,
        fate: str = "present",
        error: str | None = None,
    ) -> int:
        """Attempt a record, predicted as it comes out; give its id. No outcome means none was written."""
        record_id = self.base + len(self.attempts)
        self.attempts.append(
            {"record_id": record_id, "label": label, "topic": "t", "partition": 0, "acks": -1, "step": 0}
            | {"value_length": 100, "attempted_ns": record_id}
        )
        acknowledged = offset if outcome == "acknowledged" else None
        if outcome is not None:
            self.outcomes.append(
                {"record_id": record_id, "outcome": outcome, "error": error, "offset": acknowledged}
                | {"completed_ns": record_id + 1}
            )
        self.predicted.append(
            {"record_id": record_id, "label": label, "fate": fate}
            | {"was_committed": fate in ("present", "lost", "deleted")}
            | {"outcome": outcome or "indeterminate", "error": error, "acks": -1}
            | {"offset": offset if fate == "present" else None}
        )
        return record_id

    def read(self, record_id: int | None, offset: int, *, value_matches: bool = True) -> None:
        """Have the topic hold a record at an offset."""
        self.topic.append({"partition": 0, "offset": offset, "record_id": record_id, "value_matches": value_matches})

    def replicate(self, broker: int, record_ids: list[int], high_watermark: int, *, predict: bool = True) -> None:
        """Have a replica hold these records from offset 0 on, and predict it."""
        for offset, record_id in enumerate(record_ids):
            self.logs.append(
                {"broker": broker, "offset": offset, "record_id": record_id, "leader_epoch": 0}
                | {"value_matches": True, "high_watermark": high_watermark}
            )
            if predict:
                self.predicted_logs.append(
                    {"broker": broker, "offset": offset, "label": None, "record_id": record_id, "leadership": 0}
                )

    def write(self, directory: Path) -> Path:
        """Write all tables, prediction.json and run.json."""
        write_table(directory / "ledger" / "attempts-00000.parquet", ATTEMPTS, self.attempts)
        if self.outcomes:
            write_table(directory / "ledger" / "outcomes-00000.parquet", OUTCOMES, self.outcomes)
        write_table(directory / "prediction" / "records.parquet", RECORDS, self.predicted)
        write_table(directory / "prediction" / "replica_logs.parquet", PREDICTED_LOGS, self.predicted_logs)
        write_table(directory / "topic" / "part-0.parquet", TOPIC, self.topic)
        write_table(directory / "replica_logs" / "0.parquet", LOGS, self.logs)
        RunDirectory(directory).write(PREDICTION_FILE, {**NOTHING_PREDICTED, "diverged": self.diverged})
        change_run(RunDirectory(directory), end_offset=len(self.topic))
        return directory


def write_table(path: Path, columns: dict[str, pa.DataType], rows: list[Row]) -> None:
    """Write rows as one Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(list(columns.items()))), path)


def kept_run() -> Run:
    """Return a run in which four records came out as predicted: two kept, one refused, one timed out and gone."""
    run = Run()
    ids = [run.produce("m0", offset=0), run.produce("m1", offset=1)]
    run.produce("m2", "refused", fate="absent", error="NOT_ENOUGH_REPLICAS")
    run.produce("m3", "indeterminate", fate="absent", error="REQUEST_TIMED_OUT")
    for offset, record_id in enumerate(ids):
        run.read(record_id, offset)
    for broker in (1, 2):
        run.replicate(broker, ids, high_watermark=2)
    return run
