"""LE-08: what is predicted, that another rule predicts something else, and what real brokers do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cluster_pool import ClusterPool
from conformance.examining.moved_replica import (
    BEFORE,
    END,
    ERROR,
    HEALED,
    JOINED,
    MOVED,
    MOVED_AGAIN,
    REFUSES,
    STARTS,
    MovedReplica,
)
from conformance.line import line_named
from conformance.pipeline import Pipeline
from conformance.record.verdict import Conformance
from conformance.registry import select
from conformance.spark_thread import SparkThread
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.releases import jars_of
from oracle.rules.log_directories import MovedEpochs

if TYPE_CHECKING:
    from pathlib import Path


def predicted(line: str, stay: MovedEpochs | None = None) -> dict[str, object]:
    return {answer.what: answer.value for answer in MovedReplica(stay).predict(line_named(line).rules)}


def test_a_moved_leader_does_not_know_its_own_epoch() -> None:
    answers = predicted("4.4.0")
    assert (answers[STARTS.format(BEFORE)], answers[END.format(BEFORE)]) == ([0, 1], 1)
    assert (answers[STARTS.format(MOVED)], answers[END.format(MOVED)]) == ([0], None)
    assert answers[STARTS.format(MOVED_AGAIN)] == []


def test_a_release_that_kept_every_epoch_would_let_the_follower_join() -> None:
    """The negative control: with the other rule the same course has other answers, which brokers would not give."""
    kept, lost = predicted("4.4.0", MovedEpochs.EVERY), predicted("4.4.0")
    assert (kept[STARTS.format(MOVED)], kept[END.format(MOVED)]) == ([0, 1], 1)
    assert (kept[JOINED], kept[ERROR], kept[REFUSES]) == ([1, 2], None, False)
    assert (lost[JOINED], lost[ERROR], lost[REFUSES]) == ([2], "NOT_ENOUGH_REPLICAS", True)
    assert kept[HEALED] == lost[HEALED] == [1, 2]


@pytest.mark.parametrize(("line", "isr"), [("2.1.1", [1, 2]), ("2.8.2", [2]), ("3.5.2/zookeeper", [2])])
def test_a_follower_stays_out_where_its_fetches_name_its_epoch(line: str, isr: list[int]) -> None:
    assert predicted(line)[JOINED] == isr


def test_before_2_0_1_a_leader_has_noted_nothing_that_a_move_could_lose() -> None:
    answers = predicted("1.1.1")
    assert answers[STARTS.format(BEFORE)] == answers[STARTS.format(MOVED)] == [0]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("2.8.2", None),
        ("3.6.2/zookeeper", None),
        ("3.6.2/kraft", "exists in KRaft mode since Kafka 3.7.0: brokers have one log directory (KIP-858)"),
        ("3.7.2/kraft", None),
    ],
)
def test_it_is_asked_where_brokers_have_two_log_directories(name: str, reason: str | None) -> None:
    line, (entry,) = line_named(name), select(["LE-08"])
    assert entry.where.reason_not_to_run(line.release.version, line.rules.metadata) == reason


def test_it_is_not_asked_where_fetches_name_no_epoch() -> None:
    (entry,) = select(["LE-08"])
    line = line_named("2.7.2")
    reason = entry.where.reason_not_to_run(line.release.version, line.rules.metadata)
    assert reason is not None
    assert reason.startswith("exists since Kafka 2.8.0: ")


@pytest.mark.broker
@pytest.mark.timeout(300)
def test_brokers_do_what_the_rule_says(tmp_path: Path) -> None:
    line, (entry,) = line_named("4.4.0"), select(["LE-08"])
    with (
        SparkThread() as spark,  # not started: nothing is reconciled
        ClusterPool(line=line, jars=jars_of(line.release), backend=ProcessBackend(), progress=lambda _: None) as pool,
    ):
        result = Pipeline(pool, spark, tmp_path, 7, lambda _: None).run(entry)
    assert result.verdict.conformance is Conformance.CONFORMS
