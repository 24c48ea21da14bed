"""``guarantees``: can an acknowledged record be lost, per release and settings? Answered by the explorer.

Prints the table that is kept with the model, searches it anew, or writes the schedule of one cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance.commands.choosing import Choice, rules_of
from conformance.commands.guarantee_cell import extent, faults_word
from conformance.commands.guarantee_glance import short_tables
from conformance.commands.guarantee_search import searched_table, table_text
from conformance.kept_guarantees import kept_table
from conformance.line import release_named
from conformance.schedules.schedule_file import schedule_text
from fault_injection.releases import RELEASES, UsageError, find_release
from fault_injection.releases import MetadataMode as ClusterMode
from oracle.brokers.answers import answer
from oracle.brokers.guarantee_table import (
    MAX_STATES,
    GuaranteeTable,
    columns,
    encode,
    questions,
    release_name,
)
from oracle.brokers.lifting import schedule_of_cell
from oracle.brokers.questions import Faults, cells, question
from oracle.rules.by_version import rules_for
from oracle.rules.release import age, first_patch, has_mode
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.console import Console
    from fault_injection.releases import Release
    from oracle.brokers.answers import SearchAnswer
    from oracle.brokers.guarantee_table import GuaranteeRow
    from oracle.brokers.questions import GuaranteeCell
    from oracle.rules.rule_set import RuleSet

NEWEST = "newest"
FURTHER = """Releases named together can lose the same. Steps are those of the shortest schedule that shows it;
--full says what decides each loss, and how many states were searched.
Where a cell only says lost, acks=1 allows it. One choice of settings tells its verdict, step by step:
  kafka-conformance guarantees --kafka V --acks all --min-isr 1 --unclean on
Other releases: --kafka V, or --kafka all"""

SAME_RULES = "Releases named together have the same rules in what was searched."


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What of the table to print or to search.

    Attributes:
        releases: such as ``3.9.2``; empty means every release of the table.
        metadata: ``zookeeper`` or ``kraft``; None takes both.
        max_states: cap of each search; None takes the table's own.
        lanes: how many searches run side by side.
    """

    releases: tuple[str, ...] = ()
    metadata: str | None = None
    is_markdown: bool = False
    is_full: bool = False
    is_search: bool = False
    max_states: int | None = None
    lanes: int = 1
    out: Path | None = None


@dataclass(frozen=True, slots=True)
class CellOptions:
    """Which cell's schedule to write, and where."""

    release: str
    metadata: str | None
    cell: GuaranteeCell
    out: Path


def known_releases() -> Iterator[RuleSet]:
    """Yield the rules of every release of the table, the oldest first: of a line the first patch too if it differs."""
    for mode in MetadataMode:
        for version in (release.version for release in RELEASES if has_mode(release.version, mode)):
            first, newest = (rules_for(one, mode) for one in (first_patch(version), version))
            yield from (newest,) if first.rules == newest.rules else (first, newest)


def show_table(console: Console, options: TableOptions) -> int:
    """Print the table, kept or searched anew; write it if a file is named."""
    table = _searched(console, options) if options.is_search else _kept(options)
    if options.out is not None:
        options.out.write_text(table_text(table), encoding="utf-8")
        _say_written(console, options.out, {"written": str(options.out), "rows": len(table.rows)})
    elif console.as_json:
        console.answer_json(encode(table))
    else:
        is_short = not (options.is_markdown or options.is_full)
        tables = short_tables(table.rows, _asked(options)) if is_short else _long(table, options)
        console.answer("\n".join(tables), as_it_is=options.is_markdown)
        console.prose(_legend(table))
        console.prose(FURTHER if is_short else SAME_RULES)
    return 0


def _long(table: GuaranteeTable, options: TableOptions) -> Iterator[str]:
    form = _markdown if options.is_markdown else _lines
    return ("\n".join(form(row)) for row in table.rows)


def _asked(options: TableOptions) -> set[str]:
    return set(map(release_name, chosen_rules(options)))


def kept_answers(rules: RuleSet, cells: Sequence[GuaranteeCell]) -> dict[GuaranteeCell, SearchAnswer]:
    """Return what the kept table has for cells of a release; what it does not have is searched.

    A cell of more replicas than are searched has the answer of the most that are: ``schedule_of_cell``
    says what that is worth.
    """
    table = kept_table()
    like = (one for one in known_releases() if questions(one) == questions(rules))
    rows = (table.row_of(release_name(one)) for one in (rules, *like))
    row = next((row for row in rows if row is not None), None)
    if row is not None:
        return {cell: row.answers[cell.searched] for cell in cells}
    return {cell: answer(question(rules, cell.searched), MAX_STATES[cell.searched.replicas]) for cell in cells}


def _kept(options: TableOptions) -> GuaranteeTable:
    table = kept_table()
    named = _asked(options)
    rows = tuple(row for row in table.rows if not named.isdisjoint(row.releases))
    if not rows:
        raise UsageError("the table has no such release; `kafka-conformance guarantees --regenerate` asks the explorer")
    return replace(table, rows=rows)


