"""Is a stall of the machine noted, and does it make a late time inconclusive, but nothing else?"""

from pathlib import Path

import pytest

from conformance.catalogue.questions import STALL_ALLOWANCE_MS, QuestionAnswer, Took, compare_answers, formula_ms
from conformance.judgement.verdicts import judge_answers
from conformance.record.answers import add_measured, write_predicted
from conformance.record.directory import RunDirectory
from conformance.record.run import Stall, read_run
from conformance.record.verdict import Conformance
from conformance.stalls import NOTED_MS, StallWatch, noting_stalls
from tests.conformance.run_files import change_run, read_json

LATE, ERRORS = "milliseconds until it leaves", "error codes"
MS = 1_000_000


BEGAN_NS = 60_000 * MS
WITHIN_NS = BEGAN_NS + 100 * MS


def run_with(
    tmp_path: Path, late_ms: int, *stalls_ms: int, errors: int = 0, stalled_ns: int = WITHIN_NS
) -> RunDirectory:
    """Have the run of an examination: a time that may be 3.0 to 4.5 s, and a number that must be 0."""
    run = RunDirectory.create(tmp_path, "stalled")
    change_run(run, stalls=[{"at_ns": stalled_ns, "for_ms": stall} for stall in stalls_ms])
    write_predicted(
        run,
        [answer.predicted for answer in (QuestionAnswer(LATE, formula_ms(3_000, 4_500)), QuestionAnswer(ERRORS, 0))],
    )
    add_measured(run, QuestionAnswer(LATE, Took(BEGAN_NS, BEGAN_NS + late_ms * MS)).measured)
    add_measured(run, QuestionAnswer(ERRORS, errors).measured)
    return run


@pytest.mark.parametrize(
    ("late_ms", "stalls", "errors", "verdict"),
    [
        (4_500 + STALL_ALLOWANCE_MS, (), 0, Conformance.CONFORMS),
        (4_501 + STALL_ALLOWANCE_MS, (), 0, Conformance.DEVIATES),
        (2_999, (), 0, Conformance.DEVIATES),
        (5_900, (STALL_ALLOWANCE_MS,), 0, Conformance.DEVIATES),
        (5_900, (1_200,), 0, Conformance.INCONCLUSIVE),
        (9_000, (1_200,), 0, Conformance.DEVIATES),
        (4_400, (1_200,), 0, Conformance.CONFORMS),
        (5_900, (1_200,), 1, Conformance.DEVIATES),
    ],
)
def test_only_a_stall_that_is_long_enough_explains_a_time_outside_its_range(
    late_ms: int, stalls: tuple[int, ...], errors: int, verdict: Conformance, tmp_path: Path
) -> None:
    run = run_with(tmp_path, late_ms, *stalls, errors=errors)
    judged = judge_answers(compare_answers(run, is_complete=True), None)
    assert judged.conformance is verdict
    assert ("the machine stood still for 1200 ms" in judged.reason) is (verdict is Conformance.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("stalled_ns", "verdict"),
    [
        (BEGAN_NS - (1_200 + NOTED_MS) * MS - 1, Conformance.DEVIATES),
        (BEGAN_NS - (1_200 + NOTED_MS) * MS, Conformance.INCONCLUSIVE),
        (BEGAN_NS + 5_900 * MS, Conformance.INCONCLUSIVE),
        (BEGAN_NS + 5_900 * MS + 1, Conformance.DEVIATES),
    ],
)
def test_a_stall_before_or_after_a_time_explains_nothing(stalled_ns: int, verdict: Conformance, tmp_path: Path) -> None:
    run = run_with(tmp_path, 5_900, 1_200, stalled_ns=stalled_ns)
    assert judge_answers(compare_answers(run, is_complete=True), None).conformance is verdict


def test_a_time_without_begin_and_end_has_no_excuse(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "older")
    change_run(run, stalls=[{"at_ns": WITHIN_NS, "for_ms": 1_200}])
    write_predicted(run, [answer.predicted for answer in (QuestionAnswer(LATE, formula_ms(3_000, 4_500)),)])
    add_measured(run, QuestionAnswer(LATE, 5_900).measured)
    assert judge_answers(compare_answers(run, is_complete=True), None).conformance is Conformance.DEVIATES


def test_stalls_of_a_run_have_begin_and_length(tmp_path: Path) -> None:
    assert read_run(run_with(tmp_path, 3_000, 700)).stalls == (Stall(WITHIN_NS, 700),)


def test_the_allowance_is_half_a_second_at_most() -> None:
    assert STALL_ALLOWANCE_MS <= 500


def test_a_gap_between_two_turns_is_noted_with_its_begin() -> None:
    times = iter([0, 50 * MS, 60 * MS, (60 + NOTED_MS) * MS, (61 + NOTED_MS) * MS])
    watch = StallWatch(lambda: next(times))
    for _ in range(4):
        watch.turn()
    assert watch.stalls == [Stall(60 * MS, NOTED_MS)]


def test_a_run_names_its_stalls(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "quiet")
    change_run(run, harness_failure=None)
    with noting_stalls(run):
        pass
    assert "stalls" in read_json(run, "run.json")
    assert all(stall.for_ms >= NOTED_MS for stall in read_run(run).stalls)
