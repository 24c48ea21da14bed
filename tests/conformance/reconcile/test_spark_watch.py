"""Is it told how far Spark is, and said before long that a cluster gives it nothing to work with?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from conformance.reconcile.spark_watch import LOOK_EVERY_S, Reading, SparkWatch, StageSeen
from fault_injection.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDS = 1000


def told(*seen: tuple[list[StageSeen], int | None, float]) -> list[str]:
    """Return what is told of some looks, each at a time."""
    lines: list[str] = []
    reading = Reading(RECORDS, 12, 16, lines.append)
    for stages, consumed, now_s in seen:
        reading.see(stages, consumed, now_s)
    return lines


def test_what_consumers_have_read_is_told_with_rate_and_time_left() -> None:
    stage = StageSeen(3, 16, 4)
    assert told(([stage], 250, 100.0), ([StageSeen(3, 16, 9)], 500, 100.0 + LOOK_EVERY_S)) == [
        "read 250 of 1,000 (4 of 16 tasks), 50 a second, some 15 s left",
        "read 500 of 1,000 (9 of 16 tasks), 50 a second, some 10 s left",
    ]


def test_where_consumers_are_elsewhere_tasks_say_it_roughly() -> None:
    assert told(([StageSeen(3, 16, 4)], None, 100.0)) == [
        "read some 250 of 1,000 (4 of 16 tasks), 50 a second, some 15 s left"
    ]


def test_no_rate_is_made_up_of_nothing_and_no_more_is_read_than_there_is() -> None:
    assert told(([StageSeen(3, 16, 0)], 0, 1.0), ([StageSeen(3, 16, 16)], 1003, 6.0)) == [
        "counts: stage 3, 0 of 16 tasks",
        "read 1,000 of 1,000 (16 of 16 tasks), 200 a second, some 0 s left",
    ]


def test_stages_before_and_after_the_reading_are_counts() -> None:
    before, reading, after = StageSeen(1, 2, 1), StageSeen(3, 16, 8), StageSeen(5, 16, 2)
    lines = told(([before], 0, 1.0), ([], 0, 2.0), ([reading, StageSeen(4, 16, 0)], 500, 3.0), ([after], RECORDS, 9.0))
    assert [line.partition(",")[0] for line in lines] == ["counts: stage 1", "read 500 of 1", "counts: stage 5"]


def test_files_that_are_listed_in_many_tasks_are_not_taken_for_the_reading() -> None:
    listed, ledger, reading = StageSeen(0, 90, 40), StageSeen(1, 40, 2), StageSeen(2, 16, 8)
    lines = told(
        ([listed], 0, 1.0), ([ledger, reading], 0, 2.0), ([ledger, reading], 500, 3.0), ([ledger], RECORDS, 9.0)
    )
    assert [line.partition(",")[0] for line in lines] == [
        "counts: stage 0", "counts: stage 1", "read 500 of 1", "counts: stage 1",
    ]  # fmt: skip


def _registry_of(spark: SparkSession) -> object:
    """Return the name of a gauge that every JVM has."""
    return spark._jvm.javax.management.ObjectName("java.lang:type=Runtime")


@pytest.mark.spark
@pytest.mark.timeout(120)
def test_stages_of_a_session_on_this_machine_are_seen_under_way(spark: SparkSession) -> None:
    lines: list[str] = []
    watch = SparkWatch(spark, Reading(RECORDS, 2, 64, lines.append), None)
    watch.look()
    assert lines == []
    assert watch._consumed() == 0
    assert watch._asked("isRegistered", ("javax.management.ObjectName", _registry_of(spark))) is True
    query = spark.range(4 * 10**9, numPartitions=64).selectExpr("max(id * 7 % 13)")
    with ThreadPoolExecutor(1) as thread:
        doing = thread.submit(query.collect)

        def is_seen() -> bool:
            watch.look()
            return bool(lines) or doing.done()

        until(is_seen, deadline_s=60, what="a stage under way")
        spark.sparkContext.cancelAllJobs()
        doing.exception()
    assert lines[0].startswith("counts: stage ")
    assert lines[0].endswith(" of 64 tasks")
