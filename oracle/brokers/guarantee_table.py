"""What can each release lose, with which settings? Every cell answered by the explorer, each question once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from oracle.brokers.answers import SearchAnswer, SearchResult, answer
from oracle.brokers.questions import Faults, GuaranteeCell, cells, identity, question
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from oracle.brokers.questions import SearchQuestion
    from oracle.rules.rule_set import RuleSet

MAX_STATES = {2: 8000, 3: 2500}
"""Distinct states after which a search of the table gives up, by the number of replicas."""


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


def encode(table: GuaranteeTable) -> dict[str, Any]:
    """Return the table as a JSON value; what acks=0 gives is left out, since nothing is acknowledged."""
    rows = [{"releases": list(row.releases), "cells": _encoded(row.answers)} for row in table.rows]
    return {"max_states": {str(replicas): cap for replicas, cap in table.max_states.items()}, "rows": rows}


def _encoded(answers: Mapping[GuaranteeCell, SearchAnswer]) -> dict[str, dict[str, Any]]:
    settings: dict[str, dict[str, Any]] = {}
    for cell, found in answers.items():
        if found.lost is not None:
            settings.setdefault(cell.settings, {})[cell.faults.value] = {
                name: {key: value for key, value in finding.items() if value is not None}
                for name, finding in asdict(found).items()
                if finding is not None
            }
    return settings


def decode(document: Mapping[str, Any]) -> GuaranteeTable:
    """Return the table that ``encode`` has written."""
    rows = tuple(GuaranteeRow(tuple(row["releases"]), _decoded(row["cells"])) for row in document["rows"])
    return GuaranteeTable({int(replicas): cap for replicas, cap in document["max_states"].items()}, rows)


def _decoded(settings: Mapping[str, Mapping[str, Any]]) -> dict[GuaranteeCell, SearchAnswer]:
    return {cell: _answer(cell, settings.get(cell.settings, {})) for cell in cells()}


def _answer(cell: GuaranteeCell, columns: Mapping[str, Any]) -> SearchAnswer:
    if cell.acks is Acks.NONE:
        return SearchAnswer(None)
    findings = {name: SearchResult(**finding) for name, finding in columns[cell.faults.value].items()}
    return SearchAnswer(findings["lost"], findings.get("broken"))


def columns() -> tuple[str, ...]:
    """Return the headings of the columns."""
    return tuple(faults.value for faults in Faults)
