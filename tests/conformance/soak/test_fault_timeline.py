"""The same seed gives the same faults, anywhere; they are spaced, and each kind comes."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.soak_faults import FaultKind, FaultTimeline, PlannedFault, read_faults, write_faults
from conformance.soak.fault_timeline import HARMLESS, PROVOKING, SoakShape, drawn, lasts_s, stands_s

REPOSITORY = Path(__file__).parents[3]
SHAPE = SoakShape((1, 2, 3), partitions=12, replicas=3)
HOUR_S = 3600.0
FIRST_OF_SEED_7 = """\
    5.1 s  broker 2 is killed (SIGKILL), and started again 5.8 s later
   14.4 s  preferred leaders are elected for all partitions
   25.3 s  a fetch of a follower of partition 6 from its leader stands for 4.6 s (its answer)
   35.8 s  preferred leaders are elected for all partitions
   45.7 s  broker 2 stands still for 4.7 s
   55.8 s  a follower of partition 1 and its leader do not hear each other for 6.6 s (blackhole)
   64.8 s  broker 1 reaches no other node for 2.4 s
   75.6 s  broker 2 stands still for 4.3 s
   84.8 s  broker 1 is stopped (SIGTERM), and started again 2.6 s later
   95.0 s  broker 3 is stopped (SIGTERM), and started again 2.5 s later
  105.1 s  a fetch of a follower of partition 7 from its leader stands for 4.4 s (its answer)
  115.0 s  preferred leaders are elected for all partitions
"""
PRINTED = """
from conformance.soak.fault_timeline import SoakShape, drawn
print(*drawn({seed}, 120, SoakShape((1, 2, 3), 12, 3)).sentences(), sep="\\n")
"""


def printed(seed: int, hash_seed: str) -> str:
    environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(REPOSITORY)}
    program = [sys.executable, "-c", PRINTED.format(seed=seed)]
    return subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout


def test_the_same_seed_gives_the_same_timeline_in_any_process() -> None:
    assert printed(7, "1") == printed(7, "2") == FIRST_OF_SEED_7
    assert "\n".join(drawn(7, 120, SHAPE).sentences()) + "\n" == FIRST_OF_SEED_7


def test_another_seed_gives_another_timeline() -> None:
    assert drawn(7, HOUR_S, SHAPE).faults != drawn(8, HOUR_S, SHAPE).faults


@pytest.mark.parametrize("is_provoking", [False, True])
def test_each_kind_comes_and_no_other(is_provoking: bool) -> None:
    faults = drawn(1, 600, SHAPE, is_provoking=is_provoking).faults
    assert {one.kind for one in faults} == set(PROVOKING if is_provoking else HARMLESS)


@pytest.mark.parametrize("is_provoking", [False, True])
def test_a_fault_is_taken_back_before_the_next_is_due_and_each_is_mended_by_the_end(is_provoking: bool) -> None:
    faults = drawn(3, HOUR_S, SHAPE, every_s=10, is_provoking=is_provoking).faults
    assert len(faults) > 250
    for one, following in pairwise(faults):
        assert one.at_s + stands_s(one, SHAPE) <= following.at_s
    assert all(one.at_s + lasts_s(one, SHAPE) <= HOUR_S for one in faults)


@pytest.mark.parametrize("is_provoking", [False, True])
def test_a_minute_has_five_faults_or_a_roll(is_provoking: bool) -> None:
    for seed in range(100):
        faults = drawn(seed, 60, SHAPE, every_s=10, is_provoking=is_provoking).faults
        assert len(faults) >= 5 or FaultKind.ROLL in {one.kind for one in faults}
        assert all(one.at_s + lasts_s(one, SHAPE) <= 60 for one in faults)


def test_where_a_kind_does_not_fit_another_one_comes() -> None:
    shorter, longer = drawn(7, 60, SHAPE).faults, drawn(7, 120, SHAPE).faults
    assert [one.kind for one in longer[5:6]] == [FaultKind.CUT]
    assert [one.kind for one in shorter[5:]] == [FaultKind.ELECTION]


def test_a_longer_timeline_begins_as_the_shorter_one() -> None:
    short, long = drawn(5, 600, SHAPE).faults, drawn(5, HOUR_S, SHAPE).faults
    same = [one for one, other in zip(short, long, strict=False) if one == other]
    assert len(same) > len(short) - 5
    assert tuple(same) == long[: len(same)]


def test_what_is_drawn_is_about_brokers_and_partitions_that_are_there() -> None:
    faults = [one for seed in range(20) for one in drawn(seed, HOUR_S, SHAPE).faults]
    assert {one.broker for one in faults} == {None, 1, 2, 3}
    assert {one.partition for one in faults} == {None, *range(12)}


@pytest.mark.parametrize(
    ("shape", "absent"),
    [
        (SoakShape((1, 2, 3), 4, 2), {FaultKind.SECOND_LEADER, FaultKind.KILL_LEADERS}),
        (SoakShape((1,), 4, 1), {*PROVOKING, FaultKind.CUT, FaultKind.HOLD, FaultKind.ISOLATE} - {*HARMLESS}),
    ],
)
def test_what_has_no_room_is_not_drawn(shape: SoakShape, absent: set[FaultKind]) -> None:
    faults = [*drawn(2, HOUR_S, shape).faults, *drawn(2, HOUR_S, shape, is_provoking=True).faults]
    assert faults
    assert not absent.intersection(one.kind for one in faults)


@pytest.mark.parametrize("seed", range(5))
def test_a_short_soak_has_what_it_should_have(seed: int) -> None:
    assert drawn(seed, 25, SHAPE).faults[0].kind is FaultKind.KILL
    assert drawn(seed, 40, SHAPE, is_provoking=True).faults[0].kind is FaultKind.SECOND_LEADER


def test_too_short_a_soak_has_no_fault() -> None:
    assert drawn(1, 3, SHAPE).faults == ()


def test_faults_are_written_and_read(tmp_path: Path) -> None:
    run, timeline = RunDirectory(tmp_path), drawn(9, 300, SHAPE)
    write_faults(run, timeline)
    assert read_faults(run) == timeline


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "faults.json").write_text('{"faults": [{"at_s": 1, "kind": "explode"}]}')
    with pytest.raises(RunDirectoryError, match=r"faults\.json cannot be read: .*explode"):
        read_faults(RunDirectory(tmp_path))


@pytest.mark.parametrize("kind", FaultKind)
def test_every_kind_is_told_in_one_line(kind: FaultKind) -> None:
    (told,) = FaultTimeline((PlannedFault(1.0, kind, 2.0, broker=3),)).sentences()
    assert "\n" not in told
    assert "None" not in told.replace("partition None", "")
