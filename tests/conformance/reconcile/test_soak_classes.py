"""Is every record of a soak in the classes that it belongs to, and compared with what was predicted of it?"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from conformance.reconcile import run_files
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.soak import count_soak
from conformance.reconcile.soak_blocks import facts_of, runs_of
from conformance.reconcile.soak_control import control_of, windows_of
from conformance.reconcile.soak_cross_check import differences
from tests.conformance.reconcile.made_rows import ACKNOWLEDGED, INDETERMINATE, REFUSED, MadeRows, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from conformance.record.soak_counted import SoakCounted

pytestmark = [pytest.mark.spark, pytest.mark.alone]
MANY = 200
NEXT = record(0, MANY)


def judged(counted: SoakCounted) -> dict[str, str]:
    """Return of each class but kept that has records how many are as predicted/may be either/are against it."""
    assert counted.identity_holds
    totals = {name: counted.total(name) for name in counted.partitions[0].classes if name != "kept"}
    return {name: f"{one.predicted}/{one.either}/{one.against}" for name, one in totals.items() if one.records}


def lost(made: MadeRows) -> None:
    made.send(NEXT, there=False)


def lost_as_predicted(made: MadeRows) -> None:
    made.predict("lost", NEXT, made.send(NEXT, there=False), "acknowledged")


def kept_against_the_prediction(made: MadeRows) -> None:
    made.predict("lost", NEXT, made.send(NEXT), "acknowledged")


def lost_or_not(made: MadeRows) -> None:
    made.predict("either", NEXT, made.send(NEXT, there=False), "acknowledged")


def unheard_of_and_there_as_predicted(made: MadeRows) -> None:
    made.predict("present", NEXT, made.send(NEXT, None))


def unheard_of_and_there(made: MadeRows) -> None:
    made.send(NEXT, INDETERMINATE)


def unheard_of_and_maybe_there(made: MadeRows) -> None:
    made.send(NEXT, INDETERMINATE)
    made.predict("either", NEXT, None)


def unheard_of_and_gone(made: MadeRows) -> None:
    made.send(NEXT, None, there=False)


def unheard_of_and_gone_against_the_prediction(made: MadeRows) -> None:
    made.predict("present", NEXT, made.send(NEXT, None, there=False))


def refused_and_there(made: MadeRows) -> None:
    made.send(NEXT, REFUSED)


def refused_and_gone(made: MadeRows) -> None:
    made.send(NEXT, REFUSED, there=False)


def sent_again_as_predicted(made: MadeRows) -> None:
    made.predict("present", NEXT, made.send(NEXT))
    made.logs[0].append((NEXT, True))
    made.told[NEXT] = (ACKNOWLEDGED, len(made.logs[0]) - 1)
    made.predict("present", NEXT, len(made.logs[0]) - 1, "acknowledged")


def there_twice(made: MadeRows) -> None:
    made.send(NEXT)
    made.logs[0].append((NEXT, True))


def elsewhere(made: MadeRows) -> None:
    made.send(NEXT, there=False)
    made.logs[1].append((NEXT, True))


def later_than_told(made: MadeRows) -> None:
    made.logs[0].append((NEXT + 2, True))
    made.send(NEXT, told_at=len(made.logs[0]) - 1)


def changed(made: MadeRows) -> None:
    made.send(NEXT, there=False)
    made.logs[0].append((NEXT, False))


def after_a_later_one(made: MadeRows) -> None:
    made.send(NEXT + 2)
    made.send(NEXT)


def acknowledged_without_an_offset(made: MadeRows) -> None:
    made.send(NEXT)
    made.told[NEXT] = (ACKNOWLEDGED, None)


def somebodys(made: MadeRows) -> None:
    made.logs[1].append((None, False))


def hidden(made: MadeRows) -> None:
    made.send(NEXT)
    made.attempted.remove(NEXT)
    del made.told[NEXT]


def nothing(_: MadeRows) -> None:
    pass


CASES: list[tuple[Callable[[MadeRows], None], dict[str, str]]] = [
    (nothing, {}),
    (lost, {"lost": "0/0/1"}),
    (lost_as_predicted, {"lost": "1/0/0"}),
    (kept_against_the_prediction, {"resurrected": "0/0/1"}),
    (lost_or_not, {"lost": "0/1/0"}),
    (unheard_of_and_there_as_predicted, {"indeterminate_present": "1/0/0"}),
    (unheard_of_and_there, {"resurrected": "0/0/1", "indeterminate_present": "0/0/1"}),
    (unheard_of_and_maybe_there, {"indeterminate_present": "0/1/0"}),
    (unheard_of_and_gone, {"absent": "1/0/0"}),
    (unheard_of_and_gone_against_the_prediction, {"absent": "0/0/1"}),
    (refused_and_there, {"resurrected": "0/0/1"}),
    (refused_and_gone, {"absent": "1/0/0"}),
    (sent_again_as_predicted, {"duplicated": "1/0/0"}),
    (there_twice, {"duplicated": "0/0/1"}),
    (elsewhere, {"moved": "0/0/1"}),
    (later_than_told, {"phantom": "0/0/1", "moved": "0/0/1"}),
    (changed, {"value_changed": "0/0/1"}),
    (after_a_later_one, {"reordered": "1/0/0"}),
    (acknowledged_without_an_offset, {}),
    (somebodys, {"phantom": "0/0/1"}),
    (hidden, {"phantom": "0/0/1"}),
]


@pytest.mark.parametrize(("change", "found"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_a_record_is_in_its_classes(
    spark: SparkSession, tmp_path: Path, change: Callable[[MadeRows], None], found: dict[str, str]
) -> None:
    made = MadeRows.of(MANY)
    change(made)
    counted = made.counted(spark, tmp_path)
    assert judged(counted) == found
    assert {one.classification for one in counted.samples} <= {*found, "kept"}


def test_two_outcomes_of_one_record_break_the_identity(spark: SparkSession, tmp_path: Path) -> None:
    made = MadeRows.of(MANY)
    made.attempted.append(record(0, 3))
    assert not made.counted(spark, tmp_path).identity_holds


def test_an_outcome_of_no_attempt_breaks_the_identity(spark: SparkSession, tmp_path: Path) -> None:
    made = MadeRows.of(MANY)
    run, soak = made.written(tmp_path)
    other = MadeRows.of(1)
    other.attempted, other.told = [record(0, 0)], {record(0, 0): (ACKNOWLEDGED, 0)}
    other.written(tmp_path / "other")
    (run.path / "producers" / "0" / "ledger" / "outcomes-00001.parquet").write_bytes(
        (tmp_path / "other" / "producers" / "0" / "ledger" / "outcomes-00000.parquet").read_bytes()
    )
    assert not count_soak(spark, run.path, soak, run_files.TOPIC.read(spark, [run.path])).identity_holds


def test_offsets_without_a_record_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    run, soak = MadeRows.of(MANY).written(tmp_path)
    longer = replace(soak, ends=(soak.ends[0] + 1, soak.ends[1]))
    with pytest.raises(ReconcileError, match="Partition 0 of t ends at 201, and 200 records were read of it"):
        count_soak(spark, run.path, longer, run_files.TOPIC.read(spark, [run.path]))


def scrambled(seed: int) -> MadeRows:
    """Return records to which anything may have happened, some of it as predicted."""
    draw, made = Random(seed), MadeRows.of(0)
    for number in range(300):
        one = record(number % 2, number // 2)
        if draw.random() < 0.8:
            made.send(one)
            continue
        outcome, is_there = draw.choice([ACKNOWLEDGED, ACKNOWLEDGED, REFUSED, INDETERMINATE, None]), draw.random() < 0.6
        offset = made.send(one, outcome, there=is_there)
        for _ in range(draw.choice([0, 1, 1, 2])):
            fate, answer = draw.choice(["present", "lost", "either"]), draw.choice(["none", "acknowledged"])
            made.predict(fate, one, draw.choice([offset, offset + 1, None]), answer)
        if draw.random() < 0.3:
            made.logs[draw.randrange(2)].append((draw.choice([one, None, record(1, 900)]), draw.random() < 0.5))
        if draw.random() < 0.2:
            made.send(record(number % 2, 500 - number // 2))
    return made


@pytest.mark.parametrize("seed", range(3))
def test_another_engine_counts_the_same(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    made = scrambled(seed)
    run, soak = made.written(tmp_path)
    counted = count_soak(spark, run.path, soak, run_files.TOPIC.read(spark, [run.path]))
    assert counted.identity_holds
    assert sum(one.records > 0 for one in map(counted.total, counted.partitions[0].classes)) >= 7
    (tmp_path / "scratch").mkdir()
    assert differences(run.path, soak, counted, tmp_path / "scratch") == ()


def test_the_other_engine_says_where_it_counts_otherwise(spark: SparkSession, tmp_path: Path) -> None:
    made = MadeRows.of(MANY)
    lost(made)
    run, soak = made.written(tmp_path)
    counted = count_soak(spark, run.path, soak, run_files.TOPIC.read(spark, [run.path]))
    first, second = counted.partitions
    wrong = replace(
        counted, partitions=(replace(first, classes={**first.classes, "lost": first.classes["moved"]}), second)
    )
    (told,) = differences(run.path, soak, wrong, tmp_path)
    assert told.startswith("partition 0, class lost: Spark counts")


def test_a_sample_that_differs_from_its_blocks_is_noticed(spark: SparkSession, tmp_path: Path) -> None:
    run, soak = MadeRows.of(MANY).written(tmp_path)
    topic = run_files.TOPIC.read(spark, [run.path])
    runs, windows = runs_of(facts_of(spark, run.path, soak, topic)), windows_of(soak)
    within = topic.where(
        " or ".join(
            f"partition = {at} and offset between {first} and {end - 1}" for at, (first, end) in windows.items()
        )
    )
    found = control_of(run.path, soak, runs, windows, within)
    assert (found.agrees, found.records, found.kept) == (True, 128, 128)
    first = windows[0][0]
    less = control_of(run.path, soak, runs, windows, within.where(f"not (partition = 0 and offset = {first})"))
    assert (less.agrees, less.kept, less.others_in_plain_blocks) == (False, 127, 1)
