"""Every conformance answer with every promise answer that can go with it, from facts alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from conformance.judgement.comparison import ComparedRow
from conformance.judgement.promises import Facts
from conformance.judgement.verdicts import exit_code, judge, not_run
from conformance.record.prediction import PredictedDivergence
from conformance.record.reconciliation import DeviationSample
from conformance.record.verdict import Conformance, Finding, PromiseKept
from tests.conformance.verdict_facts import AGREES, ALLOWED_LOSS, CUT, DIFFERS, LOST, M0, facts, record

CONFORMS, DEVIATES = Conformance.CONFORMS, Conformance.DEVIATES
INCONCLUSIVE, HARNESS_ERROR = Conformance.INCONCLUSIVE, Conformance.HARNESS_ERROR
KEPT, ALLOWED, AS_PREDICTED = PromiseKept.KEPT, PromiseKept.ALLOWED_BY_SETTINGS, PromiseKept.BROKEN_AS_PREDICTED
BROKEN, NO_PROMISE = PromiseKept.BROKEN, PromiseKept.NO_PROMISE


@pytest.mark.parametrize(
    ("told", "conformance", "promise", "reason"),
    [
        pytest.param(facts(M0), CONFORMS, KEPT, "1 numbers and 1 record as predicted", id="kept"),
        pytest.param(
            facts(M0, LOST, lost=("m1",)), CONFORMS, AS_PREDICTED, f"m1 lost: {CUT}", id="broken as predicted"
        ),
        pytest.param(facts(ALLOWED_LOSS, lost=("m2",)), CONFORMS, ALLOWED, f"m2 lost: {CUT}", id="allowed"),
        pytest.param(
            facts(LOST, ALLOWED_LOSS, lost=("m1", "m2")),
            CONFORMS,
            AS_PREDICTED,
            "m1 lost",
            id="broken outweighs allowed",
        ),
        pytest.param(facts(record("m0", acks=0)), CONFORMS, NO_PROMISE, "as predicted", id="acks=0 promises nothing"),
        pytest.param(
            facts(record("m0", "absent", "none", outcome="refused")),
            CONFORMS,
            NO_PROMISE,
            "",
            id="nothing acknowledged",
        ),
        pytest.param(
            facts(record("m0", "lost", "none", acks=0), lost=("m0",)), CONFORMS, NO_PROMISE, "", id="acks=0 lost"
        ),
        pytest.param(
            facts(record("m9", "lost", "none", acks=0), M0, lost=("m9",)), CONFORMS, KEPT, "", id="only acks=0 lost"
        ),
        pytest.param(
            facts(
                M0,
                classes={"diverged": 1},
                predicted={"diverged": 1},
                diverged=[PredictedDivergence(1, {1: "m1", 2: "x1"})],
            ),
            CONFORMS,
            AS_PREDICTED,
            "offset 1 holds m1 on broker 1, x1 on broker 2 (truncate-to-high-watermark)",
            id="diverged as predicted",
        ),
        pytest.param(facts(), CONFORMS, NO_PROMISE, "0 records", id="no record at all"),
        # The brokers deviate.
        pytest.param(
            facts(M0, rows=[DIFFERS]), DEVIATES, KEPT, "end: isr: predicted [1, 2], measured [1]", id="number"
        ),
        pytest.param(facts(M0, rows=[DIFFERS, DIFFERS]), DEVIATES, KEPT, "(and 1 more)", id="two numbers"),
        pytest.param(facts(M0, conflicts=["epoch 3 stands for 0 and 1"]), DEVIATES, KEPT, "epoch 3", id="epochs"),
        pytest.param(
            facts(
                LOST,
                deviations=1,
                deviating=[DeviationSample("not in the topic", "at offset 1", label="m1")],
            ),
            DEVIATES,
            KEPT,
            "m1: expected not in the topic, measured at offset 1",
            id="0.10.2 keeps a record that the model says it loses",
        ),
        pytest.param(
            facts(M0, LOST, lost=("m0", "m1"), deviations=1),
            DEVIATES,
            BROKEN,
            "lost (m0): not predicted",
            id="unpredicted loss",
        ),
        pytest.param(
            facts(M0, LOST, lost=("m0",), deviations=2),
            DEVIATES,
            BROKEN,
            "lost (m0): not predicted",
            id="as many lost as predicted, but another record",
        ),
        pytest.param(
            facts(LOST, ALLOWED_LOSS, lost=("m2",), deviations=1),
            DEVIATES,
            ALLOWED,
            "m2 lost",
            id="the record whose loss breaks the promise was kept",
        ),
        # The tester cannot say.
        pytest.param(
            facts(M0, interruption=("INCONCLUSIVE", "never at rest")),
            INCONCLUSIVE,
            KEPT,
            "never at rest",
            id="late unrest",
        ),
        pytest.param(facts(counts=None), HARNESS_ERROR, None, "the records were never reconciled", id="not reconciled"),
        pytest.param(
            facts(counts=None, interruption=("HARNESS_ERROR", "Spark died")),
            HARNESS_ERROR,
            None,
            "Spark died",
            id="harness",
        ),
        pytest.param(
            facts(counts=None, interruption=("INCONCLUSIVE", "never at rest")), INCONCLUSIVE, None, "never", id="unrest"
        ),
        pytest.param(
            facts(counts=None, interruption=("DEVIATES", "leader 2 never came")),
            DEVIATES,
            None,
            "leader 2",
            id="awaited",
        ),
        pytest.param(
            facts(counts=None, rows=[DIFFERS], interruption=("HARNESS_ERROR", "no hold")),
            DEVIATES,
            None,
            "end: isr: predicted [1, 2], measured [1]; ended early: no hold",
            id="a checkpoint that differs outweighs the failure that followed",
        ),
        pytest.param(
            facts(counts=None, rows=[DIFFERS], interruption=("INCONCLUSIVE", "unrest")),
            DEVIATES,
            None,
            "isr",
            id="unrest after",
        ),
    ],
)
def test_both_questions_are_answered(
    told: Facts, conformance: Conformance, promise: PromiseKept | None, reason: str
) -> None:
    verdict = judge(told)

    assert (verdict.conformance, verdict.promise) == (conformance, promise)
    assert reason in verdict.reason


@pytest.mark.parametrize("name", ["phantom", "resurrected", "duplicated", "reordered", "value_changed", "diverged"])
def test_an_anomaly_that_was_not_predicted_breaks_the_promise(name: str) -> None:
    verdict = judge(facts(M0, classes={name: 1}, deviations=1))

    assert verdict.promise is BROKEN
    assert f"{name}: not predicted" in verdict.reason


@pytest.mark.parametrize("name", ["kept", "absent", "moved"])
def test_what_harms_nobody_breaks_no_promise(name: str) -> None:
    assert judge(facts(M0, classes={name: 1})).promise is KEPT


def test_counts_that_do_not_add_up_are_a_harness_error_whatever_else_is_known() -> None:
    told = facts(M0, rows=[DIFFERS], interruption=("DEVIATES", "leader 2 never came"))
    assert told.counts is not None
    untrusted = replace(told.counts, identity_holds=False)
    verdict = judge(Facts(told.prediction, told.rows, counts=untrusted, interruption=told.interruption))

    assert (verdict.conformance, verdict.promise) == (HARNESS_ERROR, None)
    assert verdict.reason == ("the reconciliation's own counts do not add up: end: isr: predicted [1, 2], measured [1]")
    assert judge(Facts(told.prediction, [], counts=untrusted)).reason.endswith("do not add up")


def test_every_finding_says_its_kind_and_names_its_record() -> None:
    deviations = [
        DeviationSample("at offset 1", "not there", label="m1", record_id=8),
        DeviationSample("never attempted", "at offset 2", record_id=77),
        DeviationSample("nothing", "at offset 3"),
        DeviationSample("m1", "m2", kind="replica_log", label="m1", broker=2, offset=1),
    ]
    rows = [DIFFERS, AGREES, ComparedRow("outcome of m0", "acknowledged", "refused", "outcome")]
    verdict = judge(facts(M0, rows=rows, conflicts=["epochs fall"], deviations=6, deviating=deviations))

    assert verdict.findings == (
        Finding("checkpoint", "end: isr: predicted [1, 2], measured [1]"),
        Finding("outcome", "outcome of m0: predicted acknowledged, measured refused"),
        Finding("epoch", "epochs fall"),
        Finding("record", "m1: expected at offset 1, measured not there"),
        Finding("record", "record 77: expected never attempted, measured at offset 2"),
        Finding("record", "a foreign record: expected nothing, measured at offset 3"),
        Finding("replica_log", "log of broker 2, offset 1: expected m1, measured m2"),
        Finding("record", "2 more deviations"),
    )


def test_losses_are_those_that_were_measured() -> None:
    kept = judge(facts(LOST, deviations=1))
    both = judge(facts(M0, LOST, ALLOWED_LOSS, record("m9", "lost", "none", acks=0), lost=("m0", "m1", "m2", "m9")))

    assert kept.losses == ()
    assert [(loss.label, loss.promise) for loss in both.losses] == [
        ("m0", "broken"),
        ("m1", "broken"),
        ("m2", "allowed_by_settings"),
    ]
    assert both.losses[0].reason == "not predicted: it is below"
    assert both.losses[1].reason == CUT


def test_beyond_the_sample_the_prediction_names_what_was_lost() -> None:
    many = [record(f"m{i}", "lost", "broken") for i in range(30)]
    verdict = judge(facts(*many, lost=tuple(r.label for r in many[:20]), classes={"lost": 30}))

    assert (verdict.conformance, verdict.promise) == (CONFORMS, AS_PREDICTED)
    assert len(verdict.losses) == 30


def test_a_scenario_that_does_not_apply_was_not_run() -> None:
    verdict = not_run("0.10.2 has no such request")

    assert (verdict.conformance, verdict.promise) == (Conformance.NOT_RUN, None)
    assert verdict.reason == "0.10.2 has no such request"


CODES = {CONFORMS: 0, Conformance.NOT_RUN: 0, DEVIATES: 1, INCONCLUSIVE: 3, HARNESS_ERROR: 4}


@pytest.mark.parametrize("conformance", list(Conformance))
def test_each_answer_has_its_exit_code(conformance: Conformance) -> None:
    assert exit_code([(conformance, None)]) == CODES[conformance]


@pytest.mark.parametrize(("one", "other"), list(product(Conformance, Conformance)))
def test_a_deviation_outweighs_a_harness_error_outweighs_an_inconclusive_run(
    one: Conformance, other: Conformance
) -> None:
    order = [1, 4, 3, 0]
    expected = min(CODES[one], CODES[other], key=order.index)

    assert exit_code([(one, None), (other, None)]) == expected


@pytest.mark.parametrize("promise", [None, *PromiseKept])
def test_only_a_promise_broken_as_predicted_needs_asking_for(promise: PromiseKept | None) -> None:
    conforming = [(CONFORMS, promise)]

    assert exit_code(conforming) == 0
    assert exit_code(conforming, require_promise=True) == (1 if promise is AS_PREDICTED else 0)


def test_no_run_at_all_conforms() -> None:
    assert exit_code([]) == 0
