"""Do HW-01, HW-09 and HW-10 bite where probes or frames show that they do not hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from conformance.judgement.every_run import held_in_run
from conformance.judgement.verdicts import judge
from conformance.record.observations import MeasuredCheckpoint, MeasuredNumbers
from conformance.record.trace_check import InvariantCount, TraceResult, TraceViolation
from conformance.record.verdict import Conformance, HeldInRun
from tests.conformance.verdict_facts import M0, facts
from tests.reports.requirement_table.small_runs import numbers, seen

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMS = {"numbers": MeasuredNumbers, "checkpoint": MeasuredCheckpoint}


def counted(observations: Sequence[dict[str, Any]], trace: TraceResult | None = None) -> dict[str, HeldInRun]:
    seen = [msgspec.json.decode(msgspec.json.encode(one), type=FORMS[one["kind"]]) for one in observations]
    return {each.requirement: each for each in held_in_run(seen, trace)}


def held(*observations: dict[str, Any], trace: TraceResult | None = None) -> dict[str, tuple[int, int, int]]:
    return {each: (h.probes, h.frames, len(h.broken)) for each, h in counted(observations, trace).items()}


def pair(
    leader: tuple[int, int], follower: tuple[int, int], *, epoch: int = 0, remote: dict[str, Any] | None = None
) -> dict[str, Any]:
    return seen({"1": numbers(*leader), "2": numbers(*follower)}, epoch=epoch, remote=remote)


def test_each_replica_that_runs_is_an_observation() -> None:
    down = {"1": numbers(2, 2), "2": numbers(1, 2, alive=False)}
    assert held(seen(down))["HW-01"] == (1, 0, 0)


def test_a_high_watermark_beyond_the_end_is_said() -> None:
    broken = counted([seen({"1": numbers(2, 3)})])["HW-01"].broken
    assert broken == ("after step 1: broker 1 has high watermark 3 and log end offset 2",)


def test_what_a_late_fetch_told_is_no_news_of_its_follower() -> None:
    before = pair((2, 1), (1, 1), remote={"2": 1})
    late = {**pair((2, 1), (1, 1), remote={"2": 2}), "step": 3}
    seen = [msgspec.json.decode(msgspec.json.encode(one), type=FORMS[one["kind"]]) for one in (before, late)]

    def broken(late: dict[int, int] | None) -> int:
        return next(len(one.broken) for one in held_in_run(seen, None, late) if one.requirement == "HW-10")

    assert [broken(None), broken({3: 3}), broken({3: 2})] == [1, 1, 0]


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
    sound = pair((3, 2), (3, 2), remote={"2": 2}) | {"kind": "checkpoint", "name": "end", "settled": True}
    doctored = pair((3, 2), (3, 2), remote={"2": 1}) | {"kind": "checkpoint", "name": "end", "settled": True}
    assert held(sound)["HW-10"] == (1, 0, 0)
    assert counted([doctored])["HW-10"].broken == ("checkpoint end: leader 1 and follower 2 stand at (3, 3, 1, 2, 2)",)


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
    invariants = tuple(InvariantCount(number, "", "", times) for number, times in ((14, 7), (21, 2), (15, 9)))
    trace = TraceResult("4.3.1 kraft", invariants=invariants)
    assert held(trace=trace) == {"HW-01": (0, 2, 0), "HW-09": (0, 7, 0), "HW-10": (0, 0, 0)}


def test_a_violation_on_the_wire_is_one_of_these_too() -> None:
    violation = TraceViolation(14, "high_watermark_of_leader", 9, 1.0, "is 2", "0 to 1", "rule")
    trace = TraceResult("4.3.1 kraft", violation=violation)
    assert {each: count[2] for each, count in held(trace=trace).items()} == {"HW-01": 0, "HW-09": 1, "HW-10": 1}


def test_counts_of_runs_add_up() -> None:
    one, other = HeldInRun("HW-01", 1, 2, ("a",)), HeldInRun("HW-01", 3, 4, ("b",))
    assert one + other == HeldInRun("HW-01", 4, 6, ("a", "b"))
    assert one.observations == 3


def test_what_does_not_hold_at_a_probe_deviates_and_what_a_frame_shows_is_found_once() -> None:
    broken = HeldInRun("HW-09", 3, 0, ("after step 2: the high watermark of leader 1 fell from 2 to 1",))
    verdict = judge(facts(M0, every_run=(broken,)))
    assert (verdict.conformance, verdict.codes) == (Conformance.DEVIATES, ("every_run",))
    assert verdict.reason.startswith("HW-09: after step 2: the high watermark of leader 1 fell from 2 to 1")
    assert verdict.every_run == (broken,)

    violation = TraceViolation(14, "high_watermark_of_leader", 9, 1.0, "is 2", "0 to 1", "rule")
    trace = TraceResult("4.3.1 kraft", violation=violation)
    seen = judge(facts(M0, trace=trace, every_run=held_in_run([], trace)))
    assert [finding.kind for finding in seen.findings] == ["trace"]
