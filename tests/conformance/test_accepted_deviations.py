"""An accepted deviation does not fail, unless more deviates than it names, or nothing does any more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.expectations import AcceptedDeviation
from conformance.judgement.comparison import Row
from conformance.judgement.verdicts import judge, not_run
from conformance.record.reconciliation import DeviationSample
from conformance.record.verdict import Conformance, PromiseKept, Verdict
from conformance.stages.judging import in_view_of, judge_run
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import read_json, read_lines, write_lines
from tests.conformance.verdict_facts import M0, facts

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.judgement.facts import Facts

CONFORMS, DEVIATES = Conformance.CONFORMS, Conformance.DEVIATES
ISR = Row("end: isr", [1, 2], [1], code="isr")
MOVED = DeviationSample("at offset 1", "at offset 2", anomaly="moved", label="m0")
DEVIATING = judge(facts(M0, rows=[ISR]))
CONFORMING = judge(facts(M0))
ENTRY = AcceptedDeviation("TR-01", "known", "KAFKA-1")


def test_a_listed_deviation_is_accepted_and_still_said() -> None:
    verdict = in_view_of(ENTRY, DEVIATING)

    assert (verdict.conformance, verdict.counted, verdict.accepted) == (DEVIATES, CONFORMS, "KAFKA-1: known")
    assert verdict.reason == f"accepted deviation (KAFKA-1: known): {DEVIATING.reason}"
    assert verdict.findings == DEVIATING.findings


@pytest.mark.parametrize("entry", [ENTRY, replace(ENTRY, codes=("isr",))])
def test_a_listed_deviation_that_does_not_happen_any_more_fails(entry: AcceptedDeviation) -> None:
    verdict = in_view_of(entry, CONFORMING)

    assert (verdict.conformance, verdict.counted, verdict.accepted) == (DEVIATES, DEVIATES, None)
    assert "remove the entry from the expectations" in verdict.reason


@pytest.mark.parametrize("verdict", [DEVIATING, CONFORMING, not_run("no such point")])
def test_without_an_expectation_a_verdict_stands(verdict: Verdict) -> None:
    assert in_view_of(None, verdict) is verdict
    assert verdict.counted is verdict.conformance


@pytest.mark.parametrize(
    "verdict",
    [not_run("no such point"), judge(facts(counts=None)), judge(facts(M0, interruption=("INCONCLUSIVE", "unrest")))],
)
def test_an_expectation_says_nothing_of_a_run_that_says_nothing(verdict: Verdict) -> None:
    assert in_view_of(ENTRY, verdict) is verdict


@pytest.mark.parametrize("codes", [(), ("missing",)])
def test_an_unpredicted_loss_is_never_accepted(codes: tuple[str, ...]) -> None:
    verdict = Verdict(DEVIATES, PromiseKept.BROKEN, "m1 lost", codes=("missing",))
    assert in_view_of(replace(ENTRY, codes=codes), verdict) is verdict


@pytest.mark.parametrize(
    ("told", "codes"),
    [
        (facts(M0, rows=[ISR]), ("isr",)),
        (facts(M0, rows=[ISR, replace(ISR, code="leader")]), ("isr", "leader")),
        (facts(M0, rows=[Row("outcome of m0", "acknowledged", "refused", "outcome")]), ("outcome",)),
        (facts(M0, conflicts=["epochs fall"]), ("leader_epoch",)),
        (facts(M0, deviations=1, deviating=[MOVED]), ("moved",)),
        (facts(M0, deviations=9, deviating=[MOVED]), ("moved", "unsampled")),
        (facts(M0, interruption=("DEVIATES", "leader 2 never came")), ("awaited_state",)),
        (facts(M0, rows=[ISR], interruption=("HARNESS_ERROR", "no hold")), ("isr",)),
        (facts(M0), ()),
    ],
)
def test_a_verdict_names_what_deviates(told: Facts, codes: tuple[str, ...]) -> None:
    assert judge(told).codes == codes


@pytest.mark.parametrize(
    ("named", "beyond"), [(("isr",), None), (("elr", "isr"), None), (("elr",), "isr"), (("high_watermark",), "isr")]
)
def test_an_entry_with_codes_accepts_these_only(named: tuple[str, ...], beyond: str | None) -> None:
    verdict = in_view_of(replace(ENTRY, codes=named), DEVIATING)

    assert verdict.counted is (CONFORMS if beyond is None else DEVIATES)
    assert (verdict.accepted is None) is (beyond is not None)
    if beyond is not None:
        assert verdict.reason == f"not in what is accepted (KAFKA-1: known): {beyond}; {DEVIATING.reason}"


def test_one_deviation_beyond_the_entry_is_one_too_many() -> None:
    both = judge(facts(M0, rows=[ISR, replace(ISR, code="leader")]))

    assert in_view_of(replace(ENTRY, codes=("isr",)), both).counted is DEVIATES
    assert in_view_of(replace(ENTRY, codes=("isr", "leader")), both).counted is CONFORMS


def test_the_words_of_a_judged_run_are_those_that_an_entry_may_name(tmp_path: Path) -> None:
    run = write_ideal_run(tmp_path)
    lines = read_lines(run, "observations.ndjson")
    next(line for line in lines if line["kind"] == "checkpoint")["replicas"]["1"]["high_watermark"] += 1
    write_lines(run, "observations.ndjson", lines)
    verdict = judge_run(run)

    assert read_json(run, "verdict.json")["codes"] == list(verdict.codes) == ["every_run", "high_watermark"]
    assert in_view_of(replace(ENTRY, codes=("high_watermark", "every_run")), verdict).counted is CONFORMS
