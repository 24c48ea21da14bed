"""How does an attempt get onto the disk before its record is sent?

Every call writes one new numbered file: under a temporary name, synced, then linked to its final name, which
must not exist yet, and the directory is synced too. When the call returns the lines survive a crash of the
tester; a file with a final name is complete and is never touched again.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from conformance.ledger.schema import (
    ATTEMPTS_PREFIX,
    OUTCOMES_PREFIX,
    LedgerError,
    attempts_schema,
    ledger_files,
    outcomes_schema,
)
from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.ledger.entry import Attempt, OutcomeEntry
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")


class LedgerWriter:
    """Appends attempts and outcomes to a ledger directory; it never rewrites a file."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def record_attempts(self, attempts: Sequence[Attempt]) -> Path:
        """Write attempts and sync them; send the records only after this returns.

        Returns:
            The new file.

        Raises:
            LedgerError: there is nothing to write, or another writer took the file's number.
        """
        return self.append_attempts(pa.Table.from_pylist([asdict(it) for it in attempts], attempts_schema()))

    def record_outcomes(self, outcomes: Sequence[OutcomeEntry]) -> Path:
        """Write outcomes and sync them.

        Returns:
            The new file.

        Raises:
            LedgerError: there is nothing to write, or another writer took the file's number.
        """
        return self.append_outcomes(pa.Table.from_pylist([asdict(it) for it in outcomes], outcomes_schema()))

    def append_attempts(self, table: pa.Table) -> Path:
        """Write a whole table of attempts (columns of ``attempts_schema``), for runs of many records."""
        return self._append(ATTEMPTS_PREFIX, table.cast(attempts_schema()))

    def append_outcomes(self, table: pa.Table) -> Path:
        """Write a whole table of outcomes (columns of ``outcomes_schema``), for runs of many records."""
        return self._append(OUTCOMES_PREFIX, table.cast(outcomes_schema()))

    def _append(self, prefix: str, table: pa.Table) -> Path:
        if table.num_rows == 0:
            raise LedgerError("A ledger file holds at least one line.")
        final = self._directory / f"{prefix}{self._next_number(prefix):05d}.parquet"
        scratch = final.with_name(f".{final.name}.{os.getpid()}")
        try:
            _write_synced(table, scratch)
            os.link(scratch, final)
        except FileExistsError as taken:
            raise LedgerError(f"{final.name} exists already: a ledger has one writer.") from taken
        finally:
            scratch.unlink(missing_ok=True)
        _sync(self._directory)
        return final

    def _next_number(self, prefix: str) -> int:
        present = ledger_files(self._directory, prefix)
        return int(present[-1].stem.removeprefix(prefix)) + 1 if present else 0


def _write_synced(table: pa.Table, path: Path) -> None:
    with path.open("wb") as stream:
        pq.write_table(table, stream)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
