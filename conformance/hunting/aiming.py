"""Which schedules hold brokers to rules? They are looked for while a hunt runs.

Chance alone meets most rules only after hundreds of schedules: what they decide is over in half a step, and seldom
measured. A model is faster than brokers, so many more schedules are looked at than are run. The explorer's model is
searched for one to each rule (``rule_search``). And schedules are drawn, as a hunt draws them, of which those are kept
that hold brokers to a rule which few of those before do.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from dataclasses import dataclass
from itertools import islice, repeat
from multiprocessing import get_context
from random import Random
from typing import TYPE_CHECKING, Self

from conformance.hunting.growing import BLOCK, NothingGrownError, grow, has_steps
from conformance.hunting.rule_search import searched
from conformance.hunting.rules_at_work import rules_held
from oracle.rules.by_version import one_rule_apart, rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from types import TracebackType

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule

NICENESS = 5
"""Brokers that run meanwhile come first."""
DRAWN_MAX = 600
"""So many schedules are drawn in all."""
DRAWN_IN_TURN = 20
"""So many are drawn between two searches of the explorer's model."""
HELD_ENOUGH = 2
"""A rule that so many schedules hold brokers to is wanted no more."""


@dataclass(frozen=True, slots=True)
class Aimed:
    """A schedule that holds brokers to rules that were wanted.

    Attributes:
        held: the rules.
    """

    schedule: Schedule
    held: frozenset[str]


def aims(rules: RuleSet, seed: str) -> Iterator[Aimed]:
    """Yield schedules in the order in which a hunt runs them: by turns searched and drawn, then drawn alone.

    Args:
        rules: the release's.
        seed: of the hunt; it decides the order of what was found in one search, and what is drawn.
    """
    wanted = _Wanted(rules)
    drawn = map(wanted.drawn_one, repeat(f"{seed}/aims"), range(DRAWN_MAX))
    chance = Random(f"{seed}/aims")  # noqa: S311 - chance that can be repeated is what is wanted
    for found in searched(rules, wanted.others):
        names = sorted(found)
        chance.shuffle(names)
        yield from filter(None, (wanted.aimed(found[name]) for name in names))
        yield from filter(None, islice(drawn, DRAWN_IN_TURN))
    yield from filter(None, drawn)


class _Wanted:
    """Which rules do few schedules hold brokers to so far?"""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self.others = one_rule_apart(rules)
        self._held: Counter[str] = Counter()

    def aimed(self, schedule: Schedule) -> Aimed | None:
        """Return a schedule if it holds brokers to a rule that is wanted."""
        wanted = {name: other for name, other in self.others.items() if self._held[name] < HELD_ENOUGH}
        held = frozenset(rules_held(schedule, self._rules, wanted))
        self._held.update(held)
        return Aimed(schedule, held) if held else None

    def drawn_one(self, seed: str, number: int) -> Aimed | None:
        """Draw a schedule, and return it if it holds brokers to a rule that is wanted."""
        try:
            return self.aimed(grow(self._rules, seed, number).schedule)
        except NothingGrownError:
            return None


# The search takes minutes of one core: a process of its own does it, while the first schedules are run.


class AimedInBackground:
    """The schedules that are aimed at rules, looked for in a process that ends with its ``with`` block.

    Args:
        rules: the release's.
        seed: of the hunt.
        patterns: what the words of steps are to match: each schedule has a step for each of them.
        is_wanted: False looks for none.
    """

    def __init__(self, rules: RuleSet, seed: str, patterns: Sequence[str] = (), *, is_wanted: bool = True) -> None:
        spawning = get_context("spawn")
        self._receiving, sending = spawning.Pipe(duplex=False)
        arguments = (sending, rules.version, rules.metadata.value, seed, patterns)
        self._process = spawning.Process(target=_send_aimed, args=arguments, daemon=True)
        self._found: list[Aimed] = []
        self._is_over = not is_wanted
        self._sending = sending

    def __enter__(self) -> Self:
        if not self._is_over:
            self._process.start()
        self._sending.close()  # so that the end of the process is the end of the pipe
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.pid is not None:
            self._process.kill()
            self._process.join()

    def are_known(self, count: int) -> bool:
        """Return whether so many were found, or no more will be."""
        while not self._is_over and len(self._found) < count and self._receiving.poll():
            self._receive()
        return self._is_over or len(self._found) >= count

    def at(self, index: int) -> Aimed | None:
        """Return one of them, once it is found; None if the search is over before, or its process has ended."""
        while not self._is_over and len(self._found) <= index:
            self._receive()
        return self._found[index] if index < len(self._found) else None

    def _receive(self) -> None:
        try:
            self._found.extend(self._receiving.recv())
        except EOFError:
            self._is_over = True


def _send_aimed(sending: Connection, version: str, metadata: str, seed: str, patterns: Sequence[str]) -> None:
    """Send a block of schedules after the other, in each those on one kind of cluster together."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    os.nice(NICENESS)
    every = aims(rules_for(version, MetadataMode(metadata)), seed)
    asked = (one for one in every if has_steps(one.schedule.steps, patterns))
    while block := list(islice(asked, BLOCK)):
        sending.send(sorted(block, key=lambda one: (one.schedule.timing, one.schedule.checkpointing)))
