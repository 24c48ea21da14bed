"""What is predicted of the high watermark, and on which releases does it differ?"""

from __future__ import annotations

import pytest

from conformance.record.prediction import frozen_form
from oracle.rules.by_version import rules_for
from tests.conformance.scenarios.ladder_predictions import (
    LINES,
    Line,
    at,
    fates,
    high_watermarks,
    kraft,
    outcomes,
    predicted,
    runs_on,
    scenario,
    where_it_holds,
    zookeeper,
)

NAMES = (
    "HW-04",
    "HW-05",
    "HW-06",
    "HW-07/append",
    "HW-07/election",
    "HW-07/fetch",
    "HW-07/shrink",
    "HW-08/gone",
    "HW-08/returned",
    "HW-11",
    "HW-12",
    "HW-13/after-a-checkpoint",
    "HW-13/before-a-checkpoint",
    "HW-13/lost-checkpoint",
    "HW-13/shorter-log",
)
NEWEST = kraft("4.3.1")
OLDEST = zookeeper("0.10.2.2")


def numbers(name: str, line: Line, checkpoint: str) -> dict[int, tuple[int, int]]:
    """Return each replica's log end offset and high watermark."""
    replicas = at(name, line, checkpoint).replicas
    return {int(b): (int(one.log_end_offset), int(one.high_watermark)) for b, one in replicas.items()}


@pytest.mark.parametrize("name", NAMES)
def test_each_release_has_one_determined_prediction_and_loses_nothing(name: str) -> None:
    assert runs_on(name) == LINES
    for line in LINES:
        assert predicted(name, line).races == ()
        assert set(fates(name, line).values()) == {"present"}
        assert set(outcomes(name, line).values()) == {"acknowledged"}


def test_a_followers_end_is_known_twice() -> None:
    checkpoint = "both followers have m1, the leader knows of one"
    for line in LINES:
        assert numbers("HW-04", line, checkpoint) == {1: (2, 1), 2: (2, 1), 3: (2, 1)}
        assert at("HW-04", line, checkpoint).remote_log_end_offsets == {2: 1, 3: 2}


def test_only_the_leaders_end_moves_while_no_fetch_arrives() -> None:
    for line in LINES:
        assert numbers("HW-05", line, "the leader has three records more") == {1: (4, 1), 2: (1, 1), 3: (1, 1)}


@pytest.mark.parametrize(
    ("occasion", "broker", "from_to"), [("append", 1, (3, 4)), ("fetch", 1, (1, 2)), ("election", 2, (1, 2))]
)
def test_each_occasion_raises_it_by_one(occasion: str, broker: int, from_to: tuple[int, int]) -> None:
    assert {tuple(high_watermarks(f"HW-07/{occasion}", line, broker)[:2]) for line in LINES} == {from_to}


def test_a_shrink_raises_it_unless_nobody_looks() -> None:
    stuck = where_it_holds("HW-07/shrink", lambda line: high_watermarks("HW-07/shrink", line)[:2] == [1, 1])
    assert stuck == {"2.7.2 zookeeper", "2.8.2 zookeeper"}, "KAFKA-13091"
    assert all(high_watermarks("HW-07/shrink", line)[2] == 2 for line in LINES)


def test_a_returned_replica_holds_it_back_where_it_counts_as_caught_up() -> None:
    name, checkpoint = "HW-08/returned", "the leader has m3"
    waits = {
        line for line in (*LINES, zookeeper("3.9.2"), kraft("3.4.1")) if numbers(name, line, checkpoint)[1][1] == 3
    }
    assert waits == set(LINES), "from 3.3 not in ZooKeeper mode; in KRaft mode from 3.6"


def test_a_dead_replica_holds_it_back_up_to_3_5() -> None:
    name, checkpoint = "HW-08/gone", "broker 2 is gone, the leader has m4"
    lines = (*LINES, *map(zookeeper, ("3.4.1", "3.6.2")), kraft("3.4.1"))
    waits = {version for version, mode in lines if numbers(name, (version, mode), checkpoint)[1] == (5, 4)}
    assert waits == {"0.10.2.2", "1.1.1", "2.0.1", "2.1.1", "2.7.2", "2.8.2", "3.4.1"}


def test_three_releases_put_the_new_one_into_the_answer() -> None:
    checkpoint = "broker 3 has the answer and has not fetched again"
    told = {version: numbers("HW-12", zookeeper(version), checkpoint)[3][1] for version in ("1.0.0", "1.0.1", "1.1.0")}
    assert set(told.values()) == {2}
    assert {numbers("HW-12", line, checkpoint)[3] for line in (*LINES, zookeeper("1.0.2"))} == {(3, 1)}


@pytest.mark.parametrize(
    ("variant", "now", "before_epochs"),
    [
        ("after-a-checkpoint", (3, 3), (3, 3)),
        ("before-a-checkpoint", (3, 0), (0, 0)),
        ("lost-checkpoint", (3, 0), (0, 0)),
        ("shorter-log", (2, 2), (2, 2)),
    ],
)
def test_a_restart_takes_the_lower_of_checkpoint_and_end(
    variant: str, now: tuple[int, int], before_epochs: tuple[int, int]
) -> None:
    name, checkpoint = f"HW-13/{variant}", "broker 2 runs and has not fetched"
    for line in LINES:
        expected = before_epochs if line == OLDEST else now
        assert numbers(name, line, checkpoint)[2] == expected
        assert numbers(name, line, "broker 2 has fetched")[2] == (3, 3)


def answers(name: str, line: Line) -> list[object]:
    prediction = frozen_form(predicted(name, line).as_json())
    return [question.predict(rules_for(*line), prediction) for question in scenario(name).questions]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("HW-04", [1, 2]),
        ("HW-05", [0]),
        ("HW-06", [1, 2]),
        ("HW-07/append", [[]]),
        ("HW-07/fetch", [[2]]),
        ("HW-12", [1]),
        ("HW-13/before-a-checkpoint", [[], 3]),
    ],
)
def test_the_answers_follow_from_the_numbers(name: str, expected: list[object]) -> None:
    assert answers(name, NEWEST) == expected


def test_they_differ_where_the_rules_do() -> None:
    assert answers("HW-12", zookeeper("1.1.0")) == [2]
    assert answers("HW-13/before-a-checkpoint", OLDEST) == [[], 0]
