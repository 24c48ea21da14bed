"""Does a hunt find what is known to be there? ``python -m benchmarks.refind --state DIR``.

Each defect of the track record is hunted on the release that has it, by rules that differ from the release's own in
that defect's rule alone: as if it had been repaired. ``--rules N`` is the negative control: N rules of one release,
drawn by the seed, are swapped one at a time, and brokers that did not change must deviate from what is predicted then.
They are drawn of those that the release can show at all: an entry of the catalogue, or a schedule of the explorer,
would be predicted otherwise (4.4.0 looks no epoch up, whatever its rules say of lookups).

A hunt is told nothing else. It finds what is there if a difference comes back each time, and its shortest schedule,
which deviates by the swapped rules, conforms by the release's own. Every hunt stands in the state directory, so that
the benchmark goes on where it was ended.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import msgspec

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.track_record import TRACK_RECORD
from conformance.hunting.journal import RUNS, Journal
from conformance.hunting.rule_search import telling
from conformance.hunting.rules_at_work import rules_held, told_by
from conformance.hunting.shrinking import shrunk
from conformance.line import NEWEST, held_against, line_named
from conformance.record.directory import RunDirectory, as_line
from conformance.record.run import read_run
from conformance.record.verdict import Conformance
from conformance.registry import select
from oracle.rules.by_version import one_rule_apart, rules_for
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.hunting.journal import HuntedSchedule
    from oracle.rules.rule_set import RuleSet

MINUTES, MINUTES_FOR_A_RULE = 20, 10
LANES = 2
RESULTS = "refind.ndjson"


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a hunt is to find.

    Attributes:
        name: of the defect, or of the rule.
        release: the line that is run.
        rules_of: what it is held against.
        rule: the rule that is swapped in it.
    """

    name: str
    release: str
    rules_of: str
    rule: str


@dataclass(frozen=True, slots=True)
class Refound:
    """What a hunt gave.

    Attributes:
        issue: the name of what was hidden.
        release: the line that was run.
        aimed: whether schedules were aimed at rules, and what was drawn was guided.
        schedules: how many were run.
        seconds: how long the hunt took, with trying again and shrinking.
        steps: of the shortest schedule; None if nothing was found.
        shortest: of the schedule that the explorer has for the rule, shrunk in the model; None if it has none.
        found: whether it deviates by the swapped rules, and conforms by the release's own.
        explained: whether the hunt named the rule as what the brokers do.
        rule: the rule that was swapped.
        lanes: how many clusters ran side by side.
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
    lanes: int = 1
    shortest: int | None = None


def main() -> None:
    """Hunt everything that has no result yet, and print the table."""
    parser = argparse.ArgumentParser(description="Does a hunt find what is known to be there?")
    parser.add_argument(
        "--state", type=Path, required=True, help="directory of results and runs; the benchmark goes on"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rules", type=int, metavar="N", help="not the track record: N rules that the seed draws")
    parser.add_argument("--kafka", default=NEWEST, help=f"with --rules: the release (default: {NEWEST})")
    parser.add_argument(
        "--minutes", type=int, help=f"for one hunt (default: {MINUTES}; {MINUTES_FOR_A_RULE} with --rules)"
    )
    parser.add_argument("--lanes", type=int, default=LANES, help=f"clusters side by side (default: {LANES})")
    parser.add_argument("--drawn-only", action="store_true", help="without aims and guidance, to compare with")
    parser.add_argument("--for-minutes", type=float, default=120, help="begin no hunt after so long (default: 120)")
    parser.add_argument("issues", nargs="*", metavar="ISSUE", help="only these defects")
    asked = parser.parse_args()
    asked.state.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + 60 * asked.for_minutes
    for hidden in drawn_rules(asked) if asked.rules else defects(asked.issues):
        if not _is_done(asked, hidden) and time.monotonic() < ends:
            with (asked.state / RESULTS).open("a", encoding="utf-8") as stream:
                stream.write(as_line(hunted(asked, hidden)))
    sys.stdout.write("\n".join((*table(results(asked.state)), "")))


def defects(issues: list[str]) -> Iterator[Hidden]:
    """Yield the known defects that one rule makes, or those of them that were asked for."""
    for defect in TRACK_RECORD:
        others = one_rule_apart(rules_for(defect.broken, defect.metadata))
        names = [name for name in defect.rules if name in others]
        if (not issues or defect.issue in issues) and len(names) == len(defect.rules) == 1:
            line = f"{defect.broken}/{defect.metadata.value}"
            yield Hidden(defect.issue, line, others[names[0]].version, names[0])


def drawn_rules(asked: argparse.Namespace) -> Iterator[Hidden]:
    """Yield rules of a release that the seed draws, of those that it can show."""
    line = line_named(asked.kafka)
    others = one_rule_apart(line.rules)
    known = asked.state / f"shown-{line.text.replace('/', '-')}.json"
    if not known.exists():
        known.write_text(json.dumps(sorted(shown_by_known_schedules(line.rules, others)), indent=1), encoding="utf-8")
    names = json.loads(known.read_text(encoding="utf-8"))
    for name in Random(asked.seed).sample(names, min(asked.rules, len(names))):  # noqa: S311 - can be repeated
        yield Hidden(name, line.text, others[name].version, name)


def shown_by_known_schedules(rules: RuleSet, others: Mapping[str, RuleSet]) -> set[str]:
    """Return the rules that the explorer's schedules, or the catalogue's, hold brokers to; it takes minutes."""
    names = set(telling(rules, others))
    for entry in select(profile="full"):
        if isinstance(entry, Scenario):
            with suppress(ScheduleError):
                names.update(rules_held(entry.schedule, rules, others))
    return names


def results(state: Path) -> list[Refound]:
    """Return every result so far."""
    path = state / RESULTS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [msgspec.json.decode(line, type=Refound) for line in lines]


def _is_done(asked: argparse.Namespace, hidden: Hidden) -> bool:
    key = (hidden.name, hidden.release, not asked.drawn_only, asked.seed)
    return any((one.issue, one.release, one.aimed, one.seed) == key for one in results(asked.state))


def hunted(asked: argparse.Namespace, hidden: Hidden) -> Refound:
    """Hunt one, and hold what was found against the release's own rules."""
    version = hidden.release.partition("/")[0]
    name = f"{hidden.name}-{version}-{'drawn' if asked.drawn_only else 'aimed'}-{asked.seed}"
    runs = asked.state / name
    minutes = asked.minutes or (MINUTES_FOR_A_RULE if asked.rules else MINUTES)
    command = ["hunt", "--kafka", hidden.release, "--rules-of", hidden.rules_of, "--seed", str(asked.seed)]
    command += ["--time", f"{minutes}m", "--lanes", str(asked.lanes), "--until-found", "--quiet"]
    command += ["--backend", "process", "--runs-dir", str(runs)]
    began = time.monotonic()
    _told([*command, "--drawn-only"] if asked.drawn_only else command)
    schedules = Journal(runs).read()
    found = [one for one in schedules if one.counted is Conformance.DEVIATES]
    return Refound(
        hidden.name,
        hidden.release,
        aimed=not asked.drawn_only,
        seed=asked.seed,
        schedules=len(schedules),
        seconds=round(time.monotonic() - began, 1),
        steps=next((one.shrunk_steps or len(one.steps) for one in found), None),
        found=bool(found) and _conforms(runs, found[0], version),
        explained=bool(found) and hidden.rule in found[0].explained_by,
        rule=hidden.rule,
        lanes=asked.lanes,
        shortest=_shortest(hidden) if found else None,
    )


