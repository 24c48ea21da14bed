"""What does the model say about an entry of the catalogue, on either side of each rule that these rows differ by?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.registry import CATALOGUE
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.catalogue.questions import Expected
    from oracle.prediction import Moment, Prediction
    from oracle.rules.rule_set import RuleSet

Line = tuple[str, MetadataMode]


def zookeeper(version: str) -> Line:
    return version, MetadataMode.ZOOKEEPER


def kraft(version: str) -> Line:
    return version, MetadataMode.KRAFT


LINES = (
    *map(zookeeper, ("0.10.2.2", "1.1.1", "2.0.1", "2.1.1", "2.7.2", "2.8.2")),
    *map(kraft, ("3.6.2", "3.7.2", "4.0.1", "4.3.1")),
)


def scenario(name: str) -> Scenario:
    return next(entry for entry in CATALOGUE if isinstance(entry, Scenario) and entry.name == name)


def runs_on(name: str) -> tuple[Line, ...]:
    return tuple(line for line in LINES if scenario(name).where.reason_not_to_run(*line) is None)


def rules(line: Line) -> RuleSet:
    return rules_for(*line)


@cache
def predicted(name: str, line: Line) -> Prediction:
    return predict(scenario(name).schedule, rules(line))


def at(name: str, line: Line, checkpoint: str) -> Moment:
    return next(moment for moment in predicted(name, line).checkpoints if moment.name == checkpoint)


def fates(name: str, line: Line) -> dict[str, str]:
    return {record.label: record.fate.value for record in predicted(name, line).records}


def outcomes(name: str, line: Line) -> dict[str, str]:
    """Return each record's outcome, by its error where it has one."""
    return {record.label: record.error or record.outcome.value for record in predicted(name, line).records}


def high_watermarks(name: str, line: Line, broker: int = 1) -> list[int]:
    """Return a broker's high watermark at each checkpoint."""
    return [
        int(numbers.high_watermark)
        for moment in predicted(name, line).checkpoints
        for replica, numbers in moment.replicas.items()
        if replica == broker
    ]


def answer(name: str, line: Line, what: str) -> Expected:
    """Return the answer predicted to the question that contains some words."""
    (question,) = (question for question in scenario(name).questions if what in question.what)
    return question.predict(rules(line), {})


def where_it_holds(name: str, holds: Callable[[Line], bool]) -> set[str]:
    """Return the lines on which something holds, as texts such as ``3.9.2 kraft``."""
    return {f"{version} {mode.value}" for version, mode in runs_on(name) if holds((version, mode))}
