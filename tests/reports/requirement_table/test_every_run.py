"""Do HW-01, HW-09 and HW-10 bite where probes or frames show that they do not hold?"""

from __future__ import annotations

from typing import Any

import pytest

from reports.requirement_table.every_run import Held, held_in_run
from reports.wire import Wire, WireInvariant, WireViolation
from tests.reports.requirement_table.small_runs import numbers, seen


def held(*observations: dict[str, Any], wire: Wire | None = None) -> dict[str, tuple[int, int, int]]:
    return {each: (h.probes, h.frames, len(h.broken)) for each, h in held_in_run(observations, wire).items()}


def pair(
    leader: tuple[int, int], follower: tuple[int, int], *, epoch: int = 0, remote: dict[str, Any] | None = None
) -> dict[str, Any]:
    return seen({"1": numbers(*leader), "2": numbers(*follower)}, epoch=epoch, remote=remote)


def test_each_replica_that_runs_is_an_observation() -> None:
    down = {"1": numbers(2, 2), "2": numbers(1, 2, alive=False), "3": numbers(None, None)}
    assert held(seen(down))["HW-01"] == (1, 0, 0)


def test_a_high_watermark_beyond_the_end_is_said() -> None:
    broken = held_in_run([seen({"1": numbers(2, 3)})], None)["HW-01"].broken
    assert broken == ("after step 1: broker 1 has high watermark 3 and log end offset 2",)


def test_the_leaders_high_watermark_may_fall_only_in_another_epoch() -> None:
    first, lower = pair((2, 2), (2, 2)), pair((2, 1), (2, 1))
    assert held(first, lower)["HW-09"] == (0, 0, 1)
    assert held(first, pair((2, 1), (2, 1), epoch=1))["HW-09"] == (0, 0, 0)
    assert held(lower, first)["HW-09"] == (1, 0, 0)


@pytest.mark.parametrize(
    ("leader", "follower", "remote", "is_in_order"),
    [
        ((2, 1), (2, 1), 1, True),
        ((2, 1), (3, 1), 1, False),
        ((2, 1), (1, 1), 2, False),
        ((2, 2), (2, 1), 1, False),
        ((2, 1), (2, 2), 1, False),
    ],
)
def test_the_five_numbers_never_rise(
    leader: tuple[int, int], follower: tuple[int, int], remote: int, *, is_in_order: bool
) -> None:
    counted = held(pair(leader, follower, remote={"2": remote}))["HW-10"]
    assert counted == ((1, 0, 0) if is_in_order else (0, 0, 1))


def test_one_doctored_offset_of_a_checkpoint_is_named_with_all_five() -> None:
    sound = pair((3, 2), (3, 2), remote={"2": 2}) | {"kind": "checkpoint", "name": "end"}
    doctored = pair((3, 2), (3, 2), remote={"2": 1}) | {"kind": "checkpoint", "name": "end"}
    assert held(sound)["HW-10"] == (1, 0, 0)
    assert held_in_run([doctored], None)["HW-10"].broken == (
        "checkpoint end: leader 1 and follower 2 stand at (3, 3, 1, 2, 2)",
    )


def test_the_order_is_not_asked_of_a_follower_that_never_fetched() -> None:
    assert held(pair((1, 1), (3, 1), remote={"2": None}))["HW-10"] == (0, 0, 0)


def test_what_the_leader_knew_before_its_epoch_is_not_asked() -> None:
    elected = pair((2, 1), (3, 1), epoch=3, remote={"2": 3})
    fetched = pair((2, 2), (2, 2), epoch=3, remote={"2": 2})
    assert held(elected)["HW-10"] == (0, 0, 0)
    assert held(elected, fetched)["HW-10"] == (1, 0, 0)


def test_what_the_leader_knew_of_a_follower_before_it_was_down_is_not_asked() -> None:
    fetched = pair((1, 1), (1, 1), remote={"2": 1})
    down = seen({"1": numbers(1, 1), "2": numbers(1, 1, alive=False)}, remote={})
    back_without_its_tail = pair((1, 1), (0, 0), remote={"2": 1})
    assert held(fetched, down, back_without_its_tail)["HW-10"] == (1, 0, 0)
    assert held(fetched, back_without_its_tail)["HW-10"] == (1, 0, 1)


def test_a_new_leader_is_asked_only_once_it_reached_the_start_of_its_epoch() -> None:
    elected = pair((2, 0), (2, 1), epoch=1, remote={"2": 0})
    fetched = pair((2, 0), (2, 1), epoch=1, remote={"2": 2})
    assert held(elected, fetched)["HW-10"] == (0, 0, 0)


def test_frames_count_for_what_they_show_and_none_shows_five_offsets() -> None:
    wire = Wire(
        "4.3.1 KRaft", invariants=(WireInvariant(14, "", 7), WireInvariant(21, "", 2), WireInvariant(15, "", 9))
    )
    assert held(wire=wire) == {"HW-01": (0, 2, 0), "HW-09": (0, 7, 0), "HW-10": (0, 0, 0)}


def test_a_violation_on_the_wire_is_one_of_these_too() -> None:
    wire = Wire("4.3.1 KRaft", violation=WireViolation("Frame 9", "is 2", "0 to 1", "14, high watermark", "rule"))
    assert {each: count[2] for each, count in held(wire=wire).items()} == {"HW-01": 0, "HW-09": 1, "HW-10": 1}


def test_counts_of_runs_add_up() -> None:
    assert Held(1, 2, ("a",)) + Held(3, 4, ("b",)) == Held(4, 6, ("a", "b"))
    assert Held(1, 2).observations == 3
