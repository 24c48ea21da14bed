"""Which schedules does a hunt run on a line, and in which order?

Blocks of schedules, each on one kind of cluster, if it is drawn. Of three blocks one is, and the others are aimed at
rules while there are aims. A number always stands for the same schedule; while its aims are looked for others come
first.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from conformance.hunting.deciding import RuleDecision
from conformance.hunting.growing import BLOCK, NothingGrownError, grow
from conformance.hunting.lane import HuntLane, NumberedSchedule
from conformance.run_options import RunOptions
from oracle.predict import predict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from conformance.hunting.aiming import AimedInBackground
    from conformance.hunting.growing import GrowthCount
    from conformance.hunting.journal import HuntedSchedule, Journal
    from conformance.line import Line

DRAWN_EVERY = 3
"""The first of so many blocks is drawn; the others are aimed at rules."""


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
        is_guided: schedules are aimed at rules, too, and what is drawn prefers decisions of rules that were not met.
        met: the decisions that were met before the hunt.
        lanes: how many clusters run side by side.
        patterns: what the words of steps are to match: each schedule has a step for each of them.
        transaction_version: that clusters of a hunt for scripts of transactions have; None for that of new clusters.
    """

    kafka: str
    directory: Path
    schedules: int | None = None
    seconds: float | None = None
    options: RunOptions = field(default_factory=RunOptions)
    is_dry: bool = False
    until_found: bool = False
    is_guided: bool = True
    met: frozenset[RuleDecision] = frozenset()
    lanes: int = 1
    patterns: tuple[str, ...] = ()
    transaction_version: int | None = None


class DrawnDecisions:
    """What the schedules of drawn blocks have met, by their numbers.

    Args:
        asked: what is hunted.
        done: the schedules that have their verdict.
    """

    def __init__(self, asked: HuntRequest, done: Mapping[int, HuntedSchedule]) -> None:
        self._asked = asked
        self._brought = {
            number: frozenset(map(RuleDecision.named, one.brings)) for number, one in done.items() if _is_drawn(number)
        }

    def before(self, number: int) -> frozenset[RuleDecision] | None:
        """Return what was met before the schedule of a number; None if it does not matter."""
        if not self._asked.is_guided:
            return None
        return self._asked.met.union(*(brought for other, brought in self._brought.items() if other < number))

    def add(self, number: int, brings: frozenset[RuleDecision]) -> None:
        """Note what a schedule brings, if it is one of a drawn block."""
        if _is_drawn(number):
            self._brought[number] = brings


@dataclass(frozen=True, slots=True)
class LineHunt:
    """A hunt on one line."""

    asked: HuntRequest
    journal: Journal
    line: Line
    seed: int
    tally: GrowthCount
    aims: AimedInBackground
    guide: DrawnDecisions
    began: float = field(default_factory=time.monotonic)

    @property
    def lane(self) -> HuntLane:
        """Return what runs the blocks."""
        ends = None if self.asked.seconds is None else self.began + self.asked.seconds
        return HuntLane(self.line, self.seed, self.asked.directory, ends)

    def blocks(self) -> Iterator[tuple[NumberedSchedule, ...]]:
        """Yield what is to be run, a cluster's schedules at a time, until there were enough or the time is over."""
        for numbers in self._numbers():
            if block := tuple(one for number in numbers if (one := self._schedule(number)) is not None):
                yield block

    def _numbers(self) -> Iterator[list[int]]:
        """Yield the numbers of blocks; one whose aims are still searched comes later."""
        numbers = self._numbers_in_order()
        waiting: deque[list[int]] = deque()
        is_over = self.lane.is_over
        while not is_over():
            block = None if waiting and self._is_ready(waiting[0]) else next(numbers, None)
            if block is None and not waiting:
                return
            if block is None:
                yield waiting.popleft()
            elif self._is_ready(block):
                yield block
            else:
                waiting.append(block)

    def _is_ready(self, numbers: list[int]) -> bool:
        """Return whether a block can be run: a drawn one, or one whose aims are known."""
        return _is_drawn(numbers[-1]) or self.aims.are_known(_index_of_aim(numbers[-1]) + 1)

    def _numbers_in_order(self) -> Iterator[list[int]]:
        """Yield the numbers that have no verdict, block by block, as many as were asked for."""
        done, left = self.journal.hunted(self.line.text, self.seed, self.line.rules_of), self.asked.schedules
        for block in count():
            numbers = [number for number in range(block * BLOCK, (block + 1) * BLOCK) if number not in done][:left]
            left = None if left is None else left - len(numbers)
            if numbers:
                yield numbers
            if left == 0:
                return

    def _schedule(self, number: int) -> NumberedSchedule | None:
        """Return the schedule of a number: of three blocks one is drawn, the others are aimed while there are aims."""
        aim = None if _is_drawn(number) else self.aims.at(_index_of_aim(number))
        if aim is not None:
            schedule = replace(aim.schedule, id=f"hunt/{self.seed}-{number}")
            return NumberedSchedule(number, schedule, bool(predict(schedule, self.line.rules).unregistrable))
        try:
            met = self.guide.before(number)
            grown = grow(self.line.rules, str(self.seed), number, self.tally, self.asked.patterns, met)
        except NothingGrownError:
            return None
        self.guide.add(number, grown.brings)
        return NumberedSchedule(number, grown.schedule, bool(grown.prediction.unregistrable), grown.brings)


def _index_of_aim(number: int) -> int:
    """Return which aim the schedule of a number in an aimed block is."""
    block, place = divmod(number, BLOCK)
    drawn = (block + DRAWN_EVERY - 1) // DRAWN_EVERY
    return (block - drawn) * BLOCK + place


def _is_drawn(number: int) -> bool:
    return (number // BLOCK) % DRAWN_EVERY == 0
