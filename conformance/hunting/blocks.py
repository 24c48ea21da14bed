"""Which schedules does a hunt run on a line, and in which order?

Blocks of schedules, each on one kind of cluster. Of three blocks one is drawn, and the others are aimed at rules while
there are aims: the first block is drawn, so that the aims are searched meanwhile.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from conformance.hunting.growing import BLOCK, Grown, NothingGrownError, grow, has_steps
from conformance.run_options import RunOptions
from oracle.predict import predict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.hunting.aiming import AimedInBackground
    from conformance.hunting.growing import GrowthCount
    from conformance.hunting.journal import Journal
    from conformance.line import Line

DRAWN_EVERY = 3
"""The first of so many blocks is drawn; the others are aimed at rules."""
RUNS = "runs"


@dataclass(frozen=True, slots=True)
class HuntRequest:
    """What ``hunt`` is asked for.

    Attributes:
        kafka: the releases, one after the other, as ``conformance.catalogue.ladder.lines`` takes them.
        directory: where runs, findings, journal and report go.
        schedules: how many on each release; None for as many as there is time.
        seconds: how long on each release; None for no limit.
        options: how they are run; their seed is that of the schedules, too: None goes on with the last one, or takes
            a new one.
        is_dry: grow and write them, and run none.
        until_found: a release ends with its first difference that comes back each time.
        is_aimed: schedules are aimed at rules, too.
        patterns: what the words of steps are to match: each schedule has a step for each of them.
    """

    kafka: str
    directory: Path
    schedules: int | None = None
    seconds: float | None = None
    options: RunOptions = field(default_factory=RunOptions)
    is_dry: bool = False
    until_found: bool = False
    is_aimed: bool = True
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineHunt:
    """A hunt on one line."""

    asked: HuntRequest
    journal: Journal
    line: Line
    seed: int
    tally: GrowthCount
    aims: AimedInBackground
    began: float = field(default_factory=time.monotonic)

    def blocks(self) -> Iterator[list[Grown]]:
        """Yield what is to be run, a cluster's schedules at a time, until there were enough or the time is over."""
        number = self.journal.next_number(self.line.text, self.seed, self.line.rules_of)
        end = None if self.asked.schedules is None else number + self.asked.schedules
        while (end is None or number < end) and not self.is_over():
            last = (number // BLOCK + 1) * BLOCK
            numbers = range(number, last if end is None else min(last, end))
            yield [grown for one in numbers if (grown := self._grown(one)) is not None]
            number = numbers.stop

    def _grown(self, number: int) -> Grown | None:
        """Return the schedule of a number: of three blocks one is drawn, the others are aimed while there are aims."""
        block, place = divmod(number, BLOCK)
        drawn = (block + DRAWN_EVERY - 1) // DRAWN_EVERY
        aims = self.aims.found() if block % DRAWN_EVERY else ()
        aims = tuple(aim for aim in aims if has_steps(aim.schedule.steps, self.asked.patterns))
        if (index := (block - drawn) * BLOCK + place) < len(aims):
            schedule = replace(aims[index].schedule, id=f"hunt/{self.seed}-{number}")
            return Grown(number, schedule, predict(schedule, self.line.rules))
        try:
            return grow(self.line.rules, str(self.seed), number, self.tally, self.asked.patterns)
        except NothingGrownError:
            return None

    @property
    def runs(self) -> Path:
        """Return the directory that gets the runs."""
        return self.asked.directory / RUNS

    def is_over(self) -> bool:
        """Return whether the time is over."""
        return self.asked.seconds is not None and time.monotonic() - self.began > self.asked.seconds
