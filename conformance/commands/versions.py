"""``versions``: which releases are supported, in which metadata modes, and by which rules are they predicted?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.commands.choosing import Choice, release_of
from conformance.commands.ignored_options import refuse
from conformance.commands.plain_table import table_lines
from conformance.commands.release_form import release_named
from fault_injection.releases import RELEASES
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from conformance.console import Console
    from fault_injection.releases import MetadataMode as ReleaseMode
    from fault_injection.releases import Release

HEAD = ("line", ("release", "metadata"))
FOOT = """Any other patch release of these lines is accepted too, such as 3.9.1, or 3.9.1/zookeeper with a mode.
The rules that predict one: kafka-conformance versions 3.9; of all: --full"""


def add_versions(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its options."""
    parser = commands.add_parser(
        "versions",
        help="list the supported releases and their rules",
        description="Lists each release line with the release that is taken for it and its metadata modes; of a "
        "release that is named, the rules that predict it.",
    )
    parser.add_argument("release", nargs="?", metavar="V", help="a release, such as 3.9 or 3.9.2/zookeeper")
    parser.add_argument("--full", action="store_true", help="the rules of every release")
    parser.add_argument("--json", action="store_true", help="answer as JSON on standard output")
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
    chosen = [(one, mode) for one in RELEASES for mode in one.metadata_modes] if release is None else _named(release)
    if console.as_json:
        releases = list(dict.fromkeys(one for one, _ in chosen))
        console.answer_json([_as_json(one, [mode for each, mode in chosen if each == one]) for one in releases])
        return 0
    if release is None and not in_full:
        lines: Iterable[str] = (*_short(), *_quirks(), FOOT)
    elif in_full:
        lines = [f"{one.version:10} {mode.value:10} {', '.join(_rules(one, mode))}" for one, mode in chosen]
    else:
        lines = [line for one, mode in chosen for line in (f"{one.version} ({mode.value}):", *_below(one, mode))]
    for line in lines:
        console.answer(line)
    return 0


def _named(text: str) -> list[tuple[Release, ReleaseMode]]:
    """Return a release with the mode that is named, else with each that it has."""
    version, mode = release_named(text)
    release, chosen = release_of(Choice(kafka=version, metadata=mode))
    return [(release, each) for each in ((chosen,) if mode is not None else release.metadata_modes)]


def _short() -> Iterable[str]:
    rows = [(one.line, (one.version, " or ".join(mode.value for mode in one.metadata_modes))) for one in RELEASES]
    return table_lines([HEAD, *rows])


def _quirks() -> Iterable[str]:
    """Say which lines run with a jar that is not the release's own."""
    quirks = dict.fromkeys(quirk for one in RELEASES for quirk in one.quirks)
    return [f"{', '.join(one.line for one in RELEASES if quirk in one.quirks)}: {quirk}" for quirk in quirks]


def _below(release: Release, mode: ReleaseMode) -> Iterable[str]:
    rules = rules_for(release.version, MetadataMode(mode.value)).rules
    lines = (*release.quirks, *table_lines([(rule.name, (rule.source,)) for rule in rules]))
    return (f"  {line}" for line in lines)


def _as_json(release: Release, modes: list[ReleaseMode]) -> dict[str, Any]:
    rules = {mode.value: list(_rules(release, mode)) for mode in modes}
    modes_text = [mode.value for mode in modes]
    return {"version": release.version, "metadata": modes_text, "quirks": list(release.quirks), "rules": rules}


def _rules(release: Release, mode: ReleaseMode) -> tuple[str, ...]:
    return rules_for(release.version, MetadataMode(mode.value)).names()
