"""Can the requests of a transactional id have been answered so? Replayed frame by frame, in the order of the wire.

A request has its effect at some moment between its frame and the answer's; a coordinator hears of a marker some time
after that was answered, and may take over, or end what lasts too long, before it has one written. So several worlds are
possible at a time: each frame leaves those that explain it, and the first one that leaves none is refused. Who has
decided an end, or has heard of a marker, may still be writing that down, and says CONCURRENT_TRANSACTIONS then.

What is replayed is `oracle.transactions.leader` and `coordinator`, as predictions and searches have them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from oracle.error_codes import ErrorCode
from oracle.transactions import coordinator as coordinators
from oracle.transactions import leader as leaders
from oracle.transactions.play import PARTITIONS
from oracle.transactions.state import NO_EFFECT, Answer, Coordinator, EndTxn, PartitionLog, TxnPhase, WriteTxnMarker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.state import Request


class FrameWorld(NamedTuple):
    """One state that explains all frames so far.

    Attributes:
        pending: requests that are under way, by the number of their frame.
        done: requests that have had their effect, and what they are answered.
        unheard: markers that were answered, of which the coordinator has not heard.
    """

    coordinator: Coordinator = Coordinator()
    logs: tuple[PartitionLog, ...] = (PartitionLog(),) * (PARTITIONS + 1)
    pending: tuple[tuple[int, Request], ...] = ()
    done: tuple[tuple[int, Answer], ...] = ()
    unheard: tuple[tuple[WriteTxnMarker, Answer], ...] = ()


@dataclass(slots=True)
class FrameReplay:
    """The worlds that explain the frames so far.

    Attributes:
        rules: the release's.
        worlds: at least one, until a frame is refused.
        sent: requests by the number of their frame.
        written: markers that a coordinator has written.
        is_ending: whether the coordinator may still be writing down how a transaction ends.
    """

    rules: TransactionRules
    worlds: frozenset[FrameWorld] = frozenset({FrameWorld()})
    sent: dict[int, Request] = field(default_factory=dict)
    written: set[WriteTxnMarker] = field(default_factory=set)
    is_ending: bool = False

    def marker(self, marker: WriteTxnMarker) -> str | None:
        """Take a marker that a coordinator has sent, wherever it is; return why it cannot be, None if it can."""
        if marker not in self.written:
            worlds = self._that_mark(self._reached(self.worlds), marker)
            if not worlds:
                return f"{marker} is none that the coordinator has to write"
            self.worlds = worlds
            self.written.add(marker)
        return None

    def request(self, number: int, request: Request) -> None:
        """Take a request that goes on to who answers it."""
        self.sent[number] = request
        self.worlds = frozenset(one._replace(pending=(*one.pending, (number, request))) for one in self.worlds)

    def answer(self, number: int, answer: Answer, *, is_heard: bool = True) -> str | None:
        """Take the answer to a request; return why it cannot be, None if it can.

        Args:
            number: of the request's frame.
            answer: what it says; its epoch only where the answer tells one.
            is_heard: whether the sender's connection was still there.
        """
        request = self.sent[number]
        worlds = self._reached(self.worlds)
        left = {
            self._heard(_without(one, number), request, told, is_heard=is_heard)
            for one in worlds
            for known, told in one.done
            if known == number and _agree(told, answer)
        }
        if not left and self._has_no_effect(answer.error):
            left = {_without(one, number) for one in self.worlds if number in dict(one.pending)}
        if not left:
            told = sorted({_said(told) for one in worlds for known, told in one.done if known == number})
            return f"{request} is answered {_said(answer)}; by the rules {' or '.join(told) or 'it is not answered'}"
        self.worlds = frozenset(left)
        if not answer.error:
            self.is_ending = isinstance(request, EndTxn | WriteTxnMarker)
        return None

    def _has_no_effect(self, error: ErrorCode) -> bool:
        return error in NO_EFFECT or (error is ErrorCode.CONCURRENT_TRANSACTIONS and self.is_ending)

    @staticmethod
    def _heard(world: FrameWorld, request: Request, answer: Answer, *, is_heard: bool) -> FrameWorld:
        if isinstance(request, WriteTxnMarker) and is_heard:
            return world._replace(unheard=(*world.unheard, (request, answer)))
        return world

    def _that_mark(self, worlds: frozenset[FrameWorld], marker: WriteTxnMarker) -> frozenset[FrameWorld]:
        """Return the worlds in which the coordinator has a marker written, by itself if need be."""
        by_itself: tuple[Callable[[FrameWorld], FrameWorld | None], ...] = (
            lambda world: world,
            lambda world: _taken_over(world, marker),
            self._timed_out,
        )
        for change in by_itself:
            changed = {one for world in worlds if (one := change(world)) is not None}
            able = frozenset(one for one in changed if marker in coordinators.markers(one.coordinator))
            if able:
                return able
        return frozenset()

    def _timed_out(self, world: FrameWorld) -> FrameWorld | None:
        if world.coordinator.phase is not TxnPhase.ONGOING:
            return None
        return world._replace(coordinator=coordinators.fence(world.coordinator, self.rules))

    def _reached(self, worlds: frozenset[FrameWorld]) -> frozenset[FrameWorld]:
        """Return every world to which requests and answers under way may lead, and those themselves."""
        found, left = set(worlds), list(worlds)
        while left:
            for following in self._following(left.pop()):
                if following not in found:
                    found.add(following)
                    left.append(following)
        return frozenset(found)

    def _following(self, world: FrameWorld) -> Iterator[FrameWorld]:
        for number, request in world.pending:
            coordinator, logs, answer = leaders.delivered(world.coordinator, world.logs, self.rules, request)
            pending = tuple(one for one in world.pending if one[0] != number)
            done = tuple(sorted((*world.done, (number, answer))))
            yield world._replace(coordinator=coordinator, logs=logs, pending=pending, done=done)
        for place, (marker, answer) in enumerate(world.unheard):
            heard = coordinators.marker_answered(world.coordinator, marker, answer)
            is_its_own = marker in coordinators.markers(world.coordinator)
            unheard = (*world.unheard[:place], *world.unheard[place + 1 :])
            yield world._replace(coordinator=heard if is_its_own else world.coordinator, unheard=unheard)


def _without(world: FrameWorld, number: int) -> FrameWorld:
    pending = tuple(one for one in world.pending if one[0] != number)
    return world._replace(pending=pending, done=tuple(one for one in world.done if one[0] != number))


def _taken_over(world: FrameWorld, marker: WriteTxnMarker) -> FrameWorld | None:
    """Let other coordinators take over, up to the one of a marker; what the last one was answered they do not hear."""
    coordinator = world.coordinator
    if marker.coordinator_epoch <= coordinator.coordinator_epoch:
        return None
    while coordinator.coordinator_epoch < marker.coordinator_epoch:
        coordinator = coordinators.fail_over(coordinator)
    return world._replace(coordinator=coordinator, unheard=())


def _agree(told: Answer, answer: Answer) -> bool:
    return told.error == answer.error and answer.epoch in (told.epoch, Answer().epoch)


def _said(answer: Answer) -> str:
    epoch = f" with epoch {answer.epoch}" if answer.epoch != Answer().epoch else ""
    return f"{answer.error.name}{epoch}"
