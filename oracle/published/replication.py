"""What do the published replicas do? They obey requests, write, fetch, truncate, and change high watermark and ISR.

An action is a generator. For every way to take the step it yields the parts it was given, as they are afterwards;
TLC counts a step once for each alternative of a guard that is true, and so do these. What an action asks of a single
part alone stands in `oracle.published.specification`, and is true when the action is called. The rules that make
modules differ are in their row (`oracle.published.module`), so the actions of KafkaReplication and their
replacements in Kip320 and Kip320FirstTry are told once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from oracle.log import ModelRecord
from oracle.published.parts import LeaderAndIsrRequest, Quorum, SpecReplica, is_true_leader
from oracle.published.truncations import diverges, last_epoch_agrees
from oracle.vocabulary import Label, LeaderEpoch, Offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.published.module import Fence, Module
    from oracle.published.parts import Isr
    from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class Replication:
    """The replicas' actions under one module's rules."""

    module: Module

    def becomes_leader(
        self, epoch: LeaderEpoch, request: LeaderAndIsrRequest, replica: SpecReplica
    ) -> Iterator[tuple[LeaderAndIsrRequest, SpecReplica]]:
        """Obey a newer request that names this replica; the high watermark stays what it was."""
        leader = obeying(replica, epoch, request)
        if self.module.enters_epoch_on_election:
            leader = replace(leader, log=leader.log.with_epoch(epoch))
        yield request, leader

    def becomes_follower(
        self, epoch: LeaderEpoch, request: LeaderAndIsrRequest, leader: SpecReplica, follower: SpecReplica
    ) -> Iterator[tuple[LeaderAndIsrRequest, SpecReplica, SpecReplica]]:
        """Obey a newer request that names the leader, in whatever state that one is, and cut the log."""
        for cut in self.module.cuts(leader.log, follower.log, follower.high_watermark):
            yield request, leader, cut_to(obeying(follower, epoch, request), cut)

    def joins_epoch(self, leader: SpecReplica, follower: SpecReplica) -> Iterator[tuple[SpecReplica, SpecReplica]]:
        """Obey the request that the leader obeys already, and cut the log."""
        if leader.request is not None and follower.leader_epoch < leader.leader_epoch:
            for cut in self.module.cuts(leader.log, follower.log, follower.high_watermark):
                yield leader, cut_to(obeying(follower, leader.leader_epoch, leader.request), cut)

    def begins_to_fetch(
        self, epoch: LeaderEpoch, request: LeaderAndIsrRequest, follower: SpecReplica
    ) -> Iterator[tuple[LeaderAndIsrRequest, SpecReplica]]:
        """Obey a newer request that names another leader, and leave the log as it is."""
        yield request, obeying(follower, epoch, request)

    def truncates(self, leader: SpecReplica, follower: SpecReplica) -> Iterator[tuple[SpecReplica, SpecReplica]]:
        """Cut the log when a fetch shows that it diverges, at any time."""
        if diverges(leader.log, follower.log):
            for cut in self.module.cuts(leader.log, follower.log, follower.high_watermark):
                yield leader, cut_to(follower, cut)

    def writes(
        self, quorum: Quorum, next_record: int, leader: SpecReplica
    ) -> Iterator[tuple[Quorum, int, SpecReplica]]:
        """Append the next record."""
        entry = ModelRecord(Label(f"m{next_record}"), leader.leader_epoch)
        yield quorum, next_record + 1, replace(leader, log=leader.log.append([entry]))

    def fetches(self, leader: SpecReplica, follower: SpecReplica) -> Iterator[tuple[SpecReplica, SpecReplica]]:
        """Copy the leader's next record, and take its high watermark as far as the log goes."""
        offset = follower.log_end_offset
        if offset < leader.log_end_offset and self._is_caught_up(leader, follower, offset, self.module.serves):
            log = follower.log.append([leader.log.entries[offset]])
            high_watermark = min(leader.high_watermark, log.log_end_offset)
            yield leader, replace(follower, log=log, high_watermark=high_watermark)

    def raises_high_watermark(self, leader: SpecReplica) -> Iterator[tuple[SpecReplica]]:
        """Commit one more record, unless a replica withholds its consent."""
        yield (replace(leader, high_watermark=Offset(leader.high_watermark + 1)),)

    def withholds(self, leader: SpecReplica, follower: SpecReplica) -> bool:
        """Return whether a member of the leader's ISR is not known to have the record at the high watermark."""
        if follower.broker not in leader.isr:
            return False
        return not self._is_caught_up(leader, follower, Offset(leader.high_watermark + 1), self.module.counts)

    def shrinks_isr(
        self, quorum: Quorum, leader: SpecReplica, follower: SpecReplica
    ) -> Iterator[tuple[Quorum, SpecReplica, SpecReplica]]:
        """Drop a member that is behind, as the quorum's leader."""
        if follower.broker in leader.isr and is_true_leader(quorum, leader):
            for _ in range(self._reasons_to_drop(leader, follower)):
                yield *with_isr(quorum, leader, leader.isr - {follower.broker}), follower

    def expands_isr(
        self, quorum: Quorum, leader: SpecReplica, follower: SpecReplica
    ) -> Iterator[tuple[Quorum, SpecReplica, SpecReplica]]:
        """Let a replica join that has caught up, as the quorum's leader.

        The published condition is that the follower has reached the leader's high watermark, and that the high
        watermark has reached the leader's epoch: the brokers' rule, asked about the lower one of the two.
        """
        if follower.broker not in leader.isr and is_true_leader(quorum, leader):
            high_watermark = leader.high_watermark
            reached = min(follower.log_end_offset, high_watermark)
            joins = self.module.joins(reached, high_watermark, leader.epoch_start_offset)
            if joins and self._is_caught_up(leader, follower, high_watermark, self.module.acknowledges):
                yield *with_isr(quorum, leader, leader.isr | {follower.broker}), follower

    def _reasons_to_drop(self, leader: SpecReplica, follower: SpecReplica) -> int:
        is_following = self._follows(leader, follower, self.module.acknowledges)
        is_behind = not self._has_up_to(leader, follower, leader.log_end_offset)
        return (not is_following) + is_behind if self.module.tells_reasons_apart else not is_following or is_behind

    def _is_caught_up(self, leader: SpecReplica, follower: SpecReplica, offset: Offset, fence: Fence) -> bool:
        return self._follows(leader, follower, fence) and self._has_up_to(leader, follower, offset)

    def _follows(self, leader: SpecReplica, follower: SpecReplica, fence: Fence) -> bool:
        return follower.leader == leader.broker and fence(follower.leader_epoch, leader.leader_epoch)

    def _has_up_to(self, leader: SpecReplica, follower: SpecReplica, offset: Offset) -> bool:
        if follower.log_end_offset < offset:
            return False
        return not self.module.checks_last_epoch or last_epoch_agrees(leader.log, follower.log, offset)


