"""Is the promise that is predicted the one that a run gets if its brokers do as predicted?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.commands.predicted_promise import promise_line
from conformance.judgement.promises import LOST_PROMISES, promise_kept
from conformance.record.prediction import frozen_form
from conformance.registry import SCENARIOS
from conformance.stages.predicting import predict_entry
from oracle.prediction import Divergence
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Fate, Label, MetadataMode, Offset
from tests.conformance.verdict_facts import facts
from tests.oracle.schedules import ONE, TWO

QUICK = {scenario.name: scenario for scenario in SCENARIOS if "quick" in scenario.profiles}
RELEASES = {"0.10.2.2": MetadataMode.ZOOKEEPER, "4.3.1": MetadataMode.KRAFT}


@pytest.mark.parametrize("kafka", RELEASES)
@pytest.mark.parametrize("name", QUICK)
def test_the_promise_of_a_prediction_is_that_of_its_run(name: str, kafka: str) -> None:
    prediction = predict_entry(QUICK[name], rules_for(kafka, RELEASES[kafka])).prediction
    if prediction is None:
        return
    numbers = frozen_form(prediction.as_json())
    harmed = [r.label for r in numbers.records if r.fate == "lost" or r.promise in LOST_PROMISES]
    classes = {"lost": len(harmed), "diverged": len(numbers.diverged)}
    run = facts(*numbers.records, lost=tuple(harmed), classes=classes, predicted=classes)

    kept, _ = promise_kept(replace(run, prediction=numbers))
    line = promise_line(prediction)
    assert line.startswith(f"promise: {kept.value}; ")
    assert all(label in line for label in harmed)


def test_what_is_lost_is_named_with_its_reason() -> None:
    broken = predict_entry(QUICK["TR-01"], rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)).prediction
    assert broken is not None
    assert promise_line(broken).startswith("promise: BROKEN_AS_PREDICTED; m1 lost: broker 2 had appended the record, ")

    kept = predict_entry(QUICK["TR-01"], rules_for("4.3.1", MetadataMode.KRAFT)).prediction
    assert kept is not None
    assert promise_line(kept) == "promise: KEPT; no committed record is lost"
    lost = replace(kept, records=(replace(kept.records[0], fate=Fate.LOST), *kept.records[1:]))
    assert promise_line(lost) == "promise: KEPT; m0 lost, about which nothing was promised"
    assert promise_line(replace(kept, records=())) == "promise: NO_PROMISE; no committed record is lost"
    apart = replace(kept, diverged=(Divergence(Offset(1), {ONE: Label("a"), TWO: Label("b")}),))
    assert promise_line(apart) == "promise: BROKEN_AS_PREDICTED; replicas differ at offset 1"
