"""Is every record of a soak in the classes that it belongs to, and compared with what was predicted of it?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from conformance.reconcile import run_files
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.soak import count_soak
from conformance.reconcile.soak_blocks import facts_of, runs_of
from conformance.reconcile.soak_control import control_of, windows_of
from conformance.reconcile.soak_cross_check import differences
from conformance.record.ledger import LedgerWriter, OutcomeEntry
from conformance.record.soak import PRODUCERS
from conformance.record.soak_counted import CLASSES, OF_NOTE, ClassCounted
from tests.conformance.reconcile.made_rows import ACKNOWLEDGED, INDETERMINATE, REFUSED, MadeRows, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.alone]
MANY = 200


def lost(made: MadeRows, one: int) -> None:
    made.send(one, there=False)


def lost_as_predicted(made: MadeRows, one: int) -> None:
    made.predict("lost", one, made.send(one, there=False), "acknowledged")


def kept_against_the_prediction(made: MadeRows, one: int) -> None:
    made.predict("lost", one, made.send(one), "acknowledged")


def lost_or_not(made: MadeRows, one: int) -> None:
    made.predict("either", one, made.send(one, there=False), "acknowledged")


def unheard_of_and_there_as_predicted(made: MadeRows, one: int) -> None:
    made.predict("present", one, made.send(one, None))


def unheard_of_and_there(made: MadeRows, one: int) -> None:
    made.send(one, INDETERMINATE)


def unheard_of_and_maybe_there(made: MadeRows, one: int) -> None:
    made.send(one, INDETERMINATE)
    made.predict("either", one, None)


def unheard_of_and_gone(made: MadeRows, one: int) -> None:
    made.send(one, None, there=False)


def unheard_of_and_gone_against_the_prediction(made: MadeRows, one: int) -> None:
    made.predict("present", one, made.send(one, None, there=False))


def refused_and_there(made: MadeRows, one: int) -> None:
    made.send(one, REFUSED)


def refused_and_gone(made: MadeRows, one: int) -> None:
    made.send(one, REFUSED, there=False)


def sent_again_as_predicted(made: MadeRows, one: int) -> None:
    made.predict("present", one, made.send(one))
    made.logs[0].append((one, True))
    made.told[one] = (ACKNOWLEDGED, len(made.logs[0]) - 1)
    made.predict("present", one, len(made.logs[0]) - 1, "acknowledged")


def there_twice(made: MadeRows, one: int) -> None:
    made.send(one)
    made.logs[0].append((one, True))


def elsewhere(made: MadeRows, one: int) -> None:
    made.send(one, there=False)
    made.logs[1].append((one, True))


def later_than_told(made: MadeRows, one: int) -> None:
    made.logs[0].append((one + 2, True))
    made.send(one, told_at=len(made.logs[0]) - 1)


def changed(made: MadeRows, one: int) -> None:
    made.send(one, there=False)
    made.logs[0].append((one, False))


def before_an_earlier_one(made: MadeRows, one: int) -> None:
    made.send(one)
    made.send(one - 2)


def acknowledged_without_an_offset(made: MadeRows, one: int) -> None:
    made.send(one)
    made.told[one] = (ACKNOWLEDGED, None)


def hidden(made: MadeRows, one: int) -> None:
    made.send(one)
    made.attempted.remove(one)
    del made.told[one]


def kept(made: MadeRows, one: int) -> None:
    made.send(one)


CASES: list[tuple[Callable[[MadeRows, int], None], str]] = [
    (kept, "predicted kept"),
    (lost, "against lost"),
    (lost_as_predicted, "predicted lost"),
    (kept_against_the_prediction, "against resurrected"),
    (lost_or_not, "either lost"),
    (unheard_of_and_there_as_predicted, "predicted indeterminate_present"),
    (unheard_of_and_there, "against resurrected indeterminate_present"),
    (unheard_of_and_maybe_there, "either indeterminate_present"),
    (unheard_of_and_gone, "predicted absent"),
    (unheard_of_and_gone_against_the_prediction, "against absent"),
    (refused_and_there, "against resurrected"),
    (refused_and_gone, "predicted absent"),
    (sent_again_as_predicted, "predicted duplicated"),
    (there_twice, "against duplicated"),
    (elsewhere, "against moved"),
    (later_than_told, "against moved"),
    (changed, "against value_changed"),
    (before_an_earlier_one, "predicted reordered"),
    (acknowledged_without_an_offset, "predicted kept"),
    (hidden, "against phantom"),
]
"""What befalls a record, and what must be found of it: how it compares with the prediction, and its classes."""


UNNOTED = ("predicted kept", "predicted absent", "predicted indeterminate_present")
BESIDE = ("against phantom", "against phantom", "predicted kept")
"""What is found besides: the record of ``later_than_told`` that nobody sent, somebody's, and an earlier one."""


def test_each_record_is_in_its_classes_and_no_other(spark: SparkSession, tmp_path: Path) -> None:
    made, ids = MadeRows.of(MANY), [record(0, MANY + 4 * place) for place in range(len(CASES))]
    for one, (change, _) in zip(ids, CASES, strict=True):
        change(made, one)
    made.logs[1].append((None, False))
    counted = made.counted(spark, tmp_path)
    assert counted.identity_holds
    found = noted(tmp_path)
    for one, (change, expected) in zip(ids, CASES, strict=True):
        assert (change.__name__, found.get(one)) == (change.__name__, None if expected in UNNOTED else expected)
    words = [expected.split() for expected in (*(expected for _, expected in CASES), *BESIDE)]
    for name in CLASSES:
        judged = Counter(word[0] for word in words if name in word[1:])
        judged["predicted"] += 2 * MANY if name == "kept" else 0
        assert (name, counted.total(name)) == (name, ClassCounted(**judged))
    assert counted.against == sum(word[0] == "against" for word in words)


def noted(directory: Path) -> dict[int | None, str]:
    """Return of every record of note how it compares with the prediction, and its classes."""
    rows = pq.read_table(directory / OF_NOTE).to_pylist()
    return {row["record_id"]: " ".join([row["judged"], *(name for name in CLASSES if row[name])]) for row in rows}


def test_two_attempts_of_one_record_break_the_identity(spark: SparkSession, tmp_path: Path) -> None:
    made = MadeRows.of(MANY)
    made.attempted.append(record(0, 3))
    assert not made.counted(spark, tmp_path).identity_holds


def test_an_outcome_of_no_attempt_breaks_the_identity(spark: SparkSession, tmp_path: Path) -> None:
    run, soak = MadeRows.of(MANY).written(tmp_path)
    stray = OutcomeEntry(record(0, MANY), ACKNOWLEDGED, None, 5, 0)
    LedgerWriter(run.path / PRODUCERS / "0" / "ledger").record_outcomes([stray])
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
    lost(made, record(0, MANY))
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
    runs, windows = runs_of(facts_of(spark, run.path, soak, topic), soak), windows_of(soak)
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
