"""What can each release lose, with which settings? Every cell answered by the explorer, each question once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import product
from typing import TYPE_CHECKING, Any

from oracle.brokers.answers import SearchAnswer, SearchResult, answer
from oracle.brokers.questions import SEARCHED, Faults, GuaranteeCell, cells, identity, question
from oracle.schedule_format import decode_step, encode_step
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from oracle.brokers.questions import SearchQuestion
    from oracle.rules.rule_set import RuleSet
    from oracle.steps.step import Step

MAX_STATES = dict.fromkeys(SEARCHED, 500_000)
"""Distinct states after which a search of the table gives up, by the number of replicas: more than any of it has."""


@dataclass(frozen=True, slots=True)
class GuaranteeRow:
    """The answers for the releases that share a rule set.

    Attributes:
        releases: such as ``3.9.2 kraft``.
    """

    releases: tuple[str, ...]
    answers: Mapping[GuaranteeCell, SearchAnswer]


@dataclass(frozen=True, slots=True)
class GuaranteeTable:
    """The whole table, with the caps that its searches had by the number of replicas."""

    max_states: Mapping[int, int]
    rows: tuple[GuaranteeRow, ...]

    def row_of(self, release: str) -> GuaranteeRow | None:
        """Return the row of a release such as ``3.9.2 kraft``, or None."""
        return next((row for row in self.rows if release in row.releases), None)


def release_name(rules: RuleSet) -> str:
    """Return how the table names a release."""
    return f"{rules.version} {rules.metadata.value}"


def build(
    releases: Iterable[RuleSet],
    max_states: Mapping[int, int] = MAX_STATES,
    ask: Callable[[SearchQuestion, int], SearchAnswer] = answer,
    on_row: Callable[[GuaranteeRow], None] = lambda _row: None,
) -> GuaranteeTable:
    """Answer every cell of the table.

    Args:
        releases: the rule sets to ask about, oldest first.
        max_states: distinct states after which a search gives up, by the number of replicas.
        ask: answers one question.
        on_row: called with every row that is done.
    """
    alike: dict[Hashable, list[RuleSet]] = {}
    for rules in releases:
        alike.setdefault(questions(rules), []).append(rules)
    known: dict[Hashable, SearchAnswer] = {}
    rows = []
    for group in alike.values():
        row = GuaranteeRow(tuple(map(release_name, group)), _answers(group[0], known, max_states, ask))
        rows.append(row)
        on_row(row)
    return GuaranteeTable(max_states, tuple(rows))


def questions(rules: RuleSet) -> Hashable:
    """Return what a release asks, cell by cell: equal for two releases that share a row."""
    return tuple(identity(question(rules, cell)) for cell in cells())


def _answers(
    rules: RuleSet,
    known: dict[Hashable, SearchAnswer],
    max_states: Mapping[int, int],
    ask: Callable[[SearchQuestion, int], SearchAnswer],
) -> dict[GuaranteeCell, SearchAnswer]:
    answers = {}
    for cell in cells():
        asked = question(rules, cell)
        mark = identity(asked)
        if mark not in known:
            known[mark] = ask(asked, max_states[cell.replicas])
        answers[cell] = known[mark]
    return answers


def distinct(releases: Iterable[RuleSet]) -> Iterator[tuple[RuleSet, GuaranteeCell]]:
    """Yield a release and a cell for each question that ``build`` asks, in the order in which it asks."""
    known = set()
    for rules, cell in product(releases, cells()):
        mark = identity(question(rules, cell))
        if mark not in known:
            known.add(mark)
            yield rules, cell


def encode(table: GuaranteeTable) -> dict[str, Any]:
    """Return the table as a JSON value; what acks=0 gives is left out, since nothing is acknowledged.

    Each schedule stands there once: a finding has its number.
    """
    numbers: dict[tuple[Step, ...], int] = {}
    rows = [{"releases": list(row.releases), "cells": _encoded(row.answers, numbers)} for row in table.rows]
    return {
        "max_states": {str(replicas): cap for replicas, cap in table.max_states.items()},
        "schedules": [[encode_step(step) for step in steps] for steps in numbers],
        "rows": rows,
    }


def _encoded(
    answers: Mapping[GuaranteeCell, SearchAnswer], numbers: dict[tuple[Step, ...], int]
) -> dict[str, dict[str, Any]]:
    settings: dict[str, dict[str, Any]] = {}
    for cell, found in answers.items():
        if found.lost is not None:
            results = {name: result for name, result in (("lost", found.lost), ("broken", found.broken)) if result}
            encoded = {name: _encoded_result(result, numbers) for name, result in results.items()}
            settings.setdefault(cell.settings, {})[cell.faults.value] = encoded
    return settings


def _encoded_result(result: SearchResult, numbers: dict[tuple[Step, ...], int]) -> dict[str, Any]:
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    if result.schedule is not None:
        values["schedule"] = numbers.setdefault(result.schedule, len(numbers))
    return {name: value for name, value in values.items() if value is not None}


def decode(document: Mapping[str, Any]) -> GuaranteeTable:
    """Return the table that ``encode`` has written."""
    schedules = [tuple(decode_step(index, step) for index, step in enumerate(steps)) for steps in document["schedules"]]
    rows = tuple(GuaranteeRow(tuple(row["releases"]), _decoded(row["cells"], schedules)) for row in document["rows"])
    return GuaranteeTable({int(replicas): cap for replicas, cap in document["max_states"].items()}, rows)


def _decoded(
    settings: Mapping[str, Mapping[str, Any]], schedules: Sequence[tuple[Step, ...]]
) -> dict[GuaranteeCell, SearchAnswer]:
    return {cell: _answer(cell, settings.get(cell.settings, {}), schedules) for cell in cells()}


def _answer(cell: GuaranteeCell, columns: Mapping[str, Any], schedules: Sequence[tuple[Step, ...]]) -> SearchAnswer:
    if cell.acks is Acks.NONE:
        return SearchAnswer(None)
    findings = {name: _result(finding, schedules) for name, finding in columns[cell.faults.value].items()}
    return SearchAnswer(findings["lost"], findings.get("broken"))


def _result(finding: Mapping[str, Any], schedules: Sequence[tuple[Step, ...]]) -> SearchResult:
    number = finding.get("schedule")
    return SearchResult(**{**finding, "schedule": None if number is None else schedules[number]})


def columns() -> tuple[str, ...]:
    """Return the headings of the columns."""
    return tuple(faults.value for faults in Faults)