def obeying(replica: SpecReplica, epoch: LeaderEpoch, request: LeaderAndIsrRequest) -> SpecReplica:
    """Return the replica as it is after it has obeyed a request."""
    return replace(replica, leader_epoch=epoch, request=request, isr=request.isr)


def cut_to(replica: SpecReplica, offset: Offset) -> SpecReplica:
    """Return the replica with a shorter log, and with a high watermark that lies in it."""
    high_watermark = min(offset, replica.high_watermark)
    return replace(replica, log=replica.log.truncate_to(offset), high_watermark=high_watermark)


def with_isr(quorum: Quorum, leader: SpecReplica, isr: Isr) -> tuple[Quorum, SpecReplica]:
    """Return the quorum and its leader with another ISR."""
    return replace(quorum, isr=isr), replace(leader, isr=isr)


# What does the published controller do? It elects and shrinks the ISR, each time with a request of a new epoch.


Sent: TypeAlias = tuple[Quorum, LeaderAndIsrRequest]


def elects_leader(quorum: Quorum, _unsent: None) -> Iterator[Sent]:
    """Make another member of the ISR leader."""
    for broker in sorted(quorum.isr):
        if broker != quorum.leader:
            yield sent(quorum, LeaderAndIsrRequest(broker, quorum.isr))


def shrinks_isr(quorum: Quorum, _unsent: None) -> Iterator[Sent]:
    """Drop a member; a leader that is dropped leaves none, and stays in the ISR if it is the last one."""
    for broker in sorted(quorum.isr):
        rest = quorum.isr - {broker}
        if broker == quorum.leader:
            yield sent(quorum, LeaderAndIsrRequest(None, rest or quorum.isr))
        else:
            yield sent(quorum, LeaderAndIsrRequest(quorum.leader, rest))


def elects_uncleanly(brokers: tuple[BrokerId, ...], quorum: Quorum, _unsent: None) -> Iterator[Sent]:
    """Make a replica outside the ISR leader and only member, while there is no leader."""
    if quorum.leader is None:
        for broker in brokers:
            if broker not in quorum.isr:
                yield sent(quorum, LeaderAndIsrRequest(broker, frozenset({broker})))


def sent(quorum: Quorum, request: LeaderAndIsrRequest) -> Sent:
    """Return the quorum as it is once it has sent a request, and the request."""
    return Quorum(request.isr, request.leader, LeaderEpoch(quorum.leader_epoch + 1)), request
