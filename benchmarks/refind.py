"""Which known defects does a hunt find by itself? ``python -m benchmarks.refind --state DIR``.

Each defect of the track record is hunted on the release that has it, by rules that differ from the release's own in
that defect's rules alone: as if it had been repaired. The hunt is told nothing else. A defect is found if a
difference comes back each time, and its shortest schedule, which deviates by those rules, conforms by the release's
own. Every defect that was hunted stands in the state directory, so that the benchmark goes on where it was ended.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conformance.catalogue.track_record import TRACK_RECORD
from conformance.hunting.journal import RUNS, Journal
from conformance.record.directory import RunDirectory, as_line
from conformance.record.run import read_run
from conformance.record.verdict import Conformance
from oracle.rules.by_version import one_rule_apart, rules_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.hunting.journal import HuntedSchedule
    from conformance.scenarios.regressions.defect import KnownDefect

MINUTES = 20
RESULTS = "refind.ndjson"


@dataclass(frozen=True, slots=True)
class Refound:
    """What a hunt for one defect gave.

    Attributes:
        release: the line that has it.
        aimed: whether schedules were aimed at rules.
        schedules: how many were run.
        seconds: how long the hunt took, with trying again and shrinking.
        steps: of the shortest schedule; None if nothing was found.
        found: whether it deviates without the defect, and conforms with it.
        explained: whether the hunt named the defect's rule as what the brokers do.
        rule: the rule that was swapped.
    """

    issue: str
    release: str
    aimed: bool
    seed: int
    schedules: int
    seconds: float
    steps: int | None
    found: bool
    explained: bool
    rule: str


def main() -> None:
    """Hunt every defect that has no result yet, and print the table."""
    parser = argparse.ArgumentParser(description="Which known defects does a hunt find by itself?")
    parser.add_argument(
        "--state", type=Path, required=True, help="directory of results and runs; the benchmark goes on"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=int, default=MINUTES, help=f"for one defect (default: {MINUTES})")
    parser.add_argument("--drawn-only", action="store_true", help="without aims, to compare with")
    parser.add_argument("--for-minutes", type=float, default=120, help="begin no hunt after so long (default: 120)")
    parser.add_argument("issues", nargs="*", metavar="ISSUE", help="only these")
    asked = parser.parse_args()
    asked.state.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + 60 * asked.for_minutes
    for defect in TRACK_RECORD:
        is_asked = not asked.issues or defect.issue in asked.issues
        if is_asked and not _is_done(asked, defect) and time.monotonic() < ends and swapped(defect) is not None:
            result = hunted(asked, defect)
            with (asked.state / RESULTS).open("a", encoding="utf-8") as stream:
                stream.write(as_line(result))
    sys.stdout.write("\n".join((*table(results(asked.state)), "")))


def swapped(defect: KnownDefect) -> str | None:
    """Return the rules of the broken release with the defect's rule swapped; None if one swap is not all of it."""
    others = one_rule_apart(rules_for(defect.broken, defect.metadata))
    names = [name for name in defect.rules if name in others]
    return others[names[0]].version if len(names) == len(defect.rules) == 1 else None


def results(state: Path) -> list[Refound]:
    """Return every result so far."""
    path = state / RESULTS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [msgspec.json.decode(line, type=Refound) for line in lines]


def _is_done(asked: argparse.Namespace, defect: KnownDefect) -> bool:
    key = (defect.issue, not asked.drawn_only, asked.seed)
    return any((one.issue, one.aimed, one.seed) == key for one in results(asked.state))


def hunted(asked: argparse.Namespace, defect: KnownDefect) -> Refound:
    """Hunt one defect, and hold what was found against the release's own rules."""
    rules, line = swapped(defect), f"{defect.broken}/{defect.metadata.value}"
    runs = asked.state / f"{defect.issue}-{'drawn' if asked.drawn_only else 'aimed'}-{asked.seed}"
    command = [
        "hunt",
        "--kafka",
        line,
        "--rules-of",
        str(rules),
        "--time",
        f"{asked.minutes}m",
        "--seed",
        str(asked.seed),
    ]
    command += ["--until-found", "--quiet", "--backend", "process", "--runs-dir", str(runs)]
    began = time.monotonic()
    _told([*command, "--drawn-only"] if asked.drawn_only else command)
    schedules = Journal(runs).read()
    found = [one for one in schedules if one.counted is Conformance.DEVIATES]
    return Refound(
        defect.issue,
        line,
        aimed=not asked.drawn_only,
        seed=asked.seed,
        schedules=len(schedules),
        seconds=round(time.monotonic() - began, 1),
        steps=next((one.shrunk_steps or len(one.steps) for one in found), None),
        found=bool(found) and _conforms(runs, found[0], defect),
        explained=bool(found) and defect.rules[0] in found[0].explained_by,
        rule=defect.rules[0],
    )


def _conforms(runs: Path, one: HuntedSchedule, defect: KnownDefect) -> bool:
    """Return whether the run of the shortest schedule conforms by the rules of the release that was run."""
    run = runs / RUNS / (one.shrunk_run or one.run)
    assert read_run(RunDirectory(run)).kafka == defect.broken
    told = _told(["judge", str(run), "--rules-of", defect.broken, "--json"])
    return '"CONFORMS"' in told


def _told(arguments: list[str]) -> str:
    command = [sys.executable, "-m", "conformance.cli", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def table(found: list[Refound]) -> Iterator[str]:
    """Yield the table as Markdown."""
    yield "| Issue | Release | Aimed | Found | Schedules | Minutes | Steps | Rule named |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in found:
        words = ["no", "yes"]
        minutes, steps = f"{one.seconds / 60:.1f}", one.steps or "-"
        cells = (one.issue, one.release, words[one.aimed], words[one.found], one.schedules, minutes, steps)
        yield f"| {' | '.join(map(str, cells))} | {words[one.explained]} |"


if __name__ == "__main__":
    main()
