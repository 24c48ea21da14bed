"""Which frames does the gate hold in the model? The n-th match after arming, one frame per hold.

A request hold catches a request on its way to the leader. A response hold marks the request that
reaches the leader and catches the answer to it, with the content the answer had then. Where
several holds match one frame, the oldest catches it and the others wait for the next.

A held frame is on a connection, and goes with it: with the death of a broker, and when a follower takes another
leader or leads itself, since its fetcher for the former leader ends and closes its connection (KAFKA-6051). A held
fetch may be delivered late: its leader does not hear of the end of its sender, and takes it for what it was.

Sources: architecture, "Contract of a step" 3; the rules of the wire gate, which this mirrors;
ReplicaFetcherThread.initiateShutdown, AbstractFetcherManager.shutdownIdleFetcherThreads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from oracle.events import LateFetchReceived
from oracle.state import FetchInFlight, FetchKind, FetchStage
from oracle.vocabulary import FROM_CONTROLLER, TO_CONTROLLER, PointName

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from oracle.steps.frames import Hold
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
        marked: a response hold whose request has reached the leader.
        behind: an UpdateMetadata is on its way, behind so many decisions; None while there is none.
        caught: the frame stands in the gate.
        dropped: the frame was thrown away; its connection stays silent.
    """

    hold: Hold
    remaining: int
    marked: bool = False
    behind: int | None = None
    caught: bool = False
    dropped: bool = False

    @property
    def can_be_let_go(self) -> bool:
        """Return whether its frame stands in the gate, and was not thrown away."""
        return self.caught and not self.dropped

    def waits_for(self, follower: BrokerId, fetch: FetchInFlight, stage: FetchStage) -> bool:
        """Return whether this hold still waits for such a frame."""
        link = (self.hold.follower, self.hold.leader)
        same_offset = self.hold.fetch_offset in (None, fetch.offset)
        is_here = (fetch.kind, stage) == POINTS.get(self.hold.point) and link == (follower, fetch.leader)
        return is_here and same_offset and not self.caught

    def counted(self) -> ArmedHold:
        """Count one matching frame."""
        return replace(self, remaining=max(self.remaining - 1, 0))


@dataclass(frozen=True, slots=True)
class LateFrame:
    """A held fetch whose sender's connection has ended, and which can still reach its leader.

    Attributes:
        arrival: what happens when it is delivered now.
    """

    hold: Hold
    arrival: LateFetchReceived


class SlowNews(StrEnum):
    """What comes seconds after a leader has written the ISR (ReplicaManager.maybePropagateIsrChanges, up to 2.6)."""

    DUE = "brokers do not know it yet: it can be waited for"
    KNOWN = "a decision has told it since, and it comes all the same"


