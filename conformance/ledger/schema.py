"""Which columns do the ledger's Parquet files have, and how are the files named?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
else:
    pa = at_first_use("pyarrow")

ATTEMPTS_PREFIX = "attempts-"
OUTCOMES_PREFIX = "outcomes-"


@cache
def attempts_schema() -> pa.Schema:
    """Return the columns of what was attempted."""
    return pa.schema(
        [
            pa.field("record_id", pa.int64(), nullable=False),
            pa.field("label", pa.string(), nullable=False),
            pa.field("topic", pa.string(), nullable=False),
            pa.field("partition", pa.int32(), nullable=False),
            pa.field("acks", pa.int32(), nullable=False),
            pa.field("step", pa.int32(), nullable=False),
            pa.field("value_length", pa.int32(), nullable=False),
            pa.field("attempted_ns", pa.int64(), nullable=False),
        ]
    )


@cache
def outcomes_schema() -> pa.Schema:
    """Return the columns of what came of it."""
    return pa.schema(
        [
            pa.field("record_id", pa.int64(), nullable=False),
            pa.field("outcome", pa.string(), nullable=False),
            pa.field("error", pa.string()),
            pa.field("offset", pa.int64()),
            pa.field("completed_ns", pa.int64(), nullable=False),
        ]
    )


class LedgerError(Exception):
    """The ledger cannot be written or read as what it claims to be."""


def ledger_files(directory: Path, prefix: str) -> tuple[Path, ...]:
    """List the ledger's files of one kind, the first written first."""
    return tuple(sorted(directory.glob(f"{prefix}[0-9]*.parquet")))
