"""What have hunts done so far? Every schedule of a journal counted: verdicts by line, and what schedules have in them.

Sittings add up: a hunt that goes on, on another day or with another seed, writes to the same journal.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from conformance.hunting.growing import PROCESS_FAULTS
from conformance.hunting.journal import Journal
from conformance.judgement.verdicts import exit_code
from fault_injection.releases import UsageError
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
        schedules: how many have their verdict.
        verdicts: how many of each line had which verdict, as it counts.
        seeds: every seed that was hunted with.
        steps: the median of a schedule's steps, as are ``holds`` and ``process_faults`` of those among them.
        kinds: in how many schedules each kind of step is.
        seconds: how long they took, with trying again and shrinking.
    """

    schedules: int
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
    for one in hunted:
        name = one.line if one.rules_of is None else f"{one.line} by the rules of {one.rules_of}"
        lines.setdefault(name, Counter())[one.counted.value] += 1
    faults = [step.word for step in PROCESS_FAULTS]
    return HuntTally(
        len(hunted),
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


def tell_tally(console: Console, directory: Path) -> int:
    """Say what the journal of a directory adds up to, and return the exit code of its verdicts.

    Raises:
        JournalError: the journal cannot be read.
        UsageError: there is none.
    """
    journal = Journal(directory)
    if not journal.path.exists():
        raise UsageError(f"{journal.path} is not there: nothing was hunted in {directory}")
    hunted = journal.read()
    told = tally(hunted)
    if console.as_json:
        console.answer_json(asdict(told))
    else:
        console.answer("\n".join(told.lines()))
    return exit_code((one.counted, None) for one in hunted)
