"""Each kind of row agrees and disagrees; the map from leaderships to epochs must be a rising function."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judgement.comparison import (
    ComparedRow,
    checkpoint_rows,
    differing_numbers,
    epoch_conflicts,
    outcome_rows,
    unexplained_probes,
)
from conformance.record.directory import as_plain
from conformance.record.observations import MeasuredCheckpoint, MeasuredNumbers, OutcomeSeen
from conformance.record.prediction import PredictedMoment, PredictedNumbers, PredictedRecord
from conformance.record.verdict import DifferingNumber

if TYPE_CHECKING:
    from collections.abc import Callable

PREDICTED: dict[str, Any] = {
    "step": 3,
    "name": "end",
    "leadership": 0,
    "replicas": {
        "1": {"log_end_offset": 2, "high_watermark": 2, "alive": True},
        "2": {"log_end_offset": 2, "high_watermark": 1, "alive": True},
    },
    "leader": 1,
    "isr": [2, 1],
    "elr": [],
    "remote_log_end_offsets": {"2": 1},
}
MEASURED: dict[str, Any] = PREDICTED | {"kind": "checkpoint", "isr": [1, 2], "leader_epoch": 7, "settled": True}


def compared(predicted: dict[str, Any], measured: dict[str, Any]) -> list[ComparedRow]:
    moment = msgspec.json.decode(msgspec.json.encode(predicted), type=PredictedMoment)
    return checkpoint_rows(moment, msgspec.json.decode(msgspec.json.encode(measured), type=MeasuredCheckpoint))


def disagreements(rows: list[ComparedRow]) -> list[ComparedRow]:
    return [row for row in rows if not row.agrees]


def test_equal_numbers_agree_whatever_the_order_of_the_isr() -> None:
    rows = compared(PREDICTED, MEASURED)

    assert disagreements(rows) == []
    assert [row.what for row in rows] == [
        "broker 1 log end offset",
        "broker 1 high watermark",
        "broker 1 alive",
        "broker 2 log end offset",
        "broker 2 high watermark",
        "broker 2 alive",
        "leader",
        "isr",
        "elr",
        "remote log end offset of broker 2 (derived)",
    ]


@pytest.mark.parametrize(
    ("change", "what", "measured"),
    [
        (lambda m: m["replicas"]["1"].update(log_end_offset=3), "broker 1 log end offset", 3),
        (lambda m: m["replicas"]["2"].update(high_watermark=2), "broker 2 high watermark", 2),
        (lambda m: m["replicas"]["2"].update(alive=False), "broker 2 alive", False),
        (lambda m: m.update(leader=2), "leader", 2),
        (lambda m: m.update(leader=None), "leader", None),
        (lambda m: m.update(isr=[1]), "isr", [1]),
        (lambda m: m.update(elr=[2]), "elr", [2]),
        (lambda m: m["remote_log_end_offsets"].update({"2": 2}), "remote log end offset of broker 2 (derived)", 2),
        (lambda m: m.update(remote_log_end_offsets={}), "remote log end offset of broker 2 (derived)", None),
    ],
)
def test_each_number_can_disagree_alone(
    change: Callable[[dict[str, Any]], object], what: str, measured: object
) -> None:
    seen = deepcopy(MEASURED)
    change(seen)

    (row,) = disagreements(compared(PREDICTED, seen))

    assert (row.what, row.measured, row.kind) == (what, measured, "checkpoint")


@pytest.mark.parametrize(
    ("broker", "change", "found"),
    [
        ("1", {}, ()),
        ("1", {"log_end_offset": 3}, (DifferingNumber(3, 1, "log_end_offset", 2, 3),)),
        ("2", {"high_watermark": 0}, (DifferingNumber(3, 2, "high_watermark", 1, 0),)),
        ("2", {"alive": False}, ()),
    ],
)
def test_the_offsets_that_differ_after_a_step_are_those_of_its_last_probe(
    broker: str, change: dict[str, Any], found: tuple[DifferingNumber, ...]
) -> None:
    moment = msgspec.json.decode(msgspec.json.encode(PREDICTED), type=PredictedMoment)
    prediction = PredictedNumbers(checkpoints=(), records=(), logs={}, diverged=(), steps=(moment,))
    late, seen = deepcopy(MEASURED | {"step": 3}), deepcopy(MEASURED | {"step": 3})
    late["replicas"]["1"].update(log_end_offset=0)
    seen["replicas"][broker].update(change)
    probes = [msgspec.json.decode(msgspec.json.encode(one), type=MeasuredCheckpoint) for one in (late, seen)]

    assert differing_numbers(prediction, probes) == found
    assert differing_numbers(prediction, [replace(one, step=None) for one in probes]) == ()
    opened = replace(prediction, steps=(replace(moment, is_open=True),))
    assert differing_numbers(opened, probes) == ()


@pytest.mark.parametrize(("opened", "differ"), [(None, True), (0, True), (2, False), (3, False), (4, False)])
def test_a_probe_beside_numbers_that_a_race_leaves_open_contradicts_nothing(opened: int | None, differ: bool) -> None:
    moment = replace(msgspec.json.decode(msgspec.json.encode(PREDICTED), type=PredictedMoment), name=None)
    steps = tuple(replace(moment, step=step, is_open=step == opened) for step in range(6))
    prediction = PredictedNumbers(checkpoints=(), records=(), logs={}, diverged=(), steps=steps)
    seen = deepcopy(MEASURED | {"step": 3})
    seen["replicas"]["2"].update(high_watermark=0)
    plain = {key: value for key, value in (seen | {"kind": "numbers"}).items() if key != "name"}
    probe = msgspec.json.decode(msgspec.json.encode(plain), type=MeasuredNumbers)

    assert [row.code for row in unexplained_probes(prediction, [probe])] == ["high_watermark"] * differ


@pytest.mark.parametrize(("predicted", "agrees"), [(1, True), (3, True), (2, False), (None, False)])
def test_where_no_frame_tells_what_a_leader_knows_either_number_agrees_and_no_third(
    predicted: int | None, *, agrees: bool
) -> None:
    told = PREDICTED | {"remote_log_end_offsets": {"2": predicted}}
    seen = MEASURED | {"remote_log_end_offsets": {"2": 1}, "or_if_diverging_counts": {"2": 3}}

    assert (disagreements(compared(told, seen)) == []) is agrees


def test_a_replica_that_nobody_measured_disagrees_in_every_number() -> None:
    rows = disagreements(compared(PREDICTED, MEASURED | {"replicas": {"1": MEASURED["replicas"]["1"]}}))

    assert [row.what for row in rows] == ["broker 2 log end offset", "broker 2 high watermark", "broker 2 alive"]


@pytest.mark.parametrize("measured", [{k: v for k, v in MEASURED.items() if k != "elr"}, MEASURED | {"elr": None}])
def test_eligible_leader_replicas_are_compared_only_where_a_release_shows_them(measured: dict[str, Any]) -> None:
    assert "elr" not in [row.what for row in compared(PREDICTED, measured)]


def test_outcomes_and_named_errors_are_compared() -> None:
    nothing = PredictedRecord(0, "", "absent", False, "", None, None, None, 1, "", "none", None)
    predicted = [
        replace(nothing, label="m0", outcome="acknowledged"),
        replace(nothing, label="m1", outcome="refused", error="NOT_ENOUGH_REPLICAS"),
    ]
    ignored = "ignored where the model names none"
    measured = {
        "m0": OutcomeSeen(label="m0", outcome="acknowledged", error=ignored),
        "m1": OutcomeSeen(label="m1", outcome="refused", error="NOT_ENOUGH_REPLICAS"),
    }

    assert disagreements(outcome_rows(predicted, measured)) == []
    other = OutcomeSeen(label="m1", outcome="refused", error="REQUEST_TIMED_OUT")
    wrong = disagreements(outcome_rows(predicted, {"m1": other}))
    assert [(row.what, row.predicted, row.measured, row.kind) for row in wrong] == [
        ("outcome of m0", "acknowledged", None, "outcome"),
        ("error of m1", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT", "outcome"),
    ]


def test_a_row_is_written_with_its_agreement() -> None:
    assert as_plain(ComparedRow("leader", 1, 2).recorded) == {
        "what": "leader",
        "predicted": 1,
        "measured": 2,
        "agrees": False,
    }


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(0, 0)],
        [(0, 3), (1, 5), (2, 6)],
        [(1, 5), (0, 3), (1, 5)],
        [(0, 3), (0, 4), (1, 5)],
        [(0, -1), (1, -1), (1, 4)],
    ],
    ids=["nothing", "one", "gaps", "any order", "bumped within a leadership", "no epoch recorded"],
)
def test_a_rising_map_of_epochs_has_no_conflict(pairs: list[tuple[int, int]]) -> None:
    assert epoch_conflicts(pairs) == []


@pytest.mark.parametrize(
    ("pairs", "conflict"),
    [
        ([(0, 3), (1, 3)], "leader epoch 3 stands for leaderships 0 and 1"),
        ([(1, 3), (0, 5)], "leader epoch 5 belongs to leadership 0, but the lower epoch 3 belongs to 1"),
        ([(0, 1), (2, 4), (1, 6)], "leader epoch 6 belongs to leadership 1, but the lower epoch 4 belongs to 2"),
        ([(0, 1), (1, 2), (2, 2)], "leader epoch 2 stands for leaderships 1 and 2"),
    ],
)
def test_an_epoch_of_two_leaderships_or_a_falling_one_is_named(pairs: list[tuple[int, int]], conflict: str) -> None:
    assert epoch_conflicts(pairs) == [conflict]


@given(st.lists(st.integers(0, 30), unique=True, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_any_rising_map_passes_and_any_swap_in_it_is_noticed(epochs: list[int], random: Any) -> None:  # noqa: ANN401
    pairs = list(enumerate(sorted(epochs)))
    shuffled = random.sample(pairs, len(pairs))
    first, second = random.sample(range(len(pairs)), 2)
    swapped = [*pairs]
    swapped[first], swapped[second] = (pairs[first][0], pairs[second][1]), (pairs[second][0], pairs[first][1])

    assert epoch_conflicts(shuffled) == []
    assert epoch_conflicts(swapped)