@dataclass(frozen=True, slots=True)
class ModelledGate:
    """The holds, oldest first.

    Attributes:
        met: names of the holds that have caught a frame, let go or not.
        lost: the holds whose frame went with its connection, when a follower changed its leader.
        late: the fetches that can still be delivered, though their senders' connections have ended.
        slow_news: what brokers are still told of an ISR that a leader wrote to ZooKeeper; None for nothing.
    """

    holds: tuple[ArmedHold, ...] = ()
    met: frozenset[str] = frozenset()
    lost: tuple[Hold, ...] = ()
    late: tuple[LateFrame, ...] = ()
    slow_news: SlowNews | None = None

    def named(self, name: str) -> ArmedHold | None:
        """Return a hold that is armed or holds a frame."""
        return next((armed for armed in self.holds if armed.hold.name == name), None)

    def why_gone(self, name: str) -> str:
        """Return why there is no hold of a name any more."""
        lost = next((hold for hold in self.lost if hold.name == name), None)
        if lost is None:
            return f"hold {name!r} was let go, or discharged when its connection ended"
        return (
            f"hold {name!r} lost its frame when broker {lost.follower} took another leader and closed its connection "
            f"to broker {lost.leader}; let it go before that, or deliver a fetch with late: true"
        )

    def late_frame(self, name: str) -> LateFrame | None:
        """Return the fetch that a hold caught and that can be delivered late."""
        return next((one for one in self.late if one.hold.name == name), None)

    def arm(self, hold: Hold) -> ModelledGate:
        """Arm a hold; it sees frames from now on."""
        return self._with((*self.holds, ArmedHold(hold, hold.nth)))

    def let_go(self, name: str) -> ModelledGate:
        """Forget a hold, so that its link moves again."""
        return self._with(armed for armed in self.holds if armed.hold.name != name)

    def drop(self, name: str) -> ModelledGate:
        """Throw a held frame away; the link stays silent."""
        return self._with(replace(a, dropped=True) if a.hold.name == name else a for a in self.holds)

    def without_broker(self, broker: BrokerId) -> ModelledGate:
        """Discharge every hold on the links of a broker whose connections are all reset."""
        late = tuple(one for one in self.late if broker not in (one.arrival.follower, one.arrival.fetch.leader))
        return replace(self._with(a for a in self.holds if broker not in a.hold.brokers), late=late)

    def without_dead(self, broker: BrokerId, fetch: FetchInFlight | None) -> ModelledGate:
        """Discharge every hold on a dead broker's links; a fetch of its own that is held can be delivered late."""
        others = tuple(one for one in self.late if one.arrival.fetch.leader != broker)
        late = (*others, *self._outliving(broker, fetch))
        return replace(self.without_broker(broker), late=late)

    def with_started(self, broker: BrokerId) -> ModelledGate:
        """Note that a broker has been started: what it sent before is of an earlier start."""
        return replace(self, late=tuple(replace(one, arrival=one.arrival.after_start_of(broker)) for one in self.late))

    def without_link(self, follower: BrokerId, leader: BrokerId) -> ModelledGate:
        """Discharge every hold on a link whose connections are reset."""
        late = tuple(a for a in self.late if (a.arrival.follower, a.arrival.fetch.leader) != (follower, leader))
        kept = (a for a in self.holds if (a.hold.follower, a.hold.leader) != (follower, leader))
        return replace(self._with(kept), late=late)

    def without_connection(self, follower: BrokerId, leader: BrokerId, fetch: FetchInFlight | None) -> ModelledGate:
        """Lose what a link's closed connection carried; a hold that lies in wait there goes on waiting."""
        gone = [a for a in self.holds if a.caught and (a.hold.follower, a.hold.leader) == (follower, leader)]
        kept = self._with(a for a in self.holds if a not in gone)
        lost = (*self.lost, *(a.hold for a in gone))
        return replace(kept, lost=lost, late=(*self.late, *self._outliving(follower, fetch)))

    def _outliving(self, follower: BrokerId, fetch: FetchInFlight | None) -> Iterator[LateFrame]:
        """Yield the fetch that a hold keeps from the leader of a follower whose connection ends."""
        for armed in self.holds:
            is_fetch = armed.hold.point is PointName.FETCH_REQUEST and armed.can_be_let_go
            if fetch is not None and is_fetch and armed.hold.follower == follower:
                yield LateFrame(armed.hold, LateFetchReceived(follower, fetch, is_of_earlier_start=False))

    def delivered(self, name: str) -> ModelledGate:
        """Forget a fetch that has been delivered late."""
        return replace(self, late=tuple(one for one in self.late if one.hold.name != name))

    def blocks(self, follower: BrokerId, leader: BrokerId | None) -> bool:
        """Return whether a frame of this link stands in the gate."""
        return any(a.caught and (a.hold.follower, a.hold.leader) == (follower, leader) for a in self.holds)

    def with_request(self, follower: BrokerId, fetch: FetchInFlight) -> ModelledGate:
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
        return self._with(holds)

    def with_forwarded(self, follower: BrokerId, fetch: FetchInFlight) -> ModelledGate:
        """Count a request that reached the leader; response holds whose turn it is mark its answer."""
        return self._with(self._forwarded(armed, follower, fetch) for armed in self.holds)

    def _forwarded(self, armed: ArmedHold, follower: BrokerId, fetch: FetchInFlight) -> ArmedHold:
        if armed.marked or not armed.waits_for(follower, fetch, FetchStage.ANSWERED):
            return armed
        counted = armed.counted()
        return replace(counted, marked=counted.remaining == 0)

    def with_response(self, follower: BrokerId, fetch: FetchInFlight) -> ModelledGate | None:
        """Catch an answer that holds have marked; None if none has. The younger ones wait for the next."""
        marked = [a for a in self.holds if a.marked and a.waits_for(follower, fetch, FetchStage.ANSWERED)]
        if not marked:
            return None
        oldest, *younger = marked
        kept = (replace(a, marked=False) if a in younger else a for a in self.holds)
        return self._with(replace(a, caught=True) if a == oldest else a for a in kept)

    def blocks_decisions(self, broker: BrokerId | None) -> bool:
        """Return whether a frame stands on a broker's channel from the controller: later ones wait behind it."""
        return any(a.caught and a.hold.broker == broker and a.hold.point in FROM_CONTROLLER for a in self.holds)

    def blocks_isr_changes(self, leader: BrokerId) -> bool:
        """Return whether a leader's request to change the ISR, or its answer, stands in the gate."""
        return any(a.caught and a.hold.broker == leader and a.hold.point in TO_CONTROLLER for a in self.holds)

    def caught_by(self, point: PointName, broker: BrokerId) -> ModelledGate | None:
        """Catch a frame between a broker and the controller; None if no hold waits for it."""
        for armed in self.holds:
            if (armed.hold.point, armed.hold.broker) == (point, broker) and not armed.caught:
                return self._catching(armed)
        return None

    def with_metadata_fetches(self, live: Collection[BrokerId]) -> ModelledGate:
        """Catch the metadata fetches that live brokers send all the time (KRaft)."""
        due = [a for a in self.holds if a.hold.point in _METADATA_FETCHES and a.hold.broker in live]
        return self._catching(*due)

    def stops_metadata_fetches(self, hold: Hold) -> bool:
        """Return whether a frame stands in the gate without which the one that a hold waits for is not sent."""
        standing = (a for a in self.holds if a.caught and a.hold.broker == hold.broker)
        return hold.point in _METADATA_FETCHES and any(a.hold.point in _METADATA_FETCHES for a in standing)

    def has_twin(self, hold: Hold) -> bool:
        """Return whether another hold waits, or has its frame, at the same point of a broker's channel."""
        return hold.broker is not None and any(
            (a.hold.point, a.hold.broker) == (hold.point, hold.broker) for a in self.holds
        )

    def with_updates_due(self, decisions: Mapping[BrokerId | None, int]) -> ModelledGate:
        """Note that brokers are sent UpdateMetadata, each behind so many decisions that it has not heard yet."""
        return self._with(
            replace(a, behind=decisions.get(a.hold.broker)) if _awaits_update(a) else a for a in self.holds
        )

    def with_decision_heard(self, broker: BrokerId) -> ModelledGate:
        """Let an UpdateMetadata that is on its way to a broker come nearer by one decision."""
        return self._with(
            replace(a, behind=a.behind - 1) if a.behind and a.hold.broker == broker else a for a in self.holds
        )

    def with_updates_sent(self, hearing: Collection[BrokerId]) -> ModelledGate:
        """Catch the UpdateMetadata before which brokers have heard everything."""
        for armed in self.holds:
            broker = armed.hold.broker
            if armed.behind == 0 and broker in hearing and not self.blocks_decisions(broker):
                return self._catching(armed)
        return self

    def waits_for_running(self, broker: BrokerId) -> bool:
        """Return whether a hold on the broker's channel would catch what a starting broker cannot do without."""
        early = (*_METADATA_FETCHES, PointName.UPDATE_METADATA)
        return any(a.hold.broker == broker and a.hold.point in early for a in self.holds)

    def _catching(self, *caught: ArmedHold) -> ModelledGate:
        return self._with(replace(a, caught=True) if a in caught else a for a in self.holds) if caught else self

    def _with(self, holds: Iterable[ArmedHold]) -> ModelledGate:
        holds = tuple(holds)
        return replace(self, holds=holds, met=self.met.union(a.hold.name for a in holds if a.caught))


def _awaits_update(armed: ArmedHold) -> bool:
    return armed.hold.point is PointName.UPDATE_METADATA and armed.behind is None
