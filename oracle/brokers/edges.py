"""Which edges does a release's model have within some bounds? Every state, every action in it, and where that leads.

An edge is known by its id: a digest of its source state and its action, the same in every process and on every
machine, whatever the release. States are those of the search (``model.Brokers``), told apart by its exact keys. An edge
that leads beyond the bounds counts; nothing is searched from its target on.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING

from oracle.brokers.model import Brokers, mover
from oracle.brokers.path_to_schedule import frame_of, step_of
from oracle.brokers.reductions import advanced, key_parts
from oracle.events import JoinCommitted, JoinRefused, LateFetchReceived
from oracle.predicting.comparing import StateChange
from oracle.vocabulary import PointName
from oracle.world import World

if TYPE_CHECKING:
    from oracle.brokers.model import BrokerAction
    from oracle.brokers.questions import SearchBounds
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState

ID_DIGITS = 12
"""Hexadecimal digits of an id: 48 bits, for graphs of some thousand edges."""
RELEASE, RELEASE_LATE = "release", "release late"
"""The word of the step that lets a frame go."""


@dataclass(frozen=True, slots=True)
class BrokerEdge:
    """An action that the rules allow in a state.

    Attributes:
        id: digest of the source state and the action.
        source: number of the state in which it happens.
        action: what happens.
        target: number of the state that it leads to.
        step: the word of the step that makes it happen: ``produce``, ``kill``, ``stop``, ``start``, ``lose_tail``, or
            ``release`` where a frame passes, ``release late`` where its sender has died.
        point: where that frame passes; None for other steps.
    """

    id: str
    source: int
    action: BrokerAction
    target: int
    step: str
    point: PointName | None = None


class EdgeGraph:
    """The states and the edges of one release's model within its bounds, in the order of a breadth first search.

    Attributes:
        model: the model.
        states: every state; the first is the partition right after its creation.
        edges: every edge, source by source.
        inner: how many of the states are within the bounds.
    """

    def __init__(self, rules: RuleSet, bounds: SearchBounds) -> None:
        self.model = Brokers(rules, bounds)
        self.states: list[PartitionState] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._edges_from: dict[int, dict[BrokerAction, BrokerEdge]] = {}
        (first,) = self.model.initial_states()
        self._found(first)
        for number, state in enumerate(self.states):
            if self.model.is_within_bounds(state):
                self._edges_from[number] = {edge.action: edge for edge in self._leaving(number, state)}
        self.edges = tuple(edge for leaving in self._edges_from.values() for edge in leaving.values())
        self.inner = len(self._edges_from)
        assert len({edge.id for edge in self.edges}) == len(self.edges), "two edges have one id: take more digits"

    def number(self, state: PartitionState) -> int | None:
        """Return the number of a state, or None if the graph has no such state."""
        return self._numbers.get(self.model.key(state))

    def edge(self, source: int, action: BrokerAction) -> BrokerEdge | None:
        """Return the edge of an action in a state of the graph; None beyond the bounds and for no action of it."""
        return self._edges_from.get(source, {}).get(action)

    def edges_from(self, source: int) -> tuple[BrokerEdge, ...]:
        """Return the edges that leave a state."""
        return tuple(self._edges_from.get(source, {}).values())

    def rules_of(self, edge: BrokerEdge) -> tuple[str, ...]:
        """Return the names of the rules behind what an edge changes, in the order of their causes; may be none."""
        source = self.states[edge.source]
        after = advanced(source, edge.action.events, self.model.rules, self.model.bounds)  # the target has any history
        changes = StateChange(0, "", edge.action.cause, self._world(source), self._world(after)).changes()
        return tuple(dict.fromkeys(change.rule.name for change in changes if change.rule is not None))

    def _found(self, state: PartitionState) -> int:
        number = self._numbers.setdefault(self.model.key(state), len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def _leaving(self, number: int, state: PartitionState) -> list[BrokerEdge]:
        source = state_text(state)
        return [
            BrokerEdge(
                _digest(f"{source} {text(action.events)}"), number, action, self._found(after), *_step(action, state)
            )
            for action, after in self.model.actions(state)
        ]

    def _world(self, state: PartitionState) -> World:
        model = self.model
        return World(state, model.rules, model.bounds.checkpointing, model.brokers())


def state_text(state: PartitionState) -> str:
    """Return all that a state's key keeps, as text: two states have one text exactly if they have one key."""
    return text(tuple(key_parts(state)))


def text(part: object) -> str:
    """Return a value as text that depends on the value alone, not on the order in which a process walks a set."""
    if isinstance(part, frozenset):
        return f"{{{','.join(sorted(map(text, part)))}}}"
    if isinstance(part, tuple):
        return f"({','.join(map(text, part))})"
    if isinstance(part, Enum):
        return str(part.value)
    if is_dataclass(part):
        named = (f"{one.name}={text(getattr(part, one.name))}" for one in fields(part))
        return f"{type(part).__name__}({','.join(named)})"
    return repr(part)


def _digest(words: str) -> str:
    return sha256(words.encode()).hexdigest()[:ID_DIGITS]


def _step(action: BrokerAction, state: PartitionState) -> tuple[str, PointName | None]:
    """Return the word of the last step that an action takes, and where the frame passes that it lets go."""
    steps = [step for event in action.events if (step := step_of(event)) is not None]
    if steps:
        return steps[-1].word, None
    if isinstance(action.cause, JoinCommitted | JoinRefused):
        return RELEASE, PointName.ALTER_PARTITION_REQUEST
    if isinstance(action.cause, LateFetchReceived):
        return RELEASE_LATE, PointName.FETCH_REQUEST
    follower = mover(action)
    assert follower is not None, "what is no step moves a link"
    fetch = state.replica(follower).fetch
    assert fetch is not None, "a link that moves has a request under way"
    return RELEASE, frame_of(follower, fetch).point
