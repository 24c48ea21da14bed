"""What have hunts done so far? Every schedule of a journal counted: verdicts by line, and what schedules have in them.

Sittings add up: a hunt that goes on, on another day or with another seed, writes to the same journal.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from conformance.hunting.growing import PROCESS_FAULTS
from conformance.hunting.journal import RUNS, Journal
from conformance.hunting.rules_at_work import rules_held
from conformance.judgement.verdicts import exit_code
from conformance.line import line_named
from conformance.record.directory import RunDirectory
from conformance.record.schedule import read_schedule
from conformance.record.verdict import Conformance
from fault_injection.releases import UsageError
from oracle.rules.by_version import one_rule_apart
from oracle.steps.frames import Hold
from oracle.steps.step import STEP_CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.console import Console
    from conformance.hunting.journal import HuntedSchedule

RARE_BELOW = 20
"""A kind of step in fewer schedules is named."""


@dataclass(frozen=True, slots=True)
class HuntTally:
    """What a journal's schedules add up to.

    Attributes:
        schedules: how many have their verdict, and are not refused since.
        mended: how many of them count as what the mended tester makes of their runs.
        withdrawn: how many more are refused since, by a tester that was mistaken in them.
        verdicts: how many of each line had which verdict, as it counts.
        seeds: every seed that was hunted with.
        steps: the median of a schedule's steps, as are ``holds`` and ``process_faults`` of those among them.
        kinds: in how many schedules each kind of step is.
        seconds: how long they took, with trying again and shrinking.
    """

    schedules: int
    mended: int
    withdrawn: int
    verdicts: dict[str, dict[str, int]]
    seeds: tuple[int, ...]
    steps: float
    holds: float
    process_faults: float
    kinds: dict[str, int]
    seconds: float

    @property
    def rare(self) -> dict[str, int]:
        """Return the kinds of step that are in few schedules, the rarest first."""
        return {word: count for word, count in sorted(self.kinds.items(), key=lambda of: of[1]) if count < RARE_BELOW}

    def lines(self) -> Iterator[str]:
        """Yield it in words."""
        yield f"{self.schedules} schedules of seeds {', '.join(map(str, self.seeds)) or 'none'}"
        if self.mended or self.withdrawn:
            mended = "mistakes of the tester's that are mended"
            yield f"{mended}: {self.mended} count as they are judged since, {self.withdrawn} more are drawn no longer"
        for line, verdicts in self.verdicts.items():
            yield f"{line}: {', '.join(f'{count} {word}' for word, count in verdicts.items())}"
        if self.schedules:
            yield f"median: {self.steps:g} steps, {self.holds:g} holds, {self.process_faults:g} process faults"
            yield f"{3600 * self.schedules / self.seconds:.0f} an hour, with trying again and shrinking"
            rare = ", ".join(f"{word} {count}" for word, count in self.rare.items())
            yield f"kinds of step in fewer than {RARE_BELOW} schedules: {rare or 'none'}"


def tally(hunted: Sequence[HuntedSchedule]) -> HuntTally:
    """Count schedules that have their verdict."""
    lines: dict[str, Counter[str]] = {}
    withdrawn = sum(one.is_withdrawn for one in hunted)
    hunted = [one for one in hunted if not one.is_withdrawn]
    for one in hunted:
        name = one.line if one.rules_of is None else f"{one.line} by the rules of {one.rules_of}"
        lines.setdefault(name, Counter())[one.counted.value] += 1
    faults = [step.word for step in PROCESS_FAULTS]
    return HuntTally(
        len(hunted),
        sum(one.mended is not None for one in hunted),
        withdrawn,
        {name: dict(verdicts) for name, verdicts in lines.items()},
        tuple(dict.fromkeys(one.seed for one in hunted)),
        _median([len(one.steps) for one in hunted]),
        _median([one.steps.count(Hold.word) for one in hunted]),
        _median([sum(word in faults for word in one.steps) for one in hunted]),
        {word: sum(word in one.steps for one in hunted) for word in STEP_CLASSES},
        sum(one.seconds for one in hunted),
    )


def _median(counts: Sequence[int]) -> float:
    return float(median(counts)) if counts else 0.0


def tell_tally(console: Console, directory: Path, *, with_rules: bool = False) -> int:
    """Say what the journal of a directory adds up to, and return the exit code of its verdicts.

    Args:
        console: where it is said.
        directory: of the hunts.
        with_rules: tell also which rules the runs that conform have held brokers to.

    Raises:
        JournalError: the journal cannot be read.
        UsageError: there is none.
    """
    journal = Journal(directory)
    if not journal.path.exists():
        raise UsageError(f"{journal.path} is not there: nothing was hunted in {directory}")
    hunted = journal.read()
    told = tally(hunted)
    rules = [shown for _, shown in sorted(rules_shown(console, directory / RUNS, hunted).items())] if with_rules else []
    if console.as_json:
        console.answer_json({**asdict(told), "rules": [asdict(shown) for shown in rules]})
    else:
        console.answer("\n".join((*told.lines(), *(line for shown in rules for line in shown.lines()))))
    return exit_code((one.counted, None) for one in hunted if not one.is_withdrawn)


# Which rules would have been noticed otherwise? Of every run that conforms, each rule swapped in turn.


@dataclass(frozen=True, slots=True)
class RulesShown:
    """What the conforming runs of a line have held its brokers to.

    Attributes:
        line: the release in its metadata mode.
        runs: how many runs were looked at: those that are still there.
        conforming: how many conformed.
        shown: in how many of them a rule, swapped, would have been noticed, by its name.
        others: the rules that none of them would notice.
    """

    line: str
    runs: int
    conforming: int
    shown: dict[str, int]
    others: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield it in words."""
        total = len(self.shown) + len(self.others)
        there = f"{self.runs} of {self.conforming} conforming runs are there, and"
        yield f"{self.line}: {there} hold brokers to {len(self.shown)} of {total} rules"
        yield f"  {', '.join(f'{rule} {count}' for rule, count in self.shown.items()) or 'none'}"
        yield f"  not: {', '.join(self.others) or 'none'}"


def rules_shown(console: Console, runs: Path, hunted: Sequence[HuntedSchedule]) -> dict[str, RulesShown]:
    """Return, line by line, which rules the runs that conform by a release's own rules hold brokers to.

    Args:
        console: told of each line that begins.
        runs: where the runs are; one that is not there any more is left out.
        hunted: the schedules of a journal.
    """
    conforming = [one for one in hunted if one.conformance is Conformance.CONFORMS and one.rules_of is None]
    found = {}
    for line in dict.fromkeys(one.line for one in conforming):
        directories = [RunDirectory(runs / one.run) for one in conforming if one.line == line]
        there = [run for run in directories if run.path.is_dir()]
        console.progress(f"{line}: each rule swapped in {len(there)} schedules")
        found[line] = _shown_by(line, there, len(directories))
    return found


def _shown_by(line: str, runs: Sequence[RunDirectory], conforming: int) -> RulesShown:
    rules = line_named(line).rules
    others = one_rule_apart(rules)
    counted = Counter(rule for run in runs for rule in rules_held(read_schedule(run), rules, others))
    return RulesShown(
        line, len(runs), conforming, dict(counted.most_common()), tuple(sorted(set(others) - set(counted)))
    )
