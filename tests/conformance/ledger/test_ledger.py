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

from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.ledger import (
    Attempt,
    LedgerError,
    LedgerWriter,
    OutcomeEntry,
    attempts_schema,
    read_attempts,
    read_outcomes,
)
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


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path)


def test_what_is_written_is_read_in_order(run: RunDirectory) -> None:
    writer = LedgerWriter(run.path / "ledger")
    second = replace(ATTEMPT, record_id=8, acks=Acks.LEADER)
    writer.record_attempts([ATTEMPT])
    writer.record_attempts([second])
    writer.record_outcomes([OUTCOME, REFUSED])
    assert read_attempts(run) == [ATTEMPT, second]
    assert read_outcomes(run) == [OUTCOME, REFUSED]


def test_a_crash_between_attempt_and_outcome_leaves_the_attempt(run: RunDirectory) -> None:
    command = [sys.executable, "-c", CRASHING_RUN, str(run.path / "ledger")]
    crashed = subprocess.run(command, check=False, env={"PYTHONPATH": os.pathsep.join(sys.path)})
    assert crashed.returncode == -signal.SIGKILL
    assert read_attempts(run) == [ATTEMPT]
    assert read_outcomes(run) == []


def test_files_are_in_the_order_of_writing_also_when_their_numbers_outgrow_five_digits(run: RunDirectory) -> None:
    first = LedgerWriter(run.path / "ledger").record_attempts([ATTEMPT])
    first.rename(first.with_name("attempts-99999.parquet"))
    later = [replace(ATTEMPT, record_id=number) for number in (8, 9)]
    files = [LedgerWriter(run.path / "ledger").record_attempts([one]) for one in later]
    assert [file.name for file in files] == ["attempts-100000.parquet", "attempts-100001.parquet"]
    assert read_attempts(run) == [ATTEMPT, *later]


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


def test_whole_tables_are_appended(run: RunDirectory) -> None:
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
    table = pa.table({name: list(it) for name, it in columns.items()}, attempts_schema())
    LedgerWriter(run.path / "ledger").append_attempts(table)
    assert len(read_attempts(run)) == count


def test_other_columns_are_refused(run: RunDirectory) -> None:
    (run.path / "ledger").mkdir()
    pq.write_table(pa.table({"record_id": [1]}), run.path / "ledger" / "attempts-00000.parquet")
    with pytest.raises(RunDirectoryError, match=r"cannot be read: .*label"):
        read_attempts(run)


def test_a_torn_file_is_refused(run: RunDirectory) -> None:
    written = LedgerWriter(run.path / "ledger").record_attempts([ATTEMPT])
    written.write_bytes(written.read_bytes()[:-10])
    with pytest.raises(RunDirectoryError, match="ledger cannot be read: "):
        read_attempts(run)


def test_an_unknown_outcome_is_refused(run: RunDirectory) -> None:
    written = LedgerWriter(run.path / "ledger").record_outcomes([OUTCOME])
    table = pq.read_table(written)
    pq.write_table(table.set_column(1, table.schema.field(1), [["maybe"]]), written)
    with pytest.raises(RunDirectoryError, match="has outcomes that are none: maybe"):
        read_outcomes(run)
