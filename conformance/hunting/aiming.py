"""Which schedule shows that a rule is as the model says? They are looked for while a hunt runs.

Chance alone meets most rules only after hundreds of schedules: what they decide is over in half a step, and seldom
measured. A model is faster than brokers, so many more schedules are looked at than are run, in two ways.

The states of the explorer's model are searched breadth first, and in each it is asked which rule, swapped, would lead
elsewhere. From where it would, both go on side by side until something differs that can be measured. The way there is
written as a schedule, with a checkpoint after every step, and counts if its prediction tells the two apart.

Some rules are read by no event of that model. So schedules are drawn, too, as a hunt draws them, and of those the ones
are kept that hold brokers to a rule which few of those before do.
"""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from dataclasses import dataclass, replace
from itertools import islice, repeat
from multiprocessing import get_context
from random import Random
from typing import TYPE_CHECKING, Self

from conformance.hunting.growing import BLOCK, NothingGrownError, grow, has_steps
from conformance.hunting.legal_steps import REQUIREMENT, DroppedError, retaken
from conformance.hunting.rules_at_work import rules_held, told_by, watching
from oracle.brokers.model import Brokers
from oracle.brokers.path_to_schedule import to_steps
from oracle.brokers.questions import SearchBounds
from oracle.brokers.reductions import advanced
from oracle.rules.by_version import one_rule_apart, rules_for
from oracle.schedule import TopicSettings
from oracle.steps.frames import Hold
from oracle.steps.step import ScheduleError
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection
    from types import TracebackType

    from oracle.brokers.model import BrokerAction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.state import PartitionState
    from oracle.steps.step import Step

    Way = tuple[tuple[BrokerAction, PartitionState], ...]

SAFE, UNCLEAN = TopicSettings(2), TopicSettings(unclean_leader_election=True)
SEARCHED: tuple[tuple[SearchBounds, int], ...] = (
    (SearchBounds(2, 1, 2), 1500),
    (SearchBounds(2, 2, 3, power_failure=True), 3000),
    (SearchBounds(2, 2, 3, acks=Acks.LEADER, power_failure=True, settings=UNCLEAN), 3000),
    (SearchBounds(3, 1, 2, power_failure=True), 3000),
    (SearchBounds(3, 2, 2, settings=SAFE), 3000),
    (SearchBounds(3, 2, 3, acks=Acks.LEADER), 4000),
    (SearchBounds(2, 2, 3, stops=True), 3000),
)
"""What is searched, and up to how many states."""
PLACES_MAX = 30
"""In so many places a rule is looked at in one search."""
PAIRS_MAX = 1500
"""So many pairs of states are looked at to find a difference that can be measured."""
NICENESS = 5
"""Brokers that run meanwhile come first."""
WRITTEN_MAX = 80
"""So many ways are written as schedules until one tells a rule."""


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


def telling(rules: RuleSet, others: Mapping[str, RuleSet]) -> dict[str, Schedule]:
    """Return the nearest schedule that tells rules from others, by the name of each for which one is found.

    Args:
        rules: the release's.
        others: the rule sets that differ from them in one rule, by its name.
    """
    found: dict[str, Schedule] = {}
    for more in searched(rules, others):
        found |= more
    return found


