"""``list``: which entries has the catalogue, area by area, and which of them does a release not run, and why?"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from conformance.catalogue.examination import BASIS_WORDS, Basis, Examination, basis_of
from conformance.commands.choosing import Choice, entry_prediction, rules_of
from conformance.commands.parser import NAMED_TOO, add_json, refuse
from conformance.registry import area_of, select
from fault_injection.releases import UsageError
from oracle.vocabulary import AREAS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from oracle.rules.rule_set import RuleSet

REGRESSIONS = "known defects of Kafka"
NotRun = dict[str, str]
"""Why an entry is not run on a release, by its name; what is run is not in it."""


DESCRIPTION = """Lists the entries of the catalogue area by area, each with its requirement; with --kafka also what is
not run on that release, and why. An entry is a scenario, with a schedule, or an examination, which asks brokers."""
EPILOG = """examples:
  kafka-conformance list                                  all of them
  kafka-conformance list --profile quick                  what `run` runs if nothing is named
  kafka-conformance list TR --kafka 0.10.2                an area, and what of it that release does not run
  kafka-conformance list --kafka 4.4.0 --not-run          only what it does not run, by reason
"""


def add_list(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("globs", nargs="*", metavar="GLOB", help="names of entries, such as TR-* or EL-02/safe")
    parser.add_argument("--profile", choices=("quick", "full"), help="if none is named (default: full)")
    parser.add_argument("--kafka", metavar="V", help="say what is not run on a release, such as 3.9.2/zookeeper")
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help="metadata mode of that release")
    parser.add_argument("--not-run", action="store_true", help="list only what is not run there, by reason")
    add_json(parser)
    parser.set_defaults(command=_list)


def _list(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.kafka is None and (parsed.metadata is not None or parsed.not_run):
        option = "--not-run" if parsed.not_run else "--metadata"
        raise UsageError(f"{option} is about one release: give --kafka too.")
    if parsed.globs:
        refuse(parsed, ["--profile"], NAMED_TOO)
    on = None if parsed.kafka is None else Choice(kafka=parsed.kafka, metadata=parsed.metadata)
    return list_entries(console, select(parsed.globs, parsed.profile or "full"), on, only_not_run=parsed.not_run)


def list_entries(
    console: Console, entries: Sequence[Entry], on: Choice | None = None, *, only_not_run: bool = False
) -> int:
    """Print entries with their requirements; with a release, what is not run there and why."""
    rules = None if on is None else rules_of(on)
    left_out = {} if rules is None else _not_run(entries, rules)
    shown = [entry for entry in entries if not only_not_run or entry.name in left_out]
    if console.as_json:
        told = {} if rules is None else {entry.name: {"not_run": left_out.get(entry.name)} for entry in shown}
        console.answer_json([entry_as_json(entry) | told.get(entry.name, {}) for entry in shown])
        return 0
    lines = _by_reason(left_out) if only_not_run else _by_area(shown, left_out, is_short=len(entries) == 1)
    for line in (*lines, *_total(entries, left_out, rules)):
        console.answer(line)
    return 0


def entry_as_json(entry: Entry) -> dict[str, Any]:
    """Return the machine format of an entry: what it is, without what it does."""
    return {
        "name": entry.name,
        "kind": "examination" if isinstance(entry, Examination) else "scenario",
        "basis": basis_of(entry).value,
        "id": entry.id,
        "requirement": entry.requirement,
        "sources": list(entry.sources),
        "variant": entry.variant,
        "profiles": list(entry.profiles),
        "where": asdict(entry.where),
    }


def _not_run(entries: Iterable[Entry], rules: RuleSet) -> NotRun:
    """Return what a release does not run."""
    reasons = {entry.name: entry_prediction(entry, rules).not_run for entry in entries}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _by_area(entries: Sequence[Entry], left_out: Mapping[str, str], *, is_short: bool) -> Iterable[str]:
    """Yield the entries below their areas; one that was named needs no heading."""
    width = max((len(entry.name) for entry in entries), default=0)
    for area, group in groupby(entries, area_of):
        members = list(group)
        if not is_short:
            yield f"{area_words(area)}: {count_words(len(members))}"
        for entry in members:
            yield f"{'' if is_short else '  '}{entry.name:{width}}  {entry.requirement}"
            if basis_of(entry) is not Basis.PREDICTED:
                yield f"{'' if is_short else '  '}{'':{width}}  {BASIS_WORDS[basis_of(entry)]}"
            if entry.name in left_out:
                yield f"{'' if is_short else '  '}{'':{width}}  not run: {left_out[entry.name]}"


def _by_reason(left_out: Mapping[str, str]) -> Iterable[str]:
    """Yield every reason with the names of what is not run because of it."""
    for reason in dict.fromkeys(left_out.values()):
        yield f"{reason}:"
        yield from (f"  {name}" for name, why in left_out.items() if why == reason)


def _total(entries: Sequence[Entry], left_out: Mapping[str, str], rules: RuleSet | None) -> Iterable[str]:
    """Yield how many there are, or run on a release; one is not counted."""
    count = count_words(len(entries))
    if rules is not None:
        on = f"Kafka {rules.version} ({rules.metadata.value})"
        if len(entries) == 1:
            yield f"{'not run' if left_out else 'run'} on {on}"
            return
        yield f"{len(entries) - len(left_out)} of {count} run on {on}; not run: {len(left_out)}"
    elif len(entries) > 1:
        yield f"{count}: {basis_counts(entries)}; what one does, step by step: kafka-conformance explain NAME"


def basis_counts(entries: Sequence[Entry]) -> str:
    """Return how many predictions come from where."""
    counts = Counter(map(basis_of, entries))
    return ", ".join(f"{counts[basis]} {words}" for basis, words in BASIS_WORDS.items() if counts[basis])


def area_words(area: str) -> str:
    """Return an area with its title, such as ``TR  Truncation, loss and divergence``."""
    return f"{area}  {AREAS.get(area, REGRESSIONS)}"


def count_words(number: int) -> str:
    """Return a number of entries in words."""
    return "1 entry" if number == 1 else f"{number} entries"
