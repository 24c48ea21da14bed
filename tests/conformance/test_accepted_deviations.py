"""An accepted finding does not fail, unless more deviates than it names, nothing does any more, or it has expired."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from conformance.expectations import AcceptedFinding
from conformance.judgement.comparison import ComparedRow
from conformance.judgement.verdicts import judge, not_run
from conformance.record.reconciliation import DeviationSample
from conformance.record.run import read_run, update_run
from conformance.record.verdict import Conformance, PromiseKept, Verdict
from conformance.stages.judging import in_view_of
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import judged, read_json, read_lines, write_lines
from tests.conformance.verdict_facts import M0, facts

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.judgement.promises import Facts
    from conformance.record.directory import RunDirectory

CONFORMS, DEVIATES = Conformance.CONFORMS, Conformance.DEVIATES
ISR = ComparedRow("end: isr", [1, 2], [1], code="isr")
MOVED = DeviationSample("at offset 1", "at offset 2", anomaly="moved", label="m0")
DEVIATING = judge(facts(M0, rows=[ISR]))
CONFORMING = judge(facts(M0))
DAY = date(2027, 6, 30)
ENTRY = AcceptedFinding("TR-01", "4.3.1", None, "known", "KAFKA-1", DAY)


def test_a_listed_deviation_is_accepted_and_still_said() -> None:
    verdict = in_view_of(ENTRY, DEVIATING, DAY)

    assert (verdict.conformance, verdict.counted, verdict.accepted) == (DEVIATES, CONFORMS, "KAFKA-1: known")
    assert verdict.reason == f"accepted finding (KAFKA-1: known): {DEVIATING.reason}"
    assert verdict.findings == DEVIATING.findings


@pytest.mark.parametrize("entry", [ENTRY, replace(ENTRY, codes=("isr",))])
def test_a_listed_deviation_that_does_not_happen_any_more_fails(entry: AcceptedFinding) -> None:
    verdict = in_view_of(entry, CONFORMING, DAY)

    assert (verdict.conformance, verdict.counted, verdict.accepted) == (DEVIATES, DEVIATES, None)
    assert "conforms although listed as an accepted finding (KAFKA-1: known): remove the entry" in verdict.reason


def test_an_expired_entry_is_told_and_accepts_nothing() -> None:
    late = in_view_of(ENTRY, DEVIATING, DAY + timedelta(days=1))

    assert (late.conformance, late.counted, late.accepted) == (DEVIATES, DEVIATES, None)
    assert late.reason == f"accepted until 2027-06-30 and no longer (KAFKA-1: known); {DEVIATING.reason}"
    assert in_view_of(ENTRY, DEVIATING, DAY).counted is CONFORMS


def test_an_expired_entry_of_what_does_not_happen_any_more_fails_too() -> None:
    assert in_view_of(ENTRY, CONFORMING, DAY + timedelta(days=1)).counted is DEVIATES


@pytest.mark.parametrize("verdict", [DEVIATING, CONFORMING, not_run("no such point")])
def test_without_an_expectation_a_verdict_stands(verdict: Verdict) -> None:
    assert in_view_of(None, verdict, DAY) is verdict
    assert verdict.counted is verdict.conformance


@pytest.mark.parametrize(
    "verdict",
    [not_run("no such point"), judge(facts(counts=None)), judge(facts(M0, interruption=("INCONCLUSIVE", "unrest")))],
)
def test_an_expectation_says_nothing_of_a_run_that_says_nothing(verdict: Verdict) -> None:
    assert in_view_of(ENTRY, verdict, DAY) is verdict


@pytest.mark.parametrize("codes", [(), ("missing",)])
def test_an_unpredicted_loss_is_never_accepted(codes: tuple[str, ...]) -> None:
    verdict = Verdict(DEVIATES, PromiseKept.BROKEN, "m1 lost", codes=("missing",))
    assert in_view_of(replace(ENTRY, codes=codes), verdict, DAY) is verdict


@pytest.mark.parametrize(
    ("told", "codes"),
    [
        (facts(M0, rows=[ISR]), ("isr",)),
        (facts(M0, rows=[ISR, replace(ISR, code="leader")]), ("isr", "leader")),
        (facts(M0, rows=[ComparedRow("outcome of m0", "acknowledged", "refused", "outcome")]), ("outcome",)),
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
    verdict = in_view_of(replace(ENTRY, codes=named), DEVIATING, DAY)

    assert verdict.counted is (CONFORMS if beyond is None else DEVIATES)
    assert (verdict.accepted is None) is (beyond is not None)
    if beyond is not None:
        assert verdict.reason == f"not in what is accepted (KAFKA-1: known): {beyond}; {DEVIATING.reason}"


def test_one_deviation_beyond_the_entry_is_one_too_many() -> None:
    both = judge(facts(M0, rows=[ISR, replace(ISR, code="leader")]))

    assert in_view_of(replace(ENTRY, codes=("isr",)), both, DAY).counted is DEVIATES
    assert in_view_of(replace(ENTRY, codes=("isr", "leader")), both, DAY).counted is CONFORMS


def test_the_words_of_a_judged_run_are_those_that_an_entry_may_name(tmp_path: Path) -> None:
    run = deviating_run(tmp_path)
    verdict = judged(run)

    assert read_json(run, "verdict.json")["codes"] == list(verdict.codes) == ["every_run", "high_watermark"]
    assert in_view_of(replace(ENTRY, codes=("high_watermark", "every_run")), verdict, DAY).counted is CONFORMS


def deviating_run(folder: Path) -> RunDirectory:
    """Return a run in which one broker tells another high watermark than predicted."""
    run = write_ideal_run(folder)
    lines = read_lines(run, "observations.ndjson")
    next(line for line in lines if line["kind"] == "checkpoint")["replicas"]["1"]["high_watermark"] += 1
    write_lines(run, "observations.ndjson", lines)
    return run


def entry_about(run: RunDirectory, expires: date = DAY) -> AcceptedFinding:
    """Return an entry about a run, which gets a day and a name."""
    at = f"{DAY}T23:59:59+00:00"
    frozen = read_run(run).prediction
    assert frozen is not None
    about = update_run(run, scenario="TR-01", started=at, finished=at, prediction=replace(frozen, frozen_at=at))
    return replace(ENTRY, release=about.kafka, metadata=about.metadata, expires=expires)


def test_a_run_is_judged_in_view_of_what_the_user_accepts(tmp_path: Path) -> None:
    run = deviating_run(tmp_path)
    entry = entry_about(run)

    assert judged(run).counted is DEVIATES
    assert judged(run, [entry]).counted is CONFORMS
    assert read_json(run, "verdict.json")["accepted"] == "KAFKA-1: known"
    for other in (replace(entry, finding="TR-02"), replace(entry, release="4.9.9"), replace(entry, codes=("isr",))):
        assert judged(run, [other]).counted is DEVIATES


def test_a_finding_of_a_release_excuses_no_build_that_has_a_label(tmp_path: Path) -> None:
    run = deviating_run(tmp_path)
    entry = entry_about(run)
    update_run(run, label="fork", build="4.3.1-SNAPSHOT")

    assert judged(run, [entry]).counted is DEVIATES
    assert judged(run, [replace(entry, label="other")]).counted is DEVIATES
    assert judged(run, [replace(entry, label="fork")]).counted is CONFORMS


def test_a_run_of_the_day_after_is_not_accepted(tmp_path: Path) -> None:
    run = deviating_run(tmp_path)
    verdict = judged(run, [entry_about(run, DAY - timedelta(days=1))])

    assert verdict.counted is DEVIATES
    assert verdict.reason.startswith("accepted until 2027-06-29 and no longer (KAFKA-1: known); ")


def test_a_run_in_which_an_accepted_finding_does_not_happen_fails(tmp_path: Path) -> None:
    run = write_ideal_run(tmp_path)

    assert judged(run).counted is CONFORMS
    assert judged(run, [entry_about(run)]).counted is DEVIATES
