"""``track-record``: which known defects of Kafka are shown here, by which command, and which are out of reach?"""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING, Any

from conformance.catalogue.questions import as_json, in_words
from conformance.scenarios.regressions.track_record import TRACK_RECORD
from conformance.scenarios.regressions.unreached import UNREACHED

if TYPE_CHECKING:
    from conformance.console import Console
    from conformance.scenarios.regressions.known_defect import Defect

DESCRIPTION = """Lists Kafka's known replication defects, and features that were missing. For each that is shown here:
the release that has it, one that repaired or built it, what the model says that both show, the rule that decides it,
and the commands that prove it on real brokers. For each that none shows: why not. docs/track-record.md has the
verdicts that were measured on both."""
WIDTH = 100


def add_track_record(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its options."""
    parser = commands.add_parser(
        "track-record",
        help="list the known defects that are shown here, and those that are out of reach",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON on standard output")
    parser.set_defaults(command=lambda console, _: list_track_record(console))


def list_track_record(console: Console) -> int:
    """Print every known defect, reached or not."""
    if console.as_json:
        shown = [_as_json(defect) for defect in TRACK_RECORD]
        unreached = [{"issue": one.issue, "symptom": one.symptom, "reason": one.reason} for one in UNREACHED]
        console.answer_json({"defects": shown, "unreached": unreached})
        return 0
    console.answer("Shown by a scenario each:")
    for defect in TRACK_RECORD:
        console.answer("\n".join(_told(defect)))
    console.answer("Out of reach:")
    for one in UNREACHED:
        console.answer("\n".join((f"  {one.issue}", *_wrapped(one.symptom), *_wrapped(f"Why not: {one.reason}."))))
    return 0


def _told(defect: Defect) -> list[str]:
    mode = defect.metadata.value
    return [
        f"  {defect.issue}, {defect.kind.value}",
        *_wrapped(defect.symptom),
        *_wrapped(f"{defect.broken} ({mode}): {defect.sign.text}: {in_words(defect.there)}"),
        *_wrapped(f"{defect.fixed} ({mode}): {defect.sign.text}: {in_words(defect.here)}"),
        *_wrapped(f"decided by: {', '.join(defect.rules)}"),
        f"      {defect.command(defect.broken)}",
        f"      {defect.command(defect.fixed)}",
    ]


def _wrapped(text: str) -> list[str]:
    return [f"      {line}" for line in textwrap.wrap(text, WIDTH - 6, subsequent_indent="  ")]


def _as_json(defect: Defect) -> dict[str, Any]:
    return {
        "issue": defect.issue,
        "kind": defect.kind.value,
        "symptom": defect.symptom,
        "rules": list(defect.rules),
        "scenario": defect.scenario,
        "metadata": defect.metadata.value,
        "sign": defect.sign.text,
        "broken": {"release": defect.broken, "shows": as_json(defect.there)},
        "fixed": {"release": defect.fixed, "shows": as_json(defect.here)},
    }
