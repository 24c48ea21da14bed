"""How does a published module become a model? Its parts, actions and invariants, bound to brokers and leader epochs.

A part is asked alone first, wherever an action can tell by it that it is not possible: the questions stand here, and
what remains of each action stands in `oracle.published.replication`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from oracle.explorer.factored import Check, Factored, JointAction, SpecAction, Veto
from oracle.published import replication
from oracle.published.parts import Quorum, SpecReplica, StateLayout, is_true_leader
from oracle.published.replication import Replication
from oracle.vocabulary import BrokerId, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.explorer.factored import Parts
    from oracle.published.module import Constants, Module
    from oracle.published.parts import LeaderAndIsrRequest


ZOMBIE_WRITES = "a zombie writes"
RECORDS_CUT = "records are cut"


def specification(module: Module, constants: Constants) -> Factored:
    """Return a module as a model."""
    layout = StateLayout(constants)
    bound = _Bound(module, layout, Replication(module))
    return Factored(
        name=module.name,
        fields=tuple(layout.fields()),
        actions=tuple(bound.actions()),
        joint_actions=tuple(bound.high_watermark_rises(leader) for leader in constants.brokers),
        checks=tuple(bound.checks()),
        groups=tuple(bound.groups()),
        told=(ZOMBIE_WRITES, RECORDS_CUT),
    )


@dataclass(frozen=True, slots=True)
class _Bound:
    module: Module
    layout: StateLayout
    rules: Replication

    @property
    def brokers(self) -> tuple[BrokerId, ...]:
        return self.layout.constants.brokers

    def groups(self) -> Iterator[frozenset[int]]:
        requests = self.layout.requests
        yield requests | {self.layout.quorum}
        for broker in self.brokers:
            yield frozenset({self.layout.quorum, self.layout.next_record, self.layout.replica(broker)})
            yield requests | {self.layout.replica(broker)}
        for pair in combinations(self.brokers, 2):
            replicas = frozenset(map(self.layout.replica, pair))
            yield replicas | {self.layout.quorum}
            if not self.module.fences_truncation:
                yield replicas | requests

    def actions(self) -> Iterator[SpecAction]:
        for epoch in self.layout.epochs:
            yield from self._controller_actions(epoch)
        for broker in self.brokers:
            yield from self._own_actions(broker)
        for leader, follower in permutations(self.brokers, 2):
            yield from self._pair_actions(leader, follower)

    def _controller_actions(self, epoch: int) -> Iterator[SpecAction]:
        reads = (self.layout.quorum, self.layout.request(epoch))
        asks = (partial(_is_in_epoch, epoch - 1), None)
        yield SpecAction("ControllerElectLeader", "", reads, replication.elects_leader, asks)
        yield SpecAction("ControllerShrinkIsr", "", reads, replication.shrinks_isr, asks)
        if self.module.elects_uncleanly:
            elects = partial(replication.elects_uncleanly, self.brokers)
            yield SpecAction("ControllerElectUnclean", "", reads, elects, asks)

    def _own_actions(self, broker: BrokerId) -> Iterator[SpecAction]:
        who, replica = f"broker {broker}", self.layout.replica(broker)
        has_room = partial(_may_write, self.layout.constants.log_size)
        is_unwritten = partial(_is_below, self.layout.constants.records)
        written = (self.layout.quorum, self.layout.next_record, replica)
        yield SpecAction("LeaderWrite", who, written, self.rules.writes, (None, is_unwritten, has_room), _tells_zombie)
        for epoch in map(LeaderEpoch, self.layout.epochs):
            reads, is_older = (self.layout.request(epoch), replica), partial(_is_before, epoch)
            becomes = partial(self.rules.becomes_leader, epoch)
            yield SpecAction("BecomeLeader", who, reads, becomes, (partial(_names, broker), is_older))
            if self.module.checks_last_epoch:
                becomes = partial(self.rules.begins_to_fetch, epoch)
                yield SpecAction("BecomeFollower", who, reads, becomes, (partial(_names_another, broker), is_older))

    def _pair_actions(self, leader: BrokerId, follower: BrokerId) -> Iterator[SpecAction]:
        who, rules = f"broker {follower}, leader {leader}", self.rules
        pair, with_quorum = (
            self.layout.pair(leader, follower),
            (self.layout.quorum, *self.layout.pair(leader, follower)),
        )
        asks = (_presumes_leadership, partial(_follows, leader))
        yield SpecAction("FollowerFetch", who, pair, rules.fetches, asks)
        yield SpecAction("LeaderShrinkIsr", who, with_quorum, rules.shrinks_isr, (None, _presumes_leadership, None))
        yield SpecAction("LeaderExpandIsr", who, with_quorum, rules.expands_isr, (None, *asks))
        if self.module.checks_last_epoch:
            yield SpecAction("FollowerTruncate", who, pair, rules.truncates, asks, _tells_truncation)
        elif self.module.fences_truncation:
            asks_leader = (_presumes_leadership, None)
            yield SpecAction("BecomeFollower", who, pair, rules.joins_epoch, asks_leader, _tells_truncation)
        else:
            yield from self._unfenced_followings(leader, follower)

    def _unfenced_followings(self, leader: BrokerId, follower: BrokerId) -> Iterator[SpecAction]:
        who = f"broker {follower}, leader {leader}"
        for epoch in map(LeaderEpoch, self.layout.epochs):
            reads = (self.layout.request(epoch), *self.layout.pair(leader, follower))
            asks = (partial(_names, leader), None, partial(_is_before, epoch))
            becomes = partial(self.rules.becomes_follower, epoch)
            yield SpecAction("BecomeFollower", who, reads, becomes, asks, _tells_truncation)

    def high_watermark_rises(self, leader: BrokerId) -> JointAction:
        replica, asks = self.layout.replica(leader), (_may_raise_high_watermark,)
        rises = SpecAction(
            "LeaderIncHighWatermark", f"broker {leader}", (replica,), self.rules.raises_high_watermark, asks
        )
        others = [broker for broker in self.brokers if broker != leader]
        vetoes = (Veto(self.layout.pair(leader, other), self.rules.withholds, (*asks, None)) for other in others)
        return JointAction(rises, tuple(vetoes))

    def checks(self) -> Iterator[Check]:
        exposes = exposes_records
        for leader in self.brokers:
            own = (self.layout.replica(leader),)
            yield Check(WEAK_ISR, own, breaks_own_weak_isr, (exposes,))
            yield Check(STRONG_ISR, (self.layout.quorum, *own), breaks_own_strong_isr, (None, exposes))
        for pair in permutations(self.brokers, 2):
            reads, asks = self.layout.pair(*pair), (exposes, None)
            yield Check(WEAK_ISR, reads, breaks_weak_isr, asks)
            yield Check(STRONG_ISR, (self.layout.quorum, *reads), breaks_strong_isr, (None, *asks))
            if not self.module.checks_last_epoch:
                breaks = breaks_follower_is_prefix
                yield Check(FOLLOWER_IS_PREFIX, reads, breaks, (_presumes_leadership, None))


def _is_in_epoch(epoch: int, quorum: Quorum) -> bool:
    return quorum.leader_epoch == epoch


def _is_below(bound: int, number: int) -> bool:
    return number < bound


def _names(broker: BrokerId, request: LeaderAndIsrRequest | None) -> bool:
    return request is not None and request.leader == broker


def _names_another(broker: BrokerId, request: LeaderAndIsrRequest | None) -> bool:
    return request is not None and request.leader not in {None, broker}


def _is_before(epoch: int, replica: SpecReplica) -> bool:
    return replica.leader_epoch < epoch


def _presumes_leadership(replica: SpecReplica) -> bool:
    return replica.presumes_leadership


def _follows(leader: BrokerId, replica: SpecReplica) -> bool:
    return replica.leader == leader


def _may_write(log_size: int, replica: SpecReplica) -> bool:
    return replica.presumes_leadership and replica.log_end_offset < log_size


def _may_raise_high_watermark(replica: SpecReplica) -> bool:
    return replica.presumes_leadership and replica.high_watermark < replica.log_end_offset


def _tells_zombie(before: Parts, _after: Parts) -> Iterator[str]:
    quorum, _next_record, leader = before
    if not is_true_leader(quorum, leader):
        yield ZOMBIE_WRITES


def _tells_truncation(before: Parts, after: Parts) -> Iterator[str]:
    if after[-1].log.entries != before[-1].log.entries:
        yield RECORDS_CUT


# What must always hold in the published modules? Their invariants, and one more for elections that are not clean.
#
# Each is told as what breaks it, between one replica and another, or itself.


WEAK_ISR = "WeakIsr"
STRONG_ISR = "StrongIsr"
FOLLOWER_IS_PREFIX = "FollowerIsPrefix"


def exposes_records(leader: SpecReplica) -> bool:
    """Return whether consumers may read from a replica that presumes to lead: what both published invariants ask."""
    return leader.presumes_leadership and leader.high_watermark > 0


def breaks_weak_isr(leader: SpecReplica, member: SpecReplica) -> bool:
    """Break WeakIsr: a member of a presumed leader's own ISR lacks what lies below that leader's high watermark."""
    return member.broker in leader.isr and lacks_committed(leader, member)


def breaks_own_weak_isr(leader: SpecReplica) -> bool:
    """Break WeakIsr alone: the leader itself lacks it."""
    return breaks_weak_isr(leader, leader)


def breaks_strong_isr(quorum: Quorum, leader: SpecReplica, member: SpecReplica) -> bool:
    """Break StrongIsr: a member of the quorum's ISR lacks what lies below some presumed leader's high watermark."""
    return member.broker in quorum.isr and lacks_committed(leader, member)


def breaks_own_strong_isr(quorum: Quorum, leader: SpecReplica) -> bool:
    """Break StrongIsr alone: the leader itself lacks it."""
    return breaks_strong_isr(quorum, leader, leader)


def breaks_follower_is_prefix(leader: SpecReplica, follower: SpecReplica) -> bool:
    """Break FollowerIsPrefix: a follower has records that its leader of the same epoch has not."""
    entries = follower.log.entries
    is_following = follower.leader == leader.broker and follower.leader_epoch == leader.leader_epoch
    return is_following and leader.log.entries[: len(entries)] != entries


def lacks_committed(leader: SpecReplica, member: SpecReplica) -> bool:
    """Return whether two logs differ below the leader's high watermark, or do not reach it."""
    high_watermark = leader.high_watermark
    committed = leader.log.entries[:high_watermark]
    return len(committed) < high_watermark or member.log.entries[:high_watermark] != committed
