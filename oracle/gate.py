"""Which frames does the gate hold in the model? The n-th match after arming, one frame per hold.

A request hold catches a request on its way to the leader. A response hold marks the request that
reaches the leader and catches the answer to it, with the content the answer had then. Where
several holds match one frame, the oldest catches it and the others wait for the next.

Sources: architecture, "Contract of a step" 3; the rules of the wire gate, which this mirrors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.state import Fetch, FetchKind, FetchStage
from oracle.vocabulary import FROM_CONTROLLER, TO_CONTROLLER, PointName

if TYPE_CHECKING:
    from collections.abc import Collection

    from oracle.steps import Hold
    from oracle.vocabulary import BrokerId

POINTS = {
    PointName.FETCH_REQUEST: (FetchKind.FETCH, FetchStage.REQUESTED),
    PointName.FETCH_RESPONSE: (FetchKind.FETCH, FetchStage.ANSWERED),
    PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST: (FetchKind.EPOCH_LOOKUP, FetchStage.REQUESTED),
    PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE: (FetchKind.EPOCH_LOOKUP, FetchStage.ANSWERED),
}
"""The points on a follower's link to a leader."""

_METADATA_FETCHES = (PointName.CONTROLLER_FETCH_REQUEST, PointName.CONTROLLER_FETCH_RESPONSE)


@dataclass(frozen=True, slots=True)
class ArmedHold:
    """A hold from the step that armed it until its frame is let go.

    Attributes:
        remaining: matching frames still to come, counting the one to catch.
        marked: a response hold whose request has reached the leader; or an UpdateMetadata is on its way.
        caught: the frame stands in the gate.
        dropped: the frame was thrown away; its connection stays silent.
    """

    hold: Hold
    remaining: int
    marked: bool = False
    caught: bool = False
    dropped: bool = False

    def waits_for(self, follower: BrokerId, fetch: Fetch, stage: FetchStage) -> bool:
        """Tell whether this hold still waits for such a frame."""
        link = (self.hold.follower, self.hold.leader)
        same_offset = self.hold.fetch_offset in (None, fetch.offset)
        is_here = (fetch.kind, stage) == POINTS.get(self.hold.point) and link == (follower, fetch.leader)
        return is_here and same_offset and not self.caught

    def counted(self) -> ArmedHold:
        """Count one matching frame."""
        return replace(self, remaining=max(self.remaining - 1, 0))


@dataclass(frozen=True, slots=True)
class Gate:
    """The holds, oldest first."""

    holds: tuple[ArmedHold, ...] = ()

    def named(self, name: str) -> ArmedHold | None:
        """Return a hold that is armed or holds a frame."""
        return next((armed for armed in self.holds if armed.hold.name == name), None)

    def arm(self, hold: Hold) -> Gate:
        """Arm a hold; it sees frames from now on."""
        return Gate((*self.holds, ArmedHold(hold, hold.nth)))

    def let_go(self, name: str) -> Gate:
        """Forget a hold, so that its link moves again."""
        return Gate(tuple(armed for armed in self.holds if armed.hold.name != name))

    def drop(self, name: str) -> Gate:
        """Throw a held frame away; the link stays silent."""
        return Gate(tuple(replace(a, dropped=True) if a.hold.name == name else a for a in self.holds))

    def without_broker(self, broker: BrokerId) -> Gate:
        """Discharge every hold on a dead broker's links."""
        return Gate(tuple(a for a in self.holds if broker not in a.hold.brokers))

    def without_link(self, follower: BrokerId, leader: BrokerId) -> Gate:
        """Discharge every hold on a link whose connections are reset."""
        return Gate(tuple(a for a in self.holds if (a.hold.follower, a.hold.leader) != (follower, leader)))

    def blocks(self, follower: BrokerId, leader: BrokerId | None) -> bool:
        """Tell whether a frame of this link stands in the gate."""
        return any(a.caught and (a.hold.follower, a.hold.leader) == (follower, leader) for a in self.holds)

    def with_request(self, follower: BrokerId, fetch: Fetch) -> Gate:
        """Count a request in; the first hold whose turn it is catches it."""
        holds: list[ArmedHold] = []
        is_caught = False
        for armed in self.holds:
            if not armed.waits_for(follower, fetch, FetchStage.REQUESTED):
                holds.append(armed)
                continue
            counted = armed.counted()
            catches = counted.remaining == 0 and not is_caught
            is_caught = is_caught or catches
            holds.append(replace(counted, caught=catches))
        return Gate(tuple(holds))

    def with_forwarded(self, follower: BrokerId, fetch: Fetch) -> Gate:
        """Count a request that reached the leader; response holds whose turn it is mark its answer."""
        return Gate(tuple(self._forwarded(armed, follower, fetch) for armed in self.holds))

    def _forwarded(self, armed: ArmedHold, follower: BrokerId, fetch: Fetch) -> ArmedHold:
        if armed.marked or not armed.waits_for(follower, fetch, FetchStage.ANSWERED):
            return armed
        counted = armed.counted()
        return replace(counted, marked=counted.remaining == 0)

    def with_response(self, follower: BrokerId, fetch: Fetch) -> Gate | None:
        """Catch an answer that a hold has marked; None if none has."""
        for armed in self.holds:
            if armed.marked and armed.waits_for(follower, fetch, FetchStage.ANSWERED):
                return Gate(tuple(replace(a, caught=True) if a is armed else a for a in self.holds))
        return None

    def blocks_decisions(self, broker: BrokerId) -> bool:
        """Tell whether a frame stands on a broker's channel from the controller: later ones wait behind it."""
        return any(a.caught and a.hold.broker == broker and a.hold.point in FROM_CONTROLLER for a in self.holds)

    def blocks_isr_changes(self, leader: BrokerId) -> bool:
        """Tell whether a leader's request to change the ISR, or its answer, stands in the gate."""
        return any(a.caught and a.hold.broker == leader and a.hold.point in TO_CONTROLLER for a in self.holds)

    def caught_by(self, point: PointName, broker: BrokerId) -> Gate | None:
        """Catch a frame between a broker and the controller; None if no hold waits for it."""
        for armed in self.holds:
            if (armed.hold.point, armed.hold.broker) == (point, broker) and not armed.caught:
                return self._catching(armed)
        return None

    def with_metadata_fetches(self, live: Collection[BrokerId]) -> Gate:
        """Catch the metadata fetches that live brokers send all the time (KRaft)."""
        due = [a for a in self.holds if a.hold.point in _METADATA_FETCHES and a.hold.broker in live]
        return self._catching(*due)

    def with_updates_due(self) -> Gate:
        """Mark the UpdateMetadata requests that follow every change of the partition."""
        return Gate(
            tuple(replace(a, marked=True) if a.hold.point is PointName.UPDATE_METADATA else a for a in self.holds)
        )

    def with_updates_sent(self, heard: Collection[BrokerId]) -> Gate:
        """Catch the UpdateMetadata that follows a change, behind the LeaderAndIsr that brokers have heard."""
        sent = [a for a in self.holds if a.hold.point is PointName.UPDATE_METADATA and a.marked]
        return self._catching(*(a for a in sent if a.hold.broker in heard))

    def waits_for_running(self, broker: BrokerId) -> bool:
        """Tell whether a hold on the broker's channel would catch what a starting broker cannot do without."""
        early = (*_METADATA_FETCHES, PointName.UPDATE_METADATA)
        return any(a.hold.broker == broker and a.hold.point in early for a in self.holds)

    def _catching(self, *caught: ArmedHold) -> Gate:
        return Gate(tuple(replace(a, caught=True) if a in caught else a for a in self.holds)) if caught else self