def searched(rules: RuleSet, others: Mapping[str, RuleSet]) -> Iterator[dict[str, Schedule]]:
    """Yield what ``telling`` returns search by search; what one has found none after it looks for."""
    missing = dict(others)
    for bounds, states_max in SEARCHED:
        if not missing:
            return
        search = _RuleSearch(rules, missing, bounds, states_max)
        written = {name: search.schedule(name) for name in search.places}
        found = {name: schedule for name, schedule in written.items() if schedule is not None}
        missing = {name: other for name, other in missing.items() if name not in found}
        yield found


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a rule would lead elsewhere.

    Attributes:
        way: the way there, with the action that the rule decides.
        other: the state that the rule, swapped, leads to.
    """

    way: Way
    other: PartitionState


class _RuleSearch:
    """The states of one partition within its bounds, and where a rule decides in them.

    Attributes:
        places: where each rule decides, by its name, nearest first.
    """

    def __init__(self, rules: RuleSet, others: Mapping[str, RuleSet], bounds: SearchBounds, states_max: int) -> None:
        self._rules, self._others, self._bounds = rules, others, bounds
        self._watched = watching(rules, others)
        self._model = Brokers(self._watched, bounds)
        self.places: dict[str, list[_Place]] = {}
        self._search(states_max)

    def _search(self, states_max: int) -> None:
        (start,) = self._model.initial_states()
        ways: dict[tuple[int, ...], Way] = {self._model.key(start): ()}
        queue = deque([start])
        while queue and len(ways) < states_max:
            state = queue.popleft()
            way = ways[self._model.key(state)]
            for action in self._model.possible(state):
                after = self._decided(way, state, action)
                key = self._model.key(after)
                if key not in ways and self._model.is_within_bounds(after):
                    ways[key] = (*way, (action, after))
                    queue.append(after)

    def _decided(self, way: Way, state: PartitionState, action: BrokerAction) -> PartitionState:
        """Return the state after an action, and note the rules that would have led elsewhere."""
        self._watched.at_work.clear()
        after = advanced(state, action.events, self._watched, self._bounds)
        for name in list(self._watched.at_work):
            places = self.places.setdefault(name, [])
            other = self._otherwise(name, state, action) if len(places) < PLACES_MAX else None
            if other is not None and other != after:
                places.append(_Place((*way, (action, after)), other))
        return after

    def _otherwise(self, name: str, state: PartitionState, action: BrokerAction) -> PartitionState | None:
        """Return the state after an action with a rule swapped; None if the rules contradict themselves then."""
        try:
            return advanced(state, action.events, self._others[name], self._bounds)
        except AssertionError:
            return None

    def schedule(self, name: str) -> Schedule | None:
        """Return a schedule that tells a rule, of those that were written first; None if none does."""
        other = self._others[name]
        for _, way in zip(range(WRITTEN_MAX), self._measurable(name), strict=False):
            schedule = self._written(name, way)
            if schedule is not None and told_by(schedule, self._rules, other):
                return schedule
        return None

    def _measurable(self, name: str) -> Iterator[Way]:
        """Yield the ways to where something differs that can be measured, nearest first."""
        other = Brokers(self._others[name], self._bounds)
        queue = deque((place.way, place.other) for place in self.places[name])
        known = {(self._model.key(way[-1][1]), other.key(state)) for way, state in queue}
        while queue:
            way, state = queue.popleft()
            own = way[-1][1]
            if _seen(own) != _seen(state):
                yield way
                continue
            for action, after, against in self._together(own, state, name, other):
                pair = self._model.key(after), other.key(against)
                if pair not in known and len(known) < PAIRS_MAX and pair[0] != pair[1]:
                    known.add(pair)
                    queue.append(((*way, (action, after)), against))

    def _together(
        self, own: PartitionState, state: PartitionState, name: str, other: Brokers
    ) -> Iterator[tuple[BrokerAction, PartitionState, PartitionState]]:
        """Yield each action that is possible in both states, with what it leads to in each."""
        if not self._model.is_within_bounds(own):
            return
        possible = set(map(str, other.possible(state)))
        for action in self._model.possible(own):
            against = self._otherwise(name, state, action) if str(action) in possible else None
            if against is not None:
                yield action, advanced(own, action.events, self._watched, self._bounds), against

    def _written(self, name: str, way: Way) -> Schedule | None:
        """Return a way as a schedule with a checkpoint after every step; None if it cannot be brought to an end."""
        frame = replace(
            self._model.empty_schedule(),
            id=f"hunt/{name}",
            requirement=REQUIREMENT,
        )
        steps: list[Step] = []
        for step in to_steps(way, frame, self._rules):
            is_quiet = isinstance(step, Hold)
            steps += [step] if is_quiet else [step, Checkpoint(f"after step {len(steps) + 1}")]
        try:
            return retaken(replace(frame, steps=tuple(steps)), self._rules)
        except (DroppedError, ScheduleError):
            return None


def _seen(state: PartitionState) -> object:
    """Return what can be measured of a partition."""
    controller = state.controller
    numbers = tuple((one.log.log_end_offset, one.high_watermark, one.alive) for one in state.replicas)
    return controller.leader, sorted(controller.isr), sorted(controller.elr), numbers


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
