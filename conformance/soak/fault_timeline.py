"""Which faults come when in a soak? Drawn from a seed: the same seed gives the same timeline, on any machine.

One harm comes at a time: the next is due when the one before is taken back, and waits until every replica is in sync
again. So where acks=all is asked for, elections are clean and a topic has min.insync.replicas below its replicas,
nothing that was acknowledged may be lost. Timelines that provoke losses are drawn from other kinds. Kinds come from
shuffled decks, so that each comes once in a deck at least; the first of all is that which a short soak should have, and
one that would not be mended by the end lets the next pass that is. So a longer timeline begins as the shorter one of
the same seed, until near the end of that.

Python promises the same numbers to later releases for ``Random.random`` alone: everything is drawn by that.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.record.soak_faults import CutBy, FaultKind, FaultTimeline, HeldFrame, PlannedFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

T = TypeVar("T")

EVERY_S = 10.0
FIRST_S = 4.0
"""Load runs for so long before the first fault."""
JITTER_S = 2.0
ROLLED_S = 12.0
"""So long it takes until a broker that is rolled is stopped, started and in sync."""

_K = FaultKind
HARMLESS: Mapping[FaultKind, int] = {
    _K.KILL: 4,
    _K.FREEZE: 3,
    _K.CUT: 3,
    _K.HOLD: 3,
    _K.STOP: 2,
    _K.ELECTION: 2,
    _K.ISOLATE: 1,
    _K.ROLL: 1,
}
PROVOKING: Mapping[FaultKind, int] = {
    _K.SECOND_LEADER: 4,
    _K.KILL_AHEAD: 2,
    _K.KILL_LEADERS: 2,
    _K.ELECTION: 2,
    _K.KILL: 1,
}
"""How often each kind is in a deck; the first is the one that a short soak should have."""

LASTS_S: Mapping[FaultKind, tuple[float, float]] = {
    _K.KILL: (0.5, 6.0),
    _K.STOP: (0.5, 6.0),
    _K.FREEZE: (0.5, 6.0),
    _K.ISOLATE: (2.0, 6.0),
    _K.CUT: (1.0, 8.0),
    _K.HOLD: (0.5, 5.0),
    _K.ROLL: (0.5, 2.0),
    _K.ELECTION: (0.0, 0.0),
    _K.KILL_AHEAD: (0.3, 1.5),
    _K.KILL_LEADERS: (1.0, 4.0),
    _K.SECOND_LEADER: (1.0, 4.0),
}
"""How long each kind lasts, in seconds. A frozen broker keeps its session for 2 s: some freezes nobody notices."""
MENDS_S: Mapping[FaultKind, float] = {
    _K.KILL: 10.0,
    _K.STOP: 10.0,
    _K.FREEZE: 5.0,
    _K.ISOLATE: 6.0,
    _K.CUT: 3.0,
    _K.HOLD: 2.0,
    _K.ROLL: 5.0,
    _K.ELECTION: 2.0,
    _K.KILL_AHEAD: 12.0,
    _K.KILL_LEADERS: 15.0,
    _K.SECOND_LEADER: 25.0,
}
"""How long after it every replica is in sync again, in seconds, on a machine that is not busy."""


@dataclass(frozen=True, slots=True)
class SoakShape:
    """What faults are drawn for.

    Attributes:
        brokers: the ids of those that have replicas.
        partitions: how many the topic has.
        replicas: how many each of them has.
    """

    brokers: tuple[int, ...]
    partitions: int
    replicas: int

    def has_room_for(self, kind: FaultKind) -> bool:
        """Return whether a fault of a kind can come at all: links need a follower, leaders in turn need three."""
        if kind in (_K.SECOND_LEADER, _K.KILL_LEADERS):
            return self.replicas >= 3
        if kind in (_K.CUT, _K.HOLD, _K.KILL_AHEAD):
            return self.replicas >= 2
        return kind is not _K.ISOLATE or len(self.brokers) >= 2


def drawn(
    seed: int, duration_s: float, shape: SoakShape, *, every_s: float = EVERY_S, is_provoking: bool = False
) -> FaultTimeline:
    """Draw the faults of a soak.

    Args:
        seed: any number.
        duration_s: how long load runs, in seconds; the last fault is over, and mended, by then.
        shape: what they are for.
        every_s: the time from one fault to the next, in seconds, if the first is taken back by then.
        is_provoking: whether to draw those that provoke losses.
    """
    deck = {one: many for one, many in (PROVOKING if is_provoking else HARMLESS).items() if shape.has_room_for(one)}
    faults: list[PlannedFault] = []
    at_s, decks, kinds = FIRST_S, _decks(seed, deck), list[FaultKind]()
    while True:
        if len(kinds) < sum(deck.values()):
            kinds += next(decks)
        choices = (_fault(kind, at_s, shape, _Dice(f"{seed}/fault {len(faults)}")) for kind in kinds)
        fault = next((one for one in choices if one.at_s + lasts_s(one, shape) <= duration_s), None)
        if fault is None:
            return FaultTimeline(tuple(faults), seed, is_provoking)
        kinds.remove(fault.kind)
        faults.append(fault)
        at_s += max(every_s, stands_s(fault, shape) + JITTER_S)


def lasts_s(fault: PlannedFault, shape: SoakShape) -> float:
    """Return how long a fault lasts until everything is mended, in seconds, on a machine that is not busy."""
    return stands_s(fault, shape) + MENDS_S[fault.kind]


def stands_s(fault: PlannedFault, shape: SoakShape) -> float:
    """Return how long it takes until a fault is taken back, in seconds."""
    times, each_s = (len(shape.brokers), ROLLED_S) if fault.kind is _K.ROLL else (1, 0.0)
    if fault.kind is _K.KILL_AHEAD:
        times = 2
    return times * (fault.for_s + each_s)


def _decks(seed: int, deck: Mapping[FaultKind, int]) -> Iterator[list[FaultKind]]:
    """Yield shuffled decks of kinds; the first one of all is the first that the deck names."""
    first = next(iter(deck))
    for number in count():
        kinds = _Dice(f"{seed}/deck {number}").shuffled([kind for kind, many in deck.items() for _ in range(many)])
        if number == 0:
            kinds.remove(first)
            kinds.insert(0, first)
        yield kinds


class _Dice:
    """Draws by ``Random.random`` alone."""

    def __init__(self, seed: str) -> None:
        self._throw = Random(seed).random  # noqa: S311 - it is to be drawn again

    def between(self, least: float, greatest: float) -> float:
        return round(least + self._throw() * (greatest - least), 1)

    def one_of(self, items: Sequence[T]) -> T:
        return items[int(self._throw() * len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return [one for _, one in sorted(((self._throw(), one) for one in items), key=lambda pair: pair[0])]


def _fault(kind: FaultKind, after_s: float, shape: SoakShape, dice: _Dice) -> PlannedFault:
    """Draw a fault of a kind by dice of its own: what one throws changes no other."""
    at_s = round(after_s + dice.between(0, JITTER_S), 1)
    for_s = dice.between(*LASTS_S[kind])
    named: dict[str, Any] = {"partition": dice.one_of(range(shape.partitions))}
    match kind:
        case _K.KILL | _K.STOP | _K.FREEZE | _K.ISOLATE:
            named = {"broker": dice.one_of(shape.brokers)}
        case _K.CUT:
            named["by"] = dice.one_of(tuple(CutBy))
        case _K.HOLD:
            named["frame"] = dice.one_of(tuple(HeldFrame))
        case _K.ROLL | _K.ELECTION:
            named = {}
        case _:
            pass
    return PlannedFault(at_s, kind, for_s, **named)
