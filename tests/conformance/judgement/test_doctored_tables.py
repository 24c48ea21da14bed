"""Is a changed cell of each table told when Spark joins them again, although every digest is renewed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.record.digests import write_digests
from conformance.record.verdict import RECORDS, REPLICA_LOGS, Conformance, PromiseKept
from conformance.spark_thread import SparkThread
from conformance.stages.judging import judge_run
from tests.conformance.judgement.doctorings import Rows, read_rows, write_rows
from tests.conformance.judgement.recorded_runs import unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.record.directory import RunDirectory
    from conformance.record.verdict import Verdict

pytestmark = [pytest.mark.spark, pytest.mark.alone, pytest.mark.timeout(300)]
RUN = "4.4.0-tr-01"
CASES: dict[str, tuple[str, Callable[[Rows], Rows], str]] = {
    "attempts": ("ledger/attempts", lambda rows: rows[:-1], "m2"),
    "outcomes": ("ledger/outcomes", lambda rows: [rows[0] | {"offset": 5}, *rows[1:]], "m0"),
    "topic": ("topic/part", lambda rows: [rows[0] | {"value_matches": False}, *rows[1:]], "the log of its leader"),
    "replica logs": ("replica_logs/replica_logs", lambda rows: [rows[0] | {"record_id": 1}, *rows[1:]], "log"),
}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkThread]:
    with SparkThread() as thread:
        thread.start()
        yield thread


def joined_again(run: RunDirectory, spark: SparkThread) -> Verdict:
    write_digests(run)
    spark.reconcile_again(run)
    return judge_run(run)


def test_a_run_that_nobody_touched_is_joined_to_the_same_verdict(tmp_path: Path, spark: SparkThread) -> None:
    verdict = joined_again(unpacked(RUN, tmp_path), spark)

    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, PromiseKept.KEPT)


@pytest.mark.parametrize("case", CASES)
def test_a_changed_table_is_told(tmp_path: Path, spark: SparkThread, case: str) -> None:
    table, change, words = CASES[case]
    run = unpacked(RUN, tmp_path)
    write_rows(run, table, change(read_rows(run, table)))
    verdict = joined_again(run, spark)
    told = "; ".join([verdict.reason, *(finding.text for finding in verdict.findings)])

    assert verdict.conformance in (Conformance.HARNESS_ERROR, Conformance.DEVIATES)
    assert words in told
    assert {*RECORDS, *REPLICA_LOGS}.intersection(verdict.codes) or "counts" in told, "Spark saw nothing"
