"""Does the ledger keep every attempt, in the order of writing, and refuse what is no ledger?"""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.record.ledger import Attempt, LedgerError, LedgerWriter, OutcomeEntry, attempts_schema, read_ledger
from oracle.vocabulary import Acks, ProduceOutcome

ATTEMPT = Attempt(7, "m0", "t", 0, Acks.ALL, 3, 100, 1_000)
OUTCOME = OutcomeEntry(7, ProduceOutcome.ACKNOWLEDGED, None, 0, 2_000)
REFUSED = OutcomeEntry(8, ProduceOutcome.REFUSED, "NOT_ENOUGH_REPLICAS", None, 2_001)

CRASHING_RUN = """
import os, signal, sys
from pathlib import Path
from conformance.record.ledger import Attempt
from conformance.record.ledger import LedgerWriter
from oracle.vocabulary import Acks

LedgerWriter(Path(sys.argv[1])).record_attempts([Attempt(7, "m0", "t", 0, Acks.ALL, 3, 100, 1_000)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_is_written_is_read_in_order(tmp_path: Path) -> None:
    writer = LedgerWriter(tmp_path / "ledger")
    second = replace(ATTEMPT, record_id=8, acks=Acks.LEADER)
    writer.record_attempts([ATTEMPT])
    writer.record_attempts([second])
    writer.record_outcomes([OUTCOME, REFUSED])
    ledger = read_ledger(tmp_path / "ledger")
    assert ledger.attempt_entries() == (ATTEMPT, second)
    assert ledger.outcome_entries() == (OUTCOME, REFUSED)


def test_a_crash_between_attempt_and_outcome_leaves_the_attempt(tmp_path: Path) -> None:
    crashed = subprocess.run(
        [sys.executable, "-c", CRASHING_RUN, str(tmp_path)], check=False, env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert crashed.returncode == -signal.SIGKILL
    ledger = read_ledger(tmp_path)
    assert ledger.attempt_entries() == (ATTEMPT,)
    assert ledger.outcome_entries() == ()


def test_files_are_never_rewritten(tmp_path: Path) -> None:
    first = LedgerWriter(tmp_path).record_attempts([ATTEMPT])
    content = first.read_bytes()
    second = LedgerWriter(tmp_path).record_attempts([replace(ATTEMPT, record_id=8)])
    assert (first.name, second.name) == ("attempts-00000.parquet", "attempts-00001.parquet")
    assert first.read_bytes() == content
    assert sorted(it.name for it in tmp_path.iterdir()) == [first.name, second.name]


def test_a_number_taken_by_another_writer_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = LedgerWriter(tmp_path)
    first = writer.record_attempts([ATTEMPT])
    content = first.read_bytes()
    monkeypatch.setattr(writer, "_next_number", lambda _: 0)
    with pytest.raises(LedgerError, match="one writer"):
        writer.record_attempts([replace(ATTEMPT, record_id=8)])
    assert first.read_bytes() == content
    assert list(tmp_path.iterdir()) == [first]


def test_nothing_to_write_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="at least one line"):
        LedgerWriter(tmp_path).record_outcomes([])


def test_whole_tables_are_appended(tmp_path: Path) -> None:
    count = 10_000
    columns = {
        "record_id": range(count),
        "label": ["volume"] * count,
        "topic": ["t"] * count,
        "partition": [0] * count,
        "acks": [-1] * count,
        "step": [0] * count,
        "value_length": [100] * count,
        "attempted_ns": range(count),
    }
    LedgerWriter(tmp_path).append_attempts(
        pa.table({name: list(it) for name, it in columns.items()}, attempts_schema())
    )
    assert read_ledger(tmp_path).attempts.num_rows == count


def test_a_record_attempted_twice_is_refused(tmp_path: Path) -> None:
    writer = LedgerWriter(tmp_path)
    writer.record_attempts([ATTEMPT])
    writer.record_attempts([ATTEMPT])
    with pytest.raises(LedgerError, match="1 records were attempted more than once, such as 7"):
        read_ledger(tmp_path)


def test_a_record_completed_twice_is_refused(tmp_path: Path) -> None:
    writer = LedgerWriter(tmp_path)
    writer.record_attempts([ATTEMPT])
    writer.record_outcomes([OUTCOME, replace(OUTCOME, outcome=ProduceOutcome.REFUSED)])
    with pytest.raises(LedgerError, match="completed more than once"):
        read_ledger(tmp_path)


def test_an_outcome_without_attempt_is_refused(tmp_path: Path) -> None:
    writer = LedgerWriter(tmp_path)
    writer.record_attempts([ATTEMPT])
    writer.record_outcomes([REFUSED])
    with pytest.raises(LedgerError, match="have no attempt, such as that of record 8"):
        read_ledger(tmp_path)


def test_other_columns_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"record_id": [1]}), tmp_path / "attempts-00000.parquet")
    with pytest.raises(LedgerError, match=r"attempts-00000.parquet has the columns record_id int64, not"):
        read_ledger(tmp_path)


def test_a_torn_file_is_refused(tmp_path: Path) -> None:
    written = LedgerWriter(tmp_path).record_attempts([ATTEMPT])
    written.write_bytes(written.read_bytes()[:-10])
    with pytest.raises(LedgerError, match="not readable"):
        read_ledger(tmp_path)


def test_an_unknown_outcome_is_refused(tmp_path: Path) -> None:
    writer = LedgerWriter(tmp_path)
    writer.record_attempts([ATTEMPT])
    table = pq.read_table(writer.record_outcomes([OUTCOME]))
    pq.write_table(table.set_column(1, table.schema.field(1), [["maybe"]]), tmp_path / "outcomes-00000.parquet")
    with pytest.raises(LedgerError, match=r"column outcome holds \['maybe'\]"):
        read_ledger(tmp_path)


def test_no_directory_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger"):
        read_ledger(tmp_path / "absent")
