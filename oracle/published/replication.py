"""What do the published replicas do? They obey requests, write, fetch, truncate, and change high watermark and ISR.

An action is a generator. For every way to take the step it yields the parts it was given, as they are afterwards;
TLC counts a step once for each alternative of a guard that is true, and so do these. The rules that make modules
differ are in their row (`oracle.published.module`), so the actions of KafkaReplication and their replacements in
Kip320 and Kip320FirstTry are told once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.log import Entry
from oracle.published.parts import epoch_start_offset, is_true_leader
from oracle.published.truncations import diverges, last_epoch_agrees
from oracle.vocabulary import Label, LeaderEpoch, Offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.published.constants import Constants
    from oracle.published.module import Fence, Module
    from oracle.published.parts import History, Isr, Replica, Request


@dataclass(frozen=True, slots=True)
class Replication:
    """The replicas' actions under one module's rules, within the bounds of a model."""

    module: Module
    constants: Constants

    def becomes_leader(self, history: History, replica: Replica) -> Iterator[tuple[History, Replica]]:
        """Obey a newer request that names this replica; the high watermark stays what it was."""
        for epoch, request in newer_requests(history, replica):
            if request.leader == replica.broker:
                leader = in_epoch(replica, epoch, request)
                if self.module.enters_epoch_on_election:
                    leader = replace(leader, log=leader.log.with_epoch(epoch))
                yield history, leader

    def becomes_follower(
        self, history: History, leader: Replica, follower: Replica
    ) -> Iterator[tuple[History, Replica, Replica]]:
        """Obey a newer request that names the leader, and make the log a prefix of the leader's."""
        for epoch, request in newer_requests(history, follower):
            if request.leader != leader.broker:
                continue
            obedient = in_epoch(follower, epoch, request)
            if self.module.checks_last_epoch:
                yield history, leader, obedient
            elif not self.module.fences_truncation or (leader.presumes_leadership and leader.leader_epoch == epoch):
                for cut in self.module.cuts(leader.log, follower.log, follower.high_watermark):
                    yield history, leader, cut_to(obedient, cut)

    def truncates(self, leader: Replica, follower: Replica) -> Iterator[tuple[Replica, Replica]]:
        """Cut the log when a fetch shows that it diverges, at any time."""
        if leader.presumes_leadership and follower.leader == leader.broker and diverges(leader.log, follower.log):
            for cut in self.module.cuts(leader.log, follower.log, follower.high_watermark):
                yield leader, cut_to(follower, cut)

    def writes(self, history: History, next_record: int, leader: Replica) -> Iterator[tuple[History, int, Replica]]:
        """Append the next record to the log of a replica that presumes to lead."""
        is_room = leader.log_end_offset < self.constants.log_size and next_record < self.constants.records
        if leader.presumes_leadership and is_room:
            entry = Entry(Label(f"m{next_record}"), leader.leader_epoch)
            yield history, next_record + 1, replace(leader, log=leader.log.append([entry]))

    def fetches(self, leader: Replica, follower: Replica) -> Iterator[tuple[Replica, Replica]]:
        """Copy the leader's next record, and take its high watermark as far as the log goes."""
        offset = follower.log_end_offset
        if not leader.presumes_leadership or offset >= leader.log_end_offset:
            return
        if not self._is_caught_up(leader, follower, offset, self.module.serves):
            return
        log = follower.log.append([leader.log.entries[offset]])
        high_watermark = min(leader.high_watermark, log.log_end_offset)
        yield leader, replace(follower, log=log, high_watermark=high_watermark)

    def raises_high_watermark(self, leader: Replica) -> Iterator[tuple[Replica]]:
        """Commit one more record, if every member of the leader's ISR has it; see ``withholds``."""
        if leader.presumes_leadership and leader.high_watermark < leader.log_end_offset:
            yield (replace(leader, high_watermark=Offset(leader.high_watermark + 1)),)

    def withholds(self, leader: Replica, follower: Replica) -> bool:
        """Tell whether a member of the leader's ISR is not known to have the record at the high watermark."""
        if follower.broker not in leader.isr:
            return False
        return not self._is_caught_up(leader, follower, Offset(leader.high_watermark + 1), self.module.counts)

    def shrinks_isr(
        self, history: History, isr: Isr, leader: Replica, follower: Replica
    ) -> Iterator[tuple[History, Isr, Replica, Replica]]:
        """Drop a member that is behind, as the quorum's leader."""
        if follower.broker in leader.isr and is_true_leader(history, leader):
            smaller = leader.isr - {follower.broker}
            for _ in range(self._reasons_to_drop(leader, follower)):
                yield history, smaller, replace(leader, isr=smaller), follower

    def expands_isr(
        self, history: History, isr: Isr, leader: Replica, follower: Replica
    ) -> Iterator[tuple[History, Isr, Replica, Replica]]:
        """Let a replica join that has caught up, as the quorum's leader.

        The published condition is that the follower has reached the leader's high watermark, and that the high
        watermark has reached the leader's epoch: the brokers' rule, asked about the lower one of the two.
        """
        if follower.broker in leader.isr or not is_true_leader(history, leader):
            return
        high_watermark = leader.high_watermark
        reached = min(follower.log_end_offset, high_watermark)
        joins = self.module.joins(reached, high_watermark, epoch_start_offset(leader))
        if joins and self._is_caught_up(leader, follower, high_watermark, self.module.acknowledges):
            larger = leader.isr | {follower.broker}
            yield history, larger, replace(leader, isr=larger), follower

    def _reasons_to_drop(self, leader: Replica, follower: Replica) -> int:
        is_following = self._follows(leader, follower, self.module.acknowledges)
        is_behind = not self._has_up_to(leader, follower, leader.log_end_offset)
        return (not is_following) + is_behind if self.module.tells_reasons_apart else not is_following or is_behind

    def _is_caught_up(self, leader: Replica, follower: Replica, offset: Offset, fence: Fence) -> bool:
        return self._follows(leader, follower, fence) and self._has_up_to(leader, follower, offset)

    def _follows(self, leader: Replica, follower: Replica, fence: Fence) -> bool:
        return follower.leader == leader.broker and fence(follower.leader_epoch, leader.leader_epoch)

    def _has_up_to(self, leader: Replica, follower: Replica, offset: Offset) -> bool:
        if follower.log_end_offset < offset:
            return False
        return not self.module.checks_last_epoch or last_epoch_agrees(leader.log, follower.log, offset)


def newer_requests(history: History, replica: Replica) -> Iterator[tuple[LeaderEpoch, Request]]:
    """Yield the requests that a replica has not heeded yet, each with its leader epoch."""
    for epoch in range(replica.leader_epoch + 1, len(history)):
        yield LeaderEpoch(epoch), history[epoch]


def in_epoch(replica: Replica, epoch: LeaderEpoch, request: Request) -> Replica:
    """Return the replica as it is after it has obeyed a request."""
    return replace(replica, leader_epoch=epoch, leader=request.leader, isr=request.isr)


def cut_to(replica: Replica, offset: Offset) -> Replica:
    """Return the replica with a shorter log, and with a high watermark that lies in it."""
    high_watermark = min(offset, replica.high_watermark)
    return replace(replica, log=replica.log.truncate_to(offset), high_watermark=high_watermark)
