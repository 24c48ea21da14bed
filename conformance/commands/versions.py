"""``versions``: which releases are supported, in which metadata modes, and by which rules are they predicted?"""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from conformance.catalogue.questions import in_words
from conformance.catalogue.signs import PromiseSign
from conformance.catalogue.track_record import TRACK_RECORD
from conformance.commands.parser import add_json, refuse, table_lines
from conformance.line import Line, line_named, release_named
from conformance.record.directory import as_plain
from conformance.scenarios.regressions.defect import OPEN, UNREACHED
from fault_injection.releases import RELEASES
from fault_injection.releases.jars import cache_directory, jar_set
from oracle.rules import base_protocol, transactions
from oracle.rules.release import has_mode
from oracle.vocabulary import MetadataMode
from reports.verdict_words import source_link

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.record.answers import Value
    from conformance.scenarios.regressions.defect import KnownDefect
    from fault_injection.releases import JarSet, Release
    from oracle.rules.rule import Rule


VERSIONS = """Lists each release line with the release that is taken for it and its metadata modes; of a release that is
named, the rules that predict it, each with its source and what brokers do by it."""
HEAD = ("line", ("release", "metadata"))
FOOT = """Any other patch release of these lines is accepted too, such as 3.9.1, or 3.9.1/zookeeper with a mode.
The rules that predict one: kafka-conformance versions 3.9; of all: --full"""


