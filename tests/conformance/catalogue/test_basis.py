"""Is what counts as predicted the model's doing, and is everything else named and counted?"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import oracle
from conformance.catalogue.examination import Basis, Examination, basis_of
from conformance.catalogue.track_record import TRACK_RECORD
from conformance.registry import EXAMINATIONS, select
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from types import FrameType

    from oracle.rules.rule_set import RuleSet

MODEL = Path(oracle.__file__).parent
MODELLED = (
    MODEL / "replication",
    MODEL / "transactions",
    MODEL / "predicting",
    MODEL / "transitions.py",
    MODEL / "predict.py",
)
DOCUMENTED = {"TR-09", "RM-05/limits", "RM-06/open-transaction", "FE-04/offset", "RC-02"}
DOCUMENTED_MAX = 6
LINES = [
    *((version, MetadataMode.ZOOKEEPER) for version in ("0.10.2.2", "2.1.1", "3.9.2")),
    ("4.3.1", MetadataMode.KRAFT),
]


def lines_of(entry: Examination) -> list[RuleSet]:
    lines = [line for line in LINES if entry.where.reason_not_to_run(*line) is None]
    return [rules_for(*line) for line in lines]


class Asked(BaseException):
    """The prediction takes a step of the model: that is enough to know."""


@functools.cache
def is_of_model(filename: str) -> bool:
    file = Path(filename)
    return any(file == part or part in file.parents for part in MODELLED)


def asks_model(entry: Examination, rules: RuleSet) -> bool:
    """Return whether a prediction takes a step of the model."""

    def note(frame: FrameType, _event: str, _argument: object) -> None:
        if is_of_model(frame.f_code.co_filename):
            raise Asked

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        entry.subject.predict(rules)
    except Asked:
        return True
    finally:
        sys.setprofile(before)
    return False


@pytest.mark.parametrize("entry", EXAMINATIONS, ids=lambda entry: entry.name)
def test_what_is_predicted_is_asked_of_the_model_and_nothing_else_is(entry: Examination) -> None:
    lines = lines_of(entry)
    assert lines
    assert {asks_model(entry, rules) for rules in lines} == {entry.basis is Basis.PREDICTED}


def test_few_are_documented_and_they_are_named() -> None:
    documented = {entry.name for entry in EXAMINATIONS if entry.basis is Basis.DOCUMENTED}
    assert documented == DOCUMENTED
    assert len(documented) <= DOCUMENTED_MAX


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_what_is_documented_is_the_same_on_every_release(name: str) -> None:
    (entry,) = select([name])
    assert isinstance(entry, Examination)
    first, *others = (entry.subject.predict(rules) for rules in lines_of(entry))
    assert all(other == first for other in others)


def test_no_row_of_the_track_record_is_documented_or_computed() -> None:
    bases = {basis_of(entry) for defect in TRACK_RECORD for entry in select([defect.scenario])}
    assert bases == {Basis.PREDICTED}
