"""Is each decision of a prediction watched? What the settings promise, what their table asks, and what is told."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from oracle import predicting
from tests.oracle.mutants import predictions, promises
from tests.oracle.mutants.own_text import TextMutant, passes, put_in_place

pytestmark = pytest.mark.no_cover  # a search reaches much by chance; each branch has a test that names what it does

MODULES = {f"predicting.{path.stem}" for path in Path(predicting.__file__ or "").parent.glob("*.py")} - {
    "predicting.__init__"
}


@pytest.mark.parametrize("mutant", [*promises.MUTANTS, *predictions.MUTANTS], ids=lambda mutant: mutant.name)
def test_no_mutant_survives(mutant: TextMutant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert passes(mutant.killed_by), "the right module passes"
    module = importlib.import_module(f"oracle.{mutant.module}")
    put_in_place(module, mutant.right, mutant.wrong, monkeypatch)
    assert not passes(mutant.killed_by)


def test_every_module_of_a_prediction_has_a_mutant() -> None:
    assert {mutant.module for mutant in promises.MUTANTS} == {"guarantees", "brokers.questions", "brokers.answers"}
    assert {mutant.module for mutant in predictions.MUTANTS} == {*MODULES, "predict"}