def chosen_rules(options: TableOptions) -> list[RuleSet]:
    """Return the rules of the releases that are named; a line is its newest patch, as for every other command.

    Raises:
        UsageError: a name is no release's, or a release lacks the metadata mode.
    """
    known = [rules for rules in known_releases() if options.metadata in (None, rules.metadata.value)]
    if not options.releases:
        return known
    named = [rules for name in options.releases for rules in _rules_under(name, options, known)]
    return sorted(dict.fromkeys(named), key=lambda rules: age(rules.version, rules.metadata))


def _rules_under(name: str, options: TableOptions, known: list[RuleSet]) -> list[RuleSet]:
    version, mode = release_named(name, options.metadata)
    release = find_release(version)
    if mode is not None:
        release.metadata_mode(ClusterMode(mode))  # a mode that it lacks is said to be none
    known = [rules for rules in known if mode in (None, rules.metadata.value)]
    named = [rules for rules in known if rules.version == release.version]
    return named or _rules_like(release, mode, known)


def _rules_like(release: Release, mode: str | None, known: list[RuleSet]) -> list[RuleSet]:
    """Return the releases of the table that answer as a patch release which it does not name; else its own rules."""
    modes = (MetadataMode(each.value) for each in release.metadata_modes if mode in (None, each.value))
    own = [rules_for(release.version, each) for each in modes]
    alike = [[rules for rules in known if questions(rules) == questions(patch)] or [patch] for patch in own]
    return [rules for group in alike for rules in group]


def _searched(console: Console, options: TableOptions) -> GuaranteeTable:
    caps = MAX_STATES if options.max_states is None else dict.fromkeys(MAX_STATES, options.max_states)
    releases = chosen_rules(options)

    def tell(row: GuaranteeRow) -> None:
        console.progress(f"{', '.join(row.releases)}: {len(row.answers)} cells")

    return searched_table(releases, caps, options.lanes, tell)


def _lines(row: GuaranteeRow) -> Iterator[str]:
    yield f"{', '.join(row.releases)}"
    for settings, words in _by_settings(row):
        yield f"  {settings}"
        yield from (f"    {name + ':':28}{found}" for name, found in zip(columns(), words, strict=True))


def _markdown(row: GuaranteeRow) -> Iterator[str]:
    yield f"### {', '.join(row.releases)}\n"
    yield f"| settings | {' | '.join(columns())} |"
    yield f"|---|{'---|' * len(columns())}"
    for settings, words in _by_settings(row):
        yield f"| {settings} | {' | '.join(words)} |"
    yield ""


def _by_settings(row: GuaranteeRow) -> Iterator[tuple[str, list[str]]]:
    settings = dict.fromkeys(cell.settings for cell in cells())
    for line in settings:
        yield line, [found.words(cell.replicas) for cell, found in row.answers.items() if cell.settings == line]


def _legend(table: GuaranteeTable) -> str:
    return (
        "None found is no proof: it is about the model, within bounds. RF N searched whole: every state that N\n"
        "replicas reach, with 2 records and leader epochs up to 3; with 3 replicas 1 record, and epochs up to 2\n"
        f"(3 with a power failure). A search ends at {max(table.max_states.values()):,} states, and then says so.\n"
        "Actions are half steps of the protocol; a schedule's steps include its awaits.\n"
        "A line such as 3.9 is its newest patch; an older one with rules of its own, such as 2.8.0, has to be named."
    )


def write_schedule(console: Console, options: CellOptions) -> int:
    """Write the schedule that shows what a cell loses.

    Raises:
        UsageError: no schedule is kept that shows a loss, so that there is nothing to write.
    """
    rules = rules_of(Choice(kafka=options.release, metadata=options.metadata))
    cell = options.cell
    asked = f"{release_name(rules)}, {cell.settings}"
    found = kept_answers(rules, [cell])[cell]
    schedule = schedule_of_cell(rules, cell, found)
    if schedule is None:
        none = f"{asked}, {cell.faults.value}: {extent(cell, found, None)}, so no schedule is written"
        raise UsageError(none + _other_faults(rules, cell))
    named = replace(schedule, id=f"found/{options.out.stem}", requirement="An acknowledged record survives.")
    options.out.write_text(schedule_text(named, asked), encoding="utf-8")
    answer = {"written": str(options.out), "release": release_name(rules), "settings": cell.settings}
    _say_written(console, options.out, {**answer, "faults": cell.faults.value, "steps": len(named.steps)})
    return 0


def _other_faults(rules: RuleSet, cell: GuaranteeCell) -> str:
    """Name the faults by which a cell does lose a record."""
    answers = kept_answers(rules, [replace(cell, faults=faults) for faults in Faults])
    losing = [one.faults for one, found in answers.items() if found.lost is not None and found.lost.actions is not None]
    return f"; there is one with --faults {faults_word(losing[0])}" if losing else ""


def _say_written(console: Console, out: Path, answer: dict[str, Any]) -> None:
    if console.as_json:
        console.answer_json(answer)
    else:
        console.answer(f"wrote {out}")
