"""What does the check of the wire trace make of a verdict, from facts alone?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.judgement.verdicts import judge
from conformance.record.trace_check import TraceResult, TraceViolation
from conformance.record.verdict import Conformance, Finding, PromiseKept
from tests.conformance.verdict_facts import DIFFERS, M0, TRACED, facts

DEVIATES, HARNESS_ERROR, KEPT = Conformance.DEVIATES, Conformance.HARNESS_ERROR, PromiseKept.KEPT
VIOLATION = TraceViolation(14, "high_watermark_of_leader", 9, 1.5, "it falls to 3", "4 or more", "a-rule")


def test_a_trace_that_breaks_an_invariant_deviates() -> None:
    verdict = judge(facts(M0, trace=replace(TRACED, violation=VIOLATION)))
    broken = "frame 9: it falls to 3; allowed: 4 or more (wire invariant 14, high watermark of leader; a-rule)"

    assert (verdict.conformance, verdict.promise) == (DEVIATES, KEPT)
    assert verdict.findings == (Finding("trace", broken),)
    assert verdict.codes == ("trace",)


@pytest.mark.parametrize(
    ("trace", "why"),
    [(None, "nobody did"), (replace(TRACED, why_not="wire.ndjson is cut short"), "wire.ndjson is cut short")],
)
def test_a_trace_that_was_not_checked_is_no_conforming_run(trace: TraceResult | None, why: str) -> None:
    verdict = judge(facts(M0, trace=trace))

    assert (verdict.conformance, verdict.promise) == (HARNESS_ERROR, None)
    assert verdict.reason == f"the wire trace was not checked: {why}"


def test_what_deviates_besides_outweighs_a_trace_that_was_not_checked() -> None:
    assert judge(facts(M0, rows=[DIFFERS], trace=None)).conformance is DEVIATES


def test_a_violation_outweighs_how_a_run_ended() -> None:
    told = facts(M0, counts=None, interruption=("HARNESS_ERROR", "no hold"), trace=replace(TRACED, violation=VIOLATION))
    verdict = judge(told)

    assert verdict.conformance is DEVIATES
    assert verdict.reason.endswith("ended early: no hold")


def test_a_conforming_run_says_how_many_frames_the_model_was_shown() -> None:
    assert judge(facts(M0)).reason == "1 numbers and 1 record as predicted, 7 frames as allowed"
