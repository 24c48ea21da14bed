"""Which pages are there, and what stands on each? Requirements and known defects; settings are in ``settings``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import in_words
from conformance.catalogue.requirements import CHECKED_IN_EVERY_RUN, REQUIREMENTS
from conformance.catalogue.track_record import TRACK_RECORD
from conformance.line import line_named
from conformance.registry import CATALOGUE, family_of
from conformance.scenarios.regressions.defect import FAMILY, OPEN, UNREACHED
from reports.site.model import SitePage, SiteReference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.catalogue.requirements import Requirement
    from conformance.line import Line
    from conformance.scenarios.regressions.defect import KnownDefect, OpenDefect, Unreached
    from reports.site.model import EntryText

REQUIREMENTS_AT, DEFECTS_AT = "requirements", "defects"
KNOWN, UNREPAIRED, OUT_OF_REACH = "Known defects", "Open in the newest release", "Known defects out of reach"
EVERY_RUN = "It is held against every replica and every frame of every run; beside that, these entries are about it."


def entry_page(entry: Entry) -> str:
    """Return the key of the page on which an entry stands in full."""
    family = family_of(entry)
    if family == FAMILY:
        return f"{DEFECTS_AT}/{entry.name.removeprefix(f'{FAMILY}/')}"
    return f"{REQUIREMENTS_AT}/{family}"


def entries_on(key: str) -> tuple[Entry, ...]:
    """Return the entries that stand on a page in full."""
    return tuple(entry for entry in CATALOGUE if entry_page(entry) == key)


def _those_on(key: str, texts: Mapping[str, EntryText]) -> tuple[EntryText, ...]:
    """Return what is said of a page's entries; of a page alone it may be only some."""
    return tuple(texts[entry.name] for entry in entries_on(key) if entry.name in texts)


def page_at(key: str, texts: Mapping[str, EntryText]) -> SitePage:
    """Return the page of a requirement, or of a known defect that entries show.

    Args:
        key: as ``entry_page`` has it.
        texts: what is said of its entries, by their names.
    """
    place, _, name = key.partition("/")
    if place == REQUIREMENTS_AT:
        return requirement_page(next(one for one in REQUIREMENTS if one.id == name), texts)
    return defect_page(next(one for one in TRACK_RECORD if one.issue == name), texts)


def lines_of(entry: Entry, lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines on which an entry is told: those given, and those on which its defect shows, and no more."""
    shown = (line for defect in TRACK_RECORD if defect.scenario == entry.name for line in _lines(defect))
    return tuple(dict.fromkeys((*lines, *shown)))


def _lines(defect: KnownDefect) -> tuple[Line, ...]:
    return tuple(line_named(version, defect.metadata.value) for version in (defect.broken, defect.fixed))


def _references(cited: str, but: str) -> tuple[SiteReference, ...]:
    """Return the entries that cite something and stand on other pages than this one."""
    citing = (entry for entry in CATALOGUE if cited in entry.sources and entry_page(entry) != but)
    return tuple(SiteReference(one.name, entry_page(one), one.id, one.requirement) for one in citing)


# Requirements: a page a row, with every entry of the row in full.


def requirement_pages(texts: Mapping[str, EntryText]) -> Iterator[SitePage]:
    """Yield a page for every requirement, in the order of the table."""
    yield from (requirement_page(one, texts) for one in REQUIREMENTS)


def requirement_page(requirement: Requirement, texts: Mapping[str, EntryText]) -> SitePage:
    """Return the page of a requirement."""
    key = f"{REQUIREMENTS_AT}/{requirement.id}"
    entries = _those_on(key, texts)
    cited = dict.fromkeys(source for entry in entries for source in entry.sources if source != requirement.id)
    return SitePage(
        key=key,
        kind="requirement",
        name=requirement.id,
        sentence=requirement.sentence,
        area=requirement.area,
        sources=tuple(cited),
        entries=entries,
        notes=(EVERY_RUN,) if requirement.id in CHECKED_IN_EVERY_RUN else (),
        related_title="Entries of other pages that are about it too",
        related=_references(requirement.id, key),
    )


# Known defects: those that an entry shows in full, those that are open, and those that none shows.


def defect_pages(texts: Mapping[str, EntryText]) -> Iterator[SitePage]:
    """Yield a page for every known defect: those that are shown, those that are open, those out of reach."""
    yield from (defect_page(one, texts) for one in TRACK_RECORD)
    yield from map(_open_page, OPEN)
    yield from map(_unreached_page, UNREACHED)


def defect_page(defect: KnownDefect, texts: Mapping[str, EntryText]) -> SitePage:
    """Return the page of a defect that an entry shows."""
    key = f"{DEFECTS_AT}/{defect.issue}"
    broken, fixed = (line.text for line in _lines(defect))
    facts = (
        (f"{defect.sign.text}, on {broken}", in_words(defect.there)),
        (f"{defect.sign.text}, on {fixed}", in_words(defect.here)),
        ("Decided by", ", ".join(defect.rules)),
    )
    later = "Repaired by" if defect.kind.value == "repaired defect" else "Built by"
    return SitePage(
        key=key,
        kind=defect.kind.value,
        name=defect.issue,
        sentence=_sentence(defect.symptom),
        area=KNOWN,
        facts=(("Shown on", broken), (later, fixed), *facts),
        sources=(defect.issue,),
        entries=_those_on(key, texts),
        related_title="Entries of other pages that cite it",
        related=_references(defect.issue, key),
        commands=(defect.command(defect.broken), defect.command(defect.fixed)),
    )


def _open_page(defect: OpenDefect) -> SitePage:
    stem = defect.document.rpartition("/")[2].removesuffix(".md")
    return SitePage(
        key=f"{DEFECTS_AT}/{defect.issue or stem}",
        kind="open defect",
        name=defect.issue or stem,
        sentence=_sentence(defect.symptom),
        area=UNREPAIRED,
        facts=(("Seen on", defect.seen_on), ("Cause and steps", defect.document)),
        sources=(defect.issue,) if defect.issue else (),
        notes=() if defect.issue else ("It is not reported upstream yet.",),
        related_title="Entries that show it, or cite it",
        related=tuple(_shown_by(defect)),
        commands=(defect.command,),
    )


def _shown_by(defect: OpenDefect) -> Iterator[SiteReference]:
    """Yield the entry that its command runs, if it runs one, and those that cite the issue."""
    run = [entry for entry in CATALOGUE if entry.name in defect.command.split()]
    yield from (SiteReference(one.name, entry_page(one), one.id, one.requirement) for one in run)
    yield from _references(defect.issue, "") if defect.issue else ()


def _unreached_page(defect: Unreached) -> SitePage:
    issues = tuple(defect.issue.split(", "))
    return SitePage(
        key=f"{DEFECTS_AT}/{issues[0]}",
        kind="known defect, out of reach",
        name=defect.issue,
        sentence=_sentence(defect.symptom),
        area=OUT_OF_REACH,
        sources=issues,
        notes=(f"No entry shows it. Why not: {defect.reason}.",),
        related_title="Entries that cite it",
        related=tuple(one for issue in issues for one in _references(issue, "")),
    )


def _sentence(symptom: str) -> str:
    return f"{symptom[0].upper()}{symptom[1:]}."
