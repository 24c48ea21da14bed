"""Which examinations of the catalogue are scripts for puppets, and what do they predict act by act?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from conformance.catalogue.questions import agrees
from conformance.puppet_scripts.script import PuppetScript
from conformance.record.answers import Between
from conformance.registry import EXAMINATIONS
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.catalogue.examination import Examination
    from conformance.catalogue.questions import Expected, QuestionAnswer

WITH_SCRIPTS = tuple(one for one in EXAMINATIONS if isinstance(one.subject, PuppetScript))
OLD = ("0.10.2.2", "0.11.0.3", "1.0.2", "1.1.0", "1.1.1", "2.0.1", "2.1.1")
LADDER = (*OLD, "2.3.1", "2.4.1", "2.6.3", "2.7.2", "2.8.2", "3.2.3", "3.4.1", "3.6.2", "3.9.2")


def script_of(examination: Examination) -> PuppetScript:
    """Return the script of an examination that has one."""
    assert isinstance(examination.subject, PuppetScript)
    return examination.subject


def disagreeing(
    predicted: Iterable[QuestionAnswer], measured: Iterable[QuestionAnswer]
) -> list[tuple[str, Expected, Expected]]:
    """Return what was asked, predicted and measured wherever the two differ; a missing answer differs."""
    given = {answer.what: answer.value for answer in measured}
    return [
        (asked.what, asked.value, given.get(asked.what, "nothing"))
        for asked in predicted
        if not _agrees(asked.value, given.get(asked.what, "nothing"))
    ]


def _agrees(expected: Expected, measured: Expected) -> bool:
    assert not isinstance(measured, Between)
    return agrees(expected, measured)


@cache
def facts_of(examination: Examination, version: str, act: int) -> Mapping[str, Expected]:
    """Return what is predicted of one act, counted from 1, by the name of the fact."""
    answers = examination.subject.predict(rules_for(version, MetadataMode.ZOOKEEPER))
    return {
        answer.what.rsplit(": ", maxsplit=1)[1]: answer.value
        for answer in answers
        if answer.what.startswith(f"{act}. ")
    }