def _shortest(hidden: Hidden) -> int | None:
    """Return how many steps tell the rules from the release's own, as far as the explorer knows."""
    rules = held_against(line_named(hidden.release), hidden.rules_of).rules
    other = one_rule_apart(rules)[hidden.rule]
    schedule = telling(rules, {hidden.rule: other}).get(hidden.rule)
    if schedule is None:
        return None
    return len(shrunk(schedule, rules, lambda smaller: bool(told_by(smaller, rules, other))).steps)


def _conforms(runs: Path, one: HuntedSchedule, version: str) -> bool:
    """Return whether the run of the shortest schedule conforms by the rules of the release that was run."""
    run = runs / RUNS / (one.shrunk_run or one.run)
    assert read_run(RunDirectory(run)).kafka == version
    told = _told(["judge", str(run), "--rules-of", version, "--json"])
    return '"CONFORMS"' in told


def _told(arguments: list[str]) -> str:
    """Run a command and return its answer; Ctrl-C reaches it once, in a session of its own, however it came here."""
    command = [sys.executable, "-m", "conformance.cli", *arguments]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdout=pipe, stderr=quiet, text=True, start_new_session=True) as told:
        try:
            return told.communicate()[0]
        except KeyboardInterrupt:
            told.send_signal(signal.SIGINT)
            told.communicate()
            raise


def table(found: list[Refound]) -> Iterator[str]:
    """Yield the table as Markdown."""
    yield "| Hidden | Release | Aimed | Lanes | Found | Schedules | Minutes | Steps | Explorer's | Rule named |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for one in found:
        words = ["no", "yes"]
        minutes, steps = f"{one.seconds / 60:.1f}", one.steps or "-"
        what = (one.issue, one.release, words[one.aimed], one.lanes)
        cells = (*what, words[one.found], one.schedules, minutes, steps, one.shortest or "-")
        yield f"| {' | '.join(map(str, cells))} | {words[one.explained]} |"


if __name__ == "__main__":
    main()
