"""What keeps frames from passing besides holds? Paused brokers, cut links and isolated brokers.

A paused broker does nothing: it sends no request, handles no answer, serves nobody and hears nothing, while
its connections stay. On a cut link a fetch is lost with its connection and tried again in vain. An isolated
broker has every link cut, those between it and the controller too: it goes on in its old role, alone.

Sources: SIGSTOP; AbstractFetcherThread (a lost fetch is repeated), ControllerChannelManager.RequestSendThread,
BrokerToControllerChannelManager (a lost request is repeated).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.state import FetchStage

if TYPE_CHECKING:
    from oracle.vocabulary import BrokerId

    Link = tuple[BrokerId, BrokerId | None]

_AT_FOLLOWER = (None, FetchStage.ANSWERED)
"""Where a request is whose next half-step its follower takes: none is under way, or its answer has come."""


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Everything that stands in the way at one moment.

    Attributes:
        paused: brokers that are frozen.
        isolated: brokers that reach no other node, and are reached by none.
        cuts: links (follower, leader) that lose every fetch.
        untried: those of them on which no fetch has been tried since they were cut.
    """

    paused: frozenset[BrokerId] = frozenset()
    isolated: frozenset[BrokerId] = frozenset()
    cuts: frozenset[Link] = frozenset()
    untried: frozenset[Link] = frozenset()

    def severs(self, follower: BrokerId, leader: BrokerId | None) -> bool:
        """Tell whether no fetch of one broker reaches another."""
        return (follower, leader) in self.cuts or not self.isolated.isdisjoint((follower, leader))

    def stops(self, follower: BrokerId, leader: BrokerId | None, stage: FetchStage | None) -> bool:
        """Tell whether a follower's request, at some stage or not sent yet, can make no half-step."""
        next_to_act = follower if stage in _AT_FOLLOWER else leader
        return next_to_act in self.paused or self.severs(follower, leader)

    @property
    def deaf(self) -> frozenset[BrokerId]:
        """The brokers that hear no decision, and that the controller does not hear."""
        return self.paused | self.isolated

    def with_paused(self, broker: BrokerId) -> Obstacles:
        """Return the obstacles with one more broker frozen."""
        return replace(self, paused=self.paused | {broker})

    def without_paused(self, broker: BrokerId) -> Obstacles:
        """Return the obstacles after a broker goes on, or has died."""
        return replace(self, paused=self.paused - {broker})

    def with_isolated(self, broker: BrokerId) -> Obstacles:
        """Return the obstacles with one more broker alone."""
        return replace(self, isolated=self.isolated | {broker})

    def without_isolated(self, broker: BrokerId) -> Obstacles:
        """Return the obstacles after a broker's links work again."""
        return replace(self, isolated=self.isolated - {broker})

    def with_cut(self, follower: BrokerId, leader: BrokerId) -> Obstacles:
        """Return the obstacles with one more link cut."""
        link = (follower, leader)
        return replace(self, cuts=self.cuts | {link}, untried=self.untried | {link})

    def with_tried(self, follower: BrokerId, leader: BrokerId | None) -> Obstacles:
        """Return the obstacles after a follower has tried to fetch from a leader."""
        link = (follower, leader)
        return replace(self, untried=self.untried - {link}) if link in self.untried else self

    def without_cut(self, follower: BrokerId, leader: BrokerId) -> Obstacles:
        """Return the obstacles after a link is healed."""
        return replace(self, cuts=self.cuts - {(follower, leader)})
