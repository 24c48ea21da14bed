"""How are ISR changes that a controller commits later kept safe? Module AsyncIsr (KIP-497), which stands alone.

One leader for ever, no log contents, only end offsets. The leader asks the controller to change the ISR, and until
it hears of the next version it counts the maximal ISR: the committed members and every one it has asked for. Requests
and updates are never lost. Nothing in the module bounds offsets or versions, so a state is expanded only while the
leader's log end offset is at most the log size and the controller's version at most ``epochs``; ``records`` is unused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from oracle.explorer.factored import Bound, Check, Factored, Field, JointAction, SpecAction, Veto
from oracle.rules import isr
from oracle.vocabulary import BrokerId, Offset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.published.module import Constants
    from oracle.published.parts import Isr

NAME = "AsyncIsr"
VALID_HIGH_WATERMARK = "ValidHighWatermark"
LEADER = BrokerId(1)
CONTROLLER, LEADER_STATE, REQUESTS, OFFSETS = range(4)
LEADER_OFFSET = LEADER - 1

Requests: TypeAlias = frozenset["IsrAt"]
Offsets: TypeAlias = tuple[Offset, ...]
Counted: TypeAlias = "Callable[[LeaderState], Isr]"


@dataclass(frozen=True, slots=True)
class IsrAt:
    """An ISR and its version: what a leader asks for, and what the controller tells it."""

    isr: Isr
    version: int


@dataclass(frozen=True, slots=True)
class ControllerState:
    """Every ISR the controller has written, each with its version; the last one is committed."""

    written: tuple[IsrAt, ...]

    @property
    def committed(self) -> IsrAt:
        """The ISR in force."""
        return self.written[-1]

    def write(self, isr: Isr) -> ControllerState:
        """Return the controller after its next write."""
        return ControllerState((*self.written, IsrAt(isr, self.committed.version + 1)))


@dataclass(frozen=True, slots=True)
class LeaderState:
    """What the leader knows: the ISR it has heard of, and the members it has asked for since."""

    known: IsrAt
    pending: Isr = frozenset()
    pending_version: int | None = None

    def ask(self, isr: Isr) -> LeaderState:
        """Return the leader after it has asked for an ISR."""
        return replace(self, pending=self.pending | isr, pending_version=self.known.version)


def maximal_isr(leader: LeaderState) -> Isr:
    """Return the members that hold the high watermark back: the known ones, and those asked for (KIP-497)."""
    return leader.known.isr | leader.pending


def known_isr(leader: LeaderState) -> Isr:
    """Return the known members only: what the rule replaces."""
    return leader.known.isr


def high_watermark(counted: Isr, offsets: Offsets) -> Offset:
    """Return the lowest log end offset of the members that count."""
    return min(offsets[broker - 1] for broker in counted)


def controller_shrinks_isr(controller: ControllerState) -> Iterator[tuple[ControllerState]]:
    """Drop a member, without being asked."""
    for broker in sorted(controller.committed.isr - {LEADER}):
        yield (controller.write(controller.committed.isr - {broker}),)


def controller_grants(controller: ControllerState, requests: Requests) -> Iterator[tuple[ControllerState, Requests]]:
    """Commit what the leader asks for, if it knows the version in force."""
    for request in sorted(requests, key=lambda one: sorted(one.isr)):
        if request.version == controller.committed.version:
            yield controller.write(request.isr), requests


def leader_asks_to_shrink(leader: LeaderState, requests: Requests) -> Iterator[tuple[LeaderState, Requests]]:
    """Ask to drop a member."""
    for broker in sorted(leader.known.isr - {LEADER}):
        wanted = IsrAt(leader.known.isr - {broker}, leader.known.version)
        yield leader.ask(wanted.isr), requests | {wanted}


def leader_hears(controller: ControllerState, leader: LeaderState) -> Iterator[tuple[ControllerState, LeaderState]]:
    """Take over any newer ISR that the controller has written."""
    for update in controller.written:
        if update.version > leader.known.version:
            yield controller, LeaderState(update)


def leader_writes(offsets: Offsets) -> Iterator[tuple[Offsets]]:
    """Append a record."""
    yield (_advanced(offsets, LEADER_OFFSET),)


def followers_fetch(offsets: Offsets) -> Iterator[tuple[Offsets]]:
    """Copy the next record to a follower."""
    for number, offset in enumerate(offsets):
        if offset < offsets[LEADER_OFFSET]:
            yield (_advanced(offsets, number),)


def _advanced(offsets: Offsets, number: int) -> Offsets:
    return (*offsets[:number], Offset(offsets[number] + 1), *offsets[number + 1 :])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A replica that the leader may ask to add, if it has reached the high watermark."""

    broker: BrokerId
    counted: Counted

    def is_outside(self, leader: LeaderState) -> bool:
        """Return whether the replica is not a known member."""
        return self.broker not in leader.known.isr

    def joins(self, leader: LeaderState, requests: Requests) -> Iterator[tuple[LeaderState, Requests]]:
        """Ask to add the replica."""
        wanted = IsrAt(leader.known.isr | {self.broker}, leader.known.version)
        yield leader.ask(wanted.isr), requests | {wanted}

    def is_behind(self, leader: LeaderState, offsets: Offsets) -> bool:
        """Return whether the replica must not join yet, by the rule that predicts brokers."""
        reached = high_watermark(self.counted(leader), offsets)
        return not isr.joins_at_high_watermark(offsets[self.broker - 1], reached, Offset(0))

    def asks_to_expand(self) -> JointAction:
        """Return the leader's wish to add the replica, and what forbids it."""
        reads = (LEADER_STATE, REQUESTS)
        wish = SpecAction("LeaderRequestExpandIsr", f"broker {self.broker}", reads, self.joins, (self.is_outside, None))
        return JointAction(wish, (Veto((LEADER_STATE, OFFSETS), self.is_behind),))


