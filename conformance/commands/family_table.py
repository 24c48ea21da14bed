"""What do several scenarios have in common, and in what do they differ? Family by family, each with one table."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination
from conformance.catalogue.requirements import REQUIREMENTS
from conformance.commands.foretold_promise import promise_words
from conformance.commands.listing import count_words
from conformance.commands.plain_table import table_lines
from conformance.commands.release_form import release_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.stages.foretelling import Foretold

SENTENCES = {requirement.id: requirement.sentence for requirement in REQUIREMENTS}


def family_lines(told: Sequence[Foretold]) -> Iterable[str]:
    """Yield every family: what its scenarios share once, then a table; last how to read a whole text."""
    for family, group in groupby(told, lambda one: family_of(one.entry.name)):
        yield from _family(family, list(group))
    release, example = release_options(told[0].rules), told[0].entry.name
    yield f"One of them, step by step: kafka-conformance explain {example} {release}; all of them: --full"


def family_of(name: str) -> str:
    """Return the requirement that a scenario is a variant of; known defects are one family."""
    return name.split("/", maxsplit=1)[0]


def _family(family: str, told: Sequence[Foretold]) -> Iterable[str]:
    entries = [one.entry for one in told]
    sentence = f": {SENTENCES[family]}" if family in SENTENCES else ""
    yield f"{family}, {count_words(len(entries))}{sentence}"
    sources = [source for source in entries[0].sources if all(source in entry.sources for entry in entries)]
    if sources:
        yield f"Sources:  {', '.join(sources)}"
    if len({entry.explanation for entry in entries}) == 1:
        yield entries[0].explanation
    yield ""
    rules = told[0].rules
    head = ("scenario", ("steps", f"predicted for Kafka {rules.version} ({rules.metadata.value})"))
    rows = [(_variant(one.entry), (str(_steps(one.entry)), _predicted(one))) for one in told]
    yield from (f"  {line}" for line in table_lines([head, *rows]))
    yield from _requirements(entries)
    yield from _not_run(told)
    yield ""


def _variant(entry: Entry) -> str:
    return entry.name.partition("/")[2] or entry.name


def _steps(entry: Entry) -> int:
    return len(entry.subject.steps() if isinstance(entry, Examination) else entry.schedule.steps)


def _predicted(told: Foretold) -> str:
    """Return what becomes of the promise of a schedule, how much is asked, or that it is not run."""
    if told.not_run is not None:
        return "not run"
    parts = [] if told.prediction is None else [promise_words(told.prediction)]
    asked = len(told.answers) + len(() if told.prediction is None else told.prediction.answers)
    if asked:
        parts.append("1 question" if asked == 1 else f"{asked} questions")
    return "; ".join(parts)


def _requirements(entries: Sequence[Entry]) -> Iterable[str]:
    """Yield each entry's own sentence, unless it says no more than its name."""
    if any(_variant(entry).replace(",", ", ") not in entry.requirement for entry in entries):
        yield ""
        yield from (f"  {line}" for line in table_lines([(_variant(one), (one.requirement,)) for one in entries]))


def _not_run(told: Sequence[Foretold]) -> Iterable[str]:
    """Yield why some are not run, each reason once."""
    reasons = list(dict.fromkeys(one.not_run for one in told if one.not_run is not None))
    if reasons:
        yield ""
    for reason in reasons:
        names = ", ".join(_variant(one.entry) for one in told if one.not_run == reason)
        yield f"  Not run: {names}: {reason}"
