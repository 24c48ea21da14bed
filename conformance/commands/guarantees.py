"""``guarantees``: can an acknowledged record be lost, per release and settings? Answered by the explorer.

Prints the table that is kept with the model, searches it anew, or writes the schedule of one cell.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from conformance.commands.choosing import Choice, rules_of
from conformance.schedule_text import schedule_text
from fault_injection.releases import RELEASES, UsageError, find_release
from oracle.brokers.guarantee_table import (
    MAX_STATES,
    GuaranteeTable,
    build,
    columns,
    decode,
    encode,
    questions,
    release_name,
)
from oracle.brokers.questions import cells, question
from oracle.brokers.showing import shown
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.console import Console
    from oracle.brokers.answers import Answer
    from oracle.brokers.guarantee_table import Row
    from oracle.brokers.questions import Cell
    from oracle.rules.rule_set import RuleSet

FILE = files("oracle.brokers") / "guarantee_table.json"
PATCHES = ("1.0.0", "1.1.0", "2.0.0", "2.1.0", "2.4.0", "2.8.0", "3.4.0", "3.9.0", "4.0.0")
"""Patch releases before which, or after which, a rule changed inside their minor."""


PATCH_DOTS = 2
"""A version with as many dots names a patch release."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What of the table to print or to search.

    Attributes:
        releases: such as ``3.9.2``; empty means every release of the table.
        metadata: ``zookeeper`` or ``kraft``; None takes both.
        max_states: cap of each search; None takes the table's own.
    """

    releases: tuple[str, ...] = ()
    metadata: str | None = None
    is_markdown: bool = False
    is_search: bool = False
    max_states: int | None = None
    out: Path | None = None


@dataclass(frozen=True, slots=True)
class CellOptions:
    """Which cell's schedule to write, and where."""

    release: str
    metadata: str | None
    cell: Cell
    out: Path


def known_releases() -> Iterator[RuleSet]:
    """Return the rules of every release of the table, the oldest first."""
    versions = sorted({*(release.version for release in RELEASES), *PATCHES}, key=_numbers)
    for mode in MetadataMode:
        for version in versions:
            if _has_mode(version, mode):
                yield rules_for(version, mode)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _has_mode(version: str, mode: MetadataMode) -> bool:
    numbers = _numbers(version)
    return numbers < (4, 0) if mode is MetadataMode.ZOOKEEPER else numbers >= (3, 3)


def show_table(console: Console, options: TableOptions) -> int:
    """Print the table, kept or searched anew; write it if a file is named."""
    table = _searched(console, options) if options.is_search else _kept(options)
    if options.out is not None:
        options.out.write_text(table_text(table), encoding="utf-8")
        console.answer(f"wrote {options.out}")
    elif console.as_json:
        console.answer_json(encode(table))
    else:
        for row in table.rows:
            console.answer("\n".join(_markdown(row) if options.is_markdown else _lines(row)))
        console.answer(_legend(table))
    return 0


def table_text(table: GuaranteeTable) -> str:
    """Return the table as the kept file has it: one line for each choice of settings."""
    document = encode(table)
    rows = ",\n".join(_row_text(row) for row in document["rows"])
    return f'{{"max_states": {json.dumps(document["max_states"])},\n"rows": [\n{rows}\n]}}\n'


def _row_text(row: dict[str, Any]) -> str:
    lines = ",\n".join(f"  {json.dumps(settings)}: {json.dumps(found)}" for settings, found in row["cells"].items())
    return f' {{"releases": {json.dumps(row["releases"])}, "cells": {{\n{lines}}}}}'


def kept_table() -> GuaranteeTable:
    """Return the table that is kept with the model."""
    return decode(json.loads(FILE.read_text(encoding="utf-8")))


def _kept(options: TableOptions) -> GuaranteeTable:
    table = kept_table()
    named = tuple(row for row in table.rows if any(_is_chosen(name, options) for name in row.releases))
    for unnamed in () if named else options.releases:
        find_release(unnamed)  # a version that no release has is said to be none
    rows = named or tuple(row for row in table.rows if _has_rules_of(row, options))
    if not rows:
        raise UsageError("the table has no such release; `kafka-conformance guarantees --search` asks the explorer")
    return replace(table, rows=rows)


def _is_chosen(release: str, options: TableOptions) -> bool:
    version, mode = release.split()
    is_named = not options.releases or any(f"{version}.".startswith(f"{name}.") for name in options.releases)
    return is_named and options.metadata in (None, mode)


def _has_rules_of(row: Row, options: TableOptions) -> bool:
    """Tell whether a patch release that the table does not name has the rules of a row."""
    version, mode = row.releases[0].split()
    alike = questions(rules_for(version, MetadataMode(mode)))
    patches = [
        named for named in options.releases if named.count(".") >= PATCH_DOTS and _has_mode(named, MetadataMode(mode))
    ]
    wanted = options.metadata in (None, mode)
    return wanted and any(questions(rules_for(named, MetadataMode(mode))) == alike for named in patches)


def _searched(console: Console, options: TableOptions) -> GuaranteeTable:
    chosen = [rules for rules in known_releases() if _is_chosen(release_name(rules), options)]

    caps = MAX_STATES if options.max_states is None else dict.fromkeys(MAX_STATES, options.max_states)

    def tell(row: Row) -> None:
        console.progress(f"{', '.join(row.releases)}: {len(row.answers)} cells")

    return build(chosen, caps, on_row=tell)


def _lines(row: Row) -> Iterator[str]:
    yield f"{', '.join(row.releases)}"
    for settings, answers in _by_settings(row):
        yield f"  {settings}"
        yield from (f"    {name + ':':28}{found.words}" for name, found in zip(columns(), answers, strict=True))


def _markdown(row: Row) -> Iterator[str]:
    yield f"### {', '.join(row.releases)}\n"
    yield f"| settings | {' | '.join(columns())} |"
    yield f"|---|{'---|' * len(columns())}"
    for settings, answers in _by_settings(row):
        yield f"| {settings} | {' | '.join(found.words for found in answers)} |"
    yield ""


def _by_settings(row: Row) -> Iterator[tuple[str, list[Answer]]]:
    settings = dict.fromkeys(cell.settings for cell in cells())
    for line in settings:
        yield line, [found for cell, found in row.answers.items() if cell.settings == line]


def _legend(table: GuaranteeTable) -> str:
    return (
        f"None found is no proof. With 2 replicas at most {table.max_states[2]} states, 2 records and leader epoch 3\n"
        f"were searched, with 3 replicas {table.max_states[3]} states, 1 record and epoch 2 (3 with a power failure).\n"
        "Actions are half steps of the protocol; a schedule's steps include its awaits."
    )


def write_schedule(console: Console, options: CellOptions) -> int:
    """Write the schedule that shows what a cell loses."""
    rules = rules_of(Choice(kafka=options.release, metadata=options.metadata))
    cell = options.cell
    schedule = shown(question(rules, cell), MAX_STATES[cell.replicas])
    if schedule is None:
        console.complain(f"{release_name(rules)}, {cell.settings}, {cell.faults.value}: none found within bounds")
        return 1
    named = replace(schedule, id=f"found/{options.out.stem}", requirement="An acknowledged record survives.")
    options.out.write_text(schedule_text(named, f"{release_name(rules)}, {cell.settings}"), encoding="utf-8")
    console.answer(f"wrote {options.out}")
    return 0
