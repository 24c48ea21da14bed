"""Which schedule shows that a rule is as the model says? The explorer's model is searched for one.

Its states are searched breadth first, and in each it is asked which rule, swapped, would lead elsewhere. From where it
would, both go on side by side until something differs that can be measured. The way there is written as a schedule,
with a checkpoint after every step, and counts if its prediction tells the two apart.

The search is bounded, and some rules are read by no event of that model.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.hunting.legal_steps import REQUIREMENT, DroppedError, retaken
from conformance.hunting.rules_at_work import told_by, watching
from oracle.brokers.model import Brokers
from oracle.brokers.path_to_schedule import to_steps
from oracle.brokers.questions import SearchBounds
from oracle.brokers.reductions import advanced
from oracle.schedule import TopicSettings
from oracle.steps.frames import Hold
from oracle.steps.step import ScheduleError
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
WRITTEN_MAX = 80
"""So many ways are written as schedules until one tells a rule."""


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
