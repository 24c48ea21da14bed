"""What does a ledger on disk say, and is it a ledger at all?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.ledger.entry import Attempt, OutcomeEntry
from conformance.ledger.schema import (
    ATTEMPTS_PREFIX,
    OUTCOMES_PREFIX,
    LedgerError,
    attempts_schema,
    ledger_files,
    outcomes_schema,
)
from conformance.spark_extra import at_first_use
from oracle.vocabulary import Acks, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
else:
    pa = at_first_use("pyarrow")
    pc = at_first_use("pyarrow.compute")
    pq = at_first_use("pyarrow.parquet")


@dataclass(frozen=True, slots=True)
class Ledger:
    """A validated ledger: every record attempted once, every outcome of an attempted record, once.

    Attributes:
        attempts: columns of ``attempts_schema``, in the order of writing.
        outcomes: columns of ``outcomes_schema``, in the order of writing.
    """

    attempts: pa.Table
    outcomes: pa.Table

    def attempt_entries(self) -> tuple[Attempt, ...]:
        """Give the attempts as entries; for scenarios, not for millions of records."""
        return tuple(Attempt(**{**row, "acks": Acks(row["acks"])}) for row in self.attempts.to_pylist())

    def outcome_entries(self) -> tuple[OutcomeEntry, ...]:
        """Give the outcomes as entries; for scenarios, not for millions of records."""
        rows = self.outcomes.to_pylist()
        return tuple(OutcomeEntry(**{**row, "outcome": Outcome(row["outcome"])}) for row in rows)


def read_ledger(directory: Path) -> Ledger:
    """Read and validate a ledger.

    Raises:
        LedgerError: a file is no Parquet file or has other columns, a record was attempted or completed
            twice, an outcome belongs to no attempt, or a value is not one of its enumeration.
    """
    if not directory.is_dir():
        raise LedgerError(f"There is no ledger at {directory}.")
    attempts = _read(ledger_files(directory, ATTEMPTS_PREFIX), attempts_schema())
    outcomes = _read(ledger_files(directory, OUTCOMES_PREFIX), outcomes_schema())
    _require_unique(attempts, "attempted")
    _require_unique(outcomes, "completed")
    _require_attempted(attempts, outcomes)
    _require_values(attempts, "acks", Acks)
    _require_values(outcomes, "outcome", Outcome)
    return Ledger(attempts, outcomes)


def _read(files: tuple[Path, ...], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([_read_file(file, schema) for file in files] or [schema.empty_table()])


def _read_file(file: Path, schema: pa.Schema) -> pa.Table:
    try:
        table = pq.read_table(file, partitioning=None)
    except (pa.ArrowInvalid, OSError) as broken:
        raise LedgerError(f"{file.name} is not readable: {broken}") from broken
    if not table.schema.equals(schema):
        raise LedgerError(f"{file.name} has the columns {_columns(table.schema)}, not {_columns(schema)}.")
    return table


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def _require_unique(table: pa.Table, happened: str) -> None:
    counts = table.group_by("record_id").aggregate([("record_id", "count")])
    twice = counts.filter(pc.greater(counts["record_id_count"], 1))["record_id"]
    if len(twice) > 0:
        raise LedgerError(f"{len(twice)} records were {happened} more than once, such as {twice[0].as_py()}.")


def _require_attempted(attempts: pa.Table, outcomes: pa.Table) -> None:
    foreign = outcomes.join(attempts.select(["record_id"]), "record_id", join_type="left anti")["record_id"]
    if len(foreign) > 0:
        raise LedgerError(f"{len(foreign)} outcomes have no attempt, such as that of record {foreign[0].as_py()}.")


def _require_values(table: pa.Table, column: str, allowed: Iterable[object]) -> None:
    unknown = set(table[column].unique().to_pylist()) - set(allowed)
    if unknown:
        raise LedgerError(f"The ledger's column {column} holds {sorted(map(str, unknown))}, which it cannot.")