def add_versions(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(VERSIONS)
    parser.add_argument("release", nargs="?", metavar="V", help="a release, such as 3.9 or 3.9.2/zookeeper")
    parser.add_argument("--full", action="store_true", help="the rules of every release")
    add_json(parser)
    parser.set_defaults(command=_versions)


def _versions(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.json:
        refuse(parsed, ["--full"], "is about the table: --json has the rules of every release that it names.")
    return list_versions(console, parsed.release, in_full=parsed.full)


def list_versions(console: Console, release: str | None = None, *, in_full: bool = False) -> int:
    """Print every supported release with its metadata modes, or the rules of one, or those of all.

    Raises:
        UsageError: a release that is not known, or a mode that it lacks.
    """
    chosen = _modes_of(*RELEASES) if release is None else _named(release)
    if console.as_json:
        releases = list(dict.fromkeys(line.release for line in chosen))
        console.answer_json([_as_json(one, [line for line in chosen if line.release == one]) for one in releases])
        return 0
    if release is None and not in_full:
        told: Iterable[str] = (*_short(), *_quirks(), FOOT)
    elif in_full:
        told = [
            f"{line.release.version:10} {line.metadata.value:10} {', '.join(rule.name for rule in _rules(line))}"
            for line in chosen
        ]
    else:
        told = [text for line in chosen for text in (f"{line.release.version} ({line.metadata.value}):", *_below(line))]
    for text in told:
        console.answer(text)
    return 0


def _named(text: str) -> list[Line]:
    """Return a release in the mode that is named, else in each that it has."""
    line = line_named(text)
    if release_named(text).metadata is not None:
        return [line]
    return _modes_of(line.release)


def _modes_of(*releases: Release) -> list[Line]:
    return [Line(release, mode) for release in releases for mode in release.metadata_modes]


def _short() -> Iterable[str]:
    rows = [(one.line, (one.version, " or ".join(mode.value for mode in one.metadata_modes))) for one in RELEASES]
    return table_lines([HEAD, *rows])


def _quirks() -> Iterable[str]:
    """Return which lines run with a jar that is not the release's own."""
    quirks = dict.fromkeys(quirk for one in RELEASES for quirk in one.quirks)
    return [f"{', '.join(one.line for one in RELEASES if quirk in one.quirks)}: {quirk}" for quirk in quirks]


def _below(line: Line) -> Iterable[str]:
    told = (text for rule in _rules(line) for text in (f"{rule.name} ({rule.source})", f"    {rule.says}"))
    return (f"  {text}" for text in (*line.release.quirks, *told))


def _as_json(release: Release, lines: list[Line]) -> dict[str, Any]:
    rules = {line.metadata.value: [rule.name for rule in _rules(line)] for line in lines}
    modes_text = [line.metadata.value for line in lines]
    return {"version": release.version, "metadata": modes_text, "quirks": list(release.quirks), "rules": rules}


def _rules(line: Line) -> tuple[Rule, ...]:
    """Return every rule of a release: those that some release changed, and those that none did."""
    return (*line.rules.rules, *base_protocol.RULES, *transactions.rules_of(line.rules.version))


# ``track-record``: which known defects of Kafka are shown here, by which command, and which are out of reach?


DESCRIPTION = """Lists Kafka's known replication defects, and features that were missing. For each that is shown here:
the release that has it, one that repaired or built it, what the model says that both show, the rule that decides it,
and the commands that prove it on real brokers. For each that none shows: why not. docs/track-record.md has the
verdicts that were measured on both; its tables are those of --markdown."""
WIDTH = 100


def add_track_record(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION)
    parser.add_argument("--markdown", action="store_true", help="as the tables of docs/track-record.md")
    parser.add_argument("--open", action="store_true", help="only what is open in the newest release")
    add_json(parser)
    parser.set_defaults(command=_track_record)


def _track_record(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.json:
        refuse(parsed, ["--markdown"], "is about the text: --json has the same.")
    if parsed.markdown:
        refuse(parsed, ["--open"], "is none of the tables of --markdown.")
        console.answer("\n".join(record_in_markdown()))
        return 0
    return list_open(console) if parsed.open else list_track_record(console)


def list_open(console: Console) -> int:
    """Print what is open in the newest release."""
    if console.as_json:
        console.answer_json({"open": [asdict(one) for one in OPEN]})
        return 0
    width = console.width(WIDTH)
    console.answer("Open in the newest release:")
    for one in OPEN:
        told = (one.symptom, f"seen on: {one.seen_on}", f"cause and steps: {one.document}")
        texts = (line for text in told for line in _wrapped(text, width))
        console.answer("\n".join((f"  {one.issue or 'not reported'}", *texts, f"      {one.command}")))
    return 0


def list_track_record(console: Console) -> int:
    """Print every known defect, reached or not."""
    if console.as_json:
        shown = [_defect_as_json(defect) for defect in TRACK_RECORD]
        unreached = [{"issue": one.issue, "symptom": one.symptom, "reason": one.reason} for one in UNREACHED]
        console.answer_json({"defects": shown, "open": [asdict(one) for one in OPEN], "unreached": unreached})
        return 0
    width = console.width(WIDTH)
    console.answer("Shown by a scenario each:")
    for defect in TRACK_RECORD:
        console.answer("\n".join(_told(defect, width)))
    console.answer("Out of reach:")
    for one in UNREACHED:
        why = f"Why not: {one.reason}."
        console.answer("\n".join((f"  {one.issue}", *_wrapped(one.symptom, width), *_wrapped(why, width))))
    return 0


def record_in_markdown() -> Iterable[str]:
    """Yield the lines of what docs/track-record.md has of the record: a row a defect, then what is out of reach."""
    yield "| issue | kind | symptom | broken release | fixed release | scenario | shown there | shown here |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from (f"| {' | '.join(_cells(defect))} |" for defect in TRACK_RECORD)
    yield from ("", "## Out of reach", "", "| issue | symptom | why no schedule shows it |", "|---|---|---|")
    yield from (f"| {_linked(one.issue)} | {one.symptom} | {one.reason} |" for one in UNREACHED)


def _cells(defect: KnownDefect) -> list[str]:
    releases = [_with_mode(defect, version) for version in (defect.broken, defect.fixed)]
    shown = [_shown(defect, value) for value in (defect.there, defect.here)]
    return [_linked(defect.issue), defect.kind.value, defect.symptom, *releases, f"`{defect.scenario}`", *shown]


def _with_mode(defect: KnownDefect, version: str) -> str:
    """Return a release as commands take it, with its mode where it has two."""
    has_both = all(has_mode(version, mode) for mode in MetadataMode)
    return f"{version}/{defect.metadata.value}" if has_both else version


def _shown(defect: KnownDefect, value: Value) -> str:
    """Return what a run that conforms has shown."""
    says = str(value) if isinstance(defect.sign, PromiseSign) else f"{defect.sign.text}: {in_words(value)}"
    return f"CONFORMS, {says}"


def _linked(issues: str) -> str:
    return ", ".join(f"[{one}]({source_link(one).address})" for one in issues.split(", "))


def _told(defect: KnownDefect, width: int) -> list[str]:
    mode = defect.metadata.value
    return [
        f"  {defect.issue}, {defect.kind.value}",
        *_wrapped(defect.symptom, width),
        *_wrapped(f"{defect.broken} ({mode}): {defect.sign.text}: {in_words(defect.there)}", width),
        *_wrapped(f"{defect.fixed} ({mode}): {defect.sign.text}: {in_words(defect.here)}", width),
        *_wrapped(f"decided by: {', '.join(defect.rules)}", width),
        f"      {defect.command(defect.broken)}",
        f"      {defect.command(defect.fixed)}",
    ]


def _wrapped(text: str, width: int) -> list[str]:
    return [f"      {line}" for line in textwrap.wrap(text, width - 6, subsequent_indent="  ")]


def _defect_as_json(defect: KnownDefect) -> dict[str, Any]:
    return {
        "issue": defect.issue,
        "kind": defect.kind.value,
        "symptom": defect.symptom,
        "rules": list(defect.rules),
        "scenario": defect.scenario,
        "metadata": defect.metadata.value,
        "sign": defect.sign.text,
        "broken": {"release": defect.broken, "shows": as_plain(defect.there)},
        "fixed": {"release": defect.fixed, "shows": as_plain(defect.here)},
    }


# How much room do jars and runs take? In words.


MEBIBYTE = 2**20


def jars_text(jars: JarSet) -> str:
    """Return how many jars there are and how large."""
    return f"{len(jars.files)} jars, {mebibytes(sum(file.stat().st_size for file in jars.files))}"


def cached_text(line: Line) -> str:
    """Return whether a release's jars are in the cache, and how large they are."""
    directory = cache_directory() / line.release.version
    return jars_text(jar_set(directory)) if directory.is_dir() else "jars not fetched yet"


def ladder_text(lines: Sequence[Line]) -> str:
    """Return how much room the jars of several lines take together; modes of one release share them."""
    directories = {cache_directory() / line.release.version for line in lines}
    files = [file for directory in directories for file in directory.glob("*.jar")]
    there = sum(directory.is_dir() for directory in directories)
    return (
        f"jars of {there} of {len(directories)} releases are there: {mebibytes(sum(f.stat().st_size for f in files))}"
    )


def folder_text(folder: Path) -> str:
    """Return how large a folder is, with all that is in it."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return f"{len(files)} files, {mebibytes(sum(path.stat().st_size for path in files))}"


def mebibytes(size: int) -> str:
    """Return a size in bytes as mebibytes."""
    return f"{size / MEBIBYTE:.1f} MiB"