def exposes_too_much(counted: Counted, controller: ControllerState, leader: LeaderState, offsets: Offsets) -> bool:
    """Break ValidHighWatermark: a member in force has not reached the leader's high watermark."""
    reached = high_watermark(counted(leader), offsets)
    return any(offsets[broker - 1] < reached for broker in controller.committed.isr)


def async_isr(constants: Constants, name: str = NAME, counted: Counted = maximal_isr) -> Factored:
    """Return the module as a model; ``counted`` says which members hold the high watermark back."""
    everyone = IsrAt(frozenset(constants.brokers), 0)
    candidates = [Candidate(broker, counted) for broker in constants.brokers if broker != LEADER]
    reads = (CONTROLLER, LEADER_STATE, OFFSETS)
    return Factored(
        name=name,
        fields=(
            Field("controller", constants.part_bits, ControllerState((everyone,))),
            Field("leader", constants.part_bits, LeaderState(everyone)),
            Field("requests", constants.part_bits, frozenset()),
            Field("offsets", constants.part_bits, tuple(Offset(0) for _ in constants.brokers)),
        ),
        actions=(
            SpecAction("ControllerShrinkIsr", "", (CONTROLLER,), controller_shrinks_isr),
            SpecAction("ControllerHandleRequest", "", (CONTROLLER, REQUESTS), controller_grants),
            SpecAction("LeaderRequestShrinkIsr", "", (LEADER_STATE, REQUESTS), leader_asks_to_shrink),
            SpecAction("LeaderWrite", "", (OFFSETS,), leader_writes),
            SpecAction("LeaderHandleUpdate", "", (CONTROLLER, LEADER_STATE), leader_hears),
            SpecAction("FollowerReplicate", "", (OFFSETS,), followers_fetch),
        ),
        joint_actions=tuple(candidate.asks_to_expand() for candidate in candidates),
        checks=(Check(VALID_HIGH_WATERMARK, reads, partial(exposes_too_much, counted)),),
        groups=(frozenset({CONTROLLER, REQUESTS}), frozenset({LEADER_STATE, REQUESTS}), frozenset(reads)),
        bounds=(
            Bound((CONTROLLER,), lambda controller: controller.committed.version <= constants.epochs),
            Bound((OFFSETS,), lambda offsets: offsets[LEADER_OFFSET] <= constants.log_size),
        ),
    )
