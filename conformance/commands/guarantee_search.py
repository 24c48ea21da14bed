"""How is the guarantee table searched anew, and written? On several cores if asked to, a question at a time on each.

The answers do not depend on how many there are: a search reads nothing but its question.
"""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from oracle.brokers.answers import answer
from oracle.brokers.guarantee_table import build, distinct, encode
from oracle.brokers.questions import identity, question
from oracle.rules.by_version import rules_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from oracle.brokers.answers import SearchAnswer
    from oracle.brokers.guarantee_table import GuaranteeRow, GuaranteeTable
    from oracle.brokers.questions import GuaranteeCell, SearchQuestion
    from oracle.rules.rule_set import RuleSet
    from oracle.vocabulary import MetadataMode


def searched_table(
    releases: Sequence[RuleSet], max_states: Mapping[int, int], lanes: int, on_row: Callable[[GuaranteeRow], None]
) -> GuaranteeTable:
    """Search the table of some releases.

    Args:
        releases: oldest first.
        max_states: states after which a search gives up, by the number of replicas.
        lanes: how many searches run side by side.
        on_row: called with every row that is done.
    """
    with _searching(releases, max_states, lanes) as ask:
        return build(releases, max_states, ask, on_row)


@contextmanager
def _searching(
    releases: Sequence[RuleSet], max_states: Mapping[int, int], lanes: int
) -> Iterator[Callable[[SearchQuestion, int], SearchAnswer]]:
    """Give what answers the questions of some releases; with several lanes they are all under way from now on."""
    if lanes == 1:
        yield answer
        return
    with get_context("spawn").Pool(lanes, _leave_interrupts_to_the_parent) as pool:
        asked = {
            identity(question(rules, cell)): pool.apply_async(
                _answered, (rules.version, rules.metadata, cell, max_states[cell.replicas])
            )
            for rules, cell in distinct(releases)
        }
        yield lambda one, _max_states: asked[identity(one)].get()


def _answered(version: str, metadata: MetadataMode, cell: GuaranteeCell, max_states: int) -> SearchAnswer:
    return answer(question(rules_for(version, metadata), cell), max_states)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def table_text(table: GuaranteeTable) -> str:
    """Return the table as the kept file has it: one line for each schedule, and for each choice of settings."""
    document = encode(table)
    schedules = ",\n".join(f" {json.dumps(steps)}" for steps in document["schedules"])
    rows = ",\n".join(_row_text(row) for row in document["rows"])
    caps = json.dumps(document["max_states"])
    return f'{{"max_states": {caps},\n"schedules": [\n{schedules}\n],\n"rows": [\n{rows}\n]}}\n'


def _row_text(row: dict[str, Any]) -> str:
    lines = ",\n".join(f"  {json.dumps(settings)}: {json.dumps(found)}" for settings, found in row["cells"].items())
    return f' {{"releases": {json.dumps(row["releases"])}, "cells": {{\n{lines}}}}}'
