"""What may a broker's replica be, as far as the trace tells? Its log, its high watermark, whom it follows.

A broker does hidden things between two frames: it applies what the controller told it, and it takes an
answer that has reached it. A possibility is the replica after some of them; a ``Replica`` keeps every
possibility that agrees with all that was seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from oracle.log import NO_EPOCH, UNDEFINED
from oracle.replacing import replace
from oracle.tracing.known_log import START, EpochLog, KnownLog
from oracle.vocabulary import MetadataMode, Offset

if TYPE_CHECKING:
    from oracle.log import EpochEnd
    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.observed import LeadershipHeard
    from oracle.vocabulary import BrokerId, LeaderEpoch


class OffsetBounds(Struct, frozen=True, gc=False):
    """An offset between two bounds."""

    low: Offset = START
    high: Offset = START

    def at_most(self, low: Offset, high: Offset) -> OffsetBounds:
        """Return the smaller of this offset and another one between two bounds."""
        return OffsetBounds(min(self.low, low), min(self.high, high))

    def has(self, offset: Offset) -> bool:
        """Return whether it may be that offset."""
        return self.low <= offset <= self.high


class Possibility(Struct, frozen=True, gc=False):
    """A replica as it may be.

    Attributes:
        high_watermark: a follower's; a leader's is in its ``Leadership``.
        log_start: where its leader has told it that logs start; a leader's is in its ``Replica``.
        leader: whom it believes to lead, itself included.
        leader_epoch: in which epoch; NO_EPOCH before its broker has heard anything.
        heard: how many of the decisions that reached the broker it has applied or skipped.
        has_taken: whether it has handled the answer that has reached it.
        truncating: it looks its last epoch up before it fetches.
        truncated_to: where an earlier answer of the same truncation has cut it.
        was_cut: whether it has been cut since its last fetch.
        is_out_of_range: it was told so; it cuts to the leader's end, which nobody sees, or starts anew.
        uncut: its log before it was cut where nobody saw it, between the ends of what ``log`` may be; its epochs start
            where they did. None if the end is known, or the log is another one by now.
    """

    log: KnownLog = KnownLog()
    high_watermark: OffsetBounds = OffsetBounds()
    log_start: Offset = START
    leader: BrokerId | None = None
    leader_epoch: LeaderEpoch = NO_EPOCH
    heard: int = 0
    has_taken: bool = False
    truncating: bool = False
    truncated_to: OffsetBounds | None = None
    was_cut: bool = False
    is_out_of_range: bool = False
    uncut: KnownLog | None = None

    def with_log(self, log: KnownLog) -> Possibility:
        """Return the replica with its log better known."""
        return self if log is self.log else replace(self, log=log, uncut=None)

    def covers(self, other: Possibility) -> bool:
        """Return whether this one may be all that another one may be."""
        return self.log.covers(other.log) and replace(other, log=self.log) == self


def has_epochs(rules: RuleSet) -> bool:
    """Return whether a log's epochs are known: its records carry them into a cache, or the replay notes them."""
    return carries_epochs(rules) or rules.truncation.notes_epochs


def carries_epochs(rules: RuleSet) -> bool:
    """Return whether the records carry epochs, and the release has a cache for them."""
    return rules.truncation.stamps_epochs and not rules.truncation.cuts_to_high_watermark


def noting_epochs(rules: RuleSet) -> RuleSet:
    """Return rules by which a replay knows the epochs of all records, also of releases whose batches carry none."""
    if has_epochs(rules):
        return rules
    return replace(rules, truncation=replace(rules.truncation, notes_epochs=True), writes_epoch_on_election=True)


def applied(
    replica: Possibility, decision: LeadershipHeard, led: OffsetBounds | None, rules: RuleSet
) -> tuple[Possibility, ...]:
    """Return what the replica may be once it has applied a decision; who is no replica any more has no log.

    Told that nobody leads, a broker with ZooKeeper changes nothing (ReplicaManager.makeFollowers): its fetcher asks a
    former leader that comes back before either hears who leads now. With KRaft the fetcher is stopped
    (ReplicaManager.applyLocalFollowersDelta).

    Args:
        replica: before.
        decision: what its broker was told.
        led: the high watermark of the leadership that may end now; None if it does not lead.
        rules: of the release.
    """
    if decision.broker not in decision.replicas:
        return (Possibility(),)  # without an epoch: it may be assigned again in this one
    is_known = decision.leader_epoch == replica.leader_epoch and decision.leader == replica.leader
    if decision.leader_epoch < replica.leader_epoch or is_known:
        return (replica,)
    if decision.leader == decision.broker:
        return tuple(_leading(replica, decision, rules))
    if decision.leader is None and rules.metadata is MetadataMode.ZOOKEEPER:
        return (replica,)
    if replica.leader == decision.broker and led is not None:
        clamped = led.at_most(replica.log.low.end, replica.log.high.end)
        replica = replace(replica, high_watermark=clamped)
    if decision.leader is None:
        return (replace(replica, leader=None, leader_epoch=decision.leader_epoch, truncating=False),)
    return _following(replica, decision, decision.leader, rules)


def _leading(replica: Possibility, decision: LeadershipHeard, rules: RuleSet) -> tuple[Possibility, ...]:
    """Lead: with an entry for the epoch at once, or only with its first record.

    Where batches carry no epochs, one that goes on to lead goes on in the epoch that was noted: nobody cuts between.
    """
    goes_on = rules.truncation.notes_epochs and replica.leader == decision.broker
    led = replace(
        replica,
        leader=decision.broker,
        leader_epoch=decision.leader_epoch,
        truncating=False,
        truncated_to=None,
        uncut=None,
    )
    if rules.writes_epoch_on_election and not goes_on:
        return started(led)
    return (led,) if has_epochs(rules) else (replace(led, log=led.log.opened()),)


def started(leader: Possibility) -> tuple[Possibility, ...]:
    """Return the leader with its epoch in its cache, and its log open to what it appends unseen."""
    logs = (log.both(lambda known: known.in_epoch(leader.leader_epoch)).opened() for log in leader.log.settled())
    return tuple(replace(leader, log=log) for log in logs)


def with_first_record(leader: Possibility, rules: RuleSet) -> tuple[Possibility, ...]:
    """Return the leader that has appended unseen, where its epoch enters its cache with the first record."""
    is_due = has_epochs(rules) and not rules.writes_epoch_on_election
    if not is_due or leader.log.low.latest_epoch >= leader.leader_epoch:
        return ()
    return tuple(replace(one, log=one.log.at_least(Offset(one.log.low.end + 1))) for one in started(leader))


def _following(
    replica: Possibility, decision: LeadershipHeard, leader: BrokerId, rules: RuleSet
) -> tuple[Possibility, ...]:
    """Follow a leader: cut at once, or look the last epoch up first, as the release does."""
    if rules.skips_truncation(replica.leader, replica.leader_epoch, leader, decision.leader_epoch):
        return (replace(replica, leader_epoch=decision.leader_epoch),)
    looks_up = rules.truncation.looks_up(replica.log.low)
    followed = replace(
        replica, leader=leader, leader_epoch=decision.leader_epoch, truncating=looks_up, truncated_to=None
    )
    if rules.truncation.cuts_at_once(replica.log.low):
        return cut(followed, UNDEFINED, rules)
    return (followed,)


def cut(replica: Possibility, answer: EpochEnd, rules: RuleSet) -> tuple[Possibility, ...]:
    """Return what the replica may be after the cut that an answer leads to."""
    known_good = replica.truncated_to or replica.high_watermark
    truncation = rules.truncation
    low = truncation.cut(replica.log.low, known_good.low, answer)
    high = truncation.cut(replica.log.high, known_good.high, answer)
    asks_again = truncation.asks_leader and not (low.is_final and high.is_final)
    again = OffsetBounds(low.offset, high.offset) if asks_again else None
    was_cut = replica.was_cut or low.offset < replica.log.high.end
    done = replace(replica, truncating=asks_again, truncated_to=again, was_cut=was_cut)
    if rules.keeps_epoch_without_cut and low.offset >= replica.log.high.end:
        return (done,)
    return truncated(done, low.offset, high.offset)


def truncated(replica: Possibility, low: Offset, high: Offset) -> tuple[Possibility, ...]:
    """Return the replica with its log cut somewhere between two offsets."""
    uncut = replica.uncut
    if low != high:
        logs = tuple(KnownLog(log.low.ending_at(min(low, log.low.end)), log.high) for log in replica.log.cut_to(high))
        uncut = uncut or (replica.log if logs != (replica.log,) else None)
    elif uncut is not None and low <= replica.log.low.end:
        logs, uncut = uncut.cut_to(low), None
    else:
        logs = replica.log.cut_to(low)
    return tuple(
        replace(
            replica,
            log=log,
            high_watermark=replica.high_watermark.at_most(log.low.end, log.high.end),
            uncut=uncut,
        )
        for log in logs
    )


def lost(replica: Possibility, offset: Offset) -> tuple[Possibility, ...]:
    """Return the replica whose disk has lost the log from an offset on, and with it the epochs that start there."""
    return tuple(replace(cut, was_cut=False) for cut in truncated(replica, offset, offset))


def fetching_at(replica: Possibility, offset: Offset) -> tuple[Possibility, ...]:
    """Return the replica now that its end is known: it fetches there."""
    if not replica.is_out_of_range:
        known = (replica.log,) if replica.uncut is None else replica.uncut.cut_to(offset)
        return tuple(replica.with_log(log.ending_at(offset)) for log in known)
    reset = replace(replica, is_out_of_range=False)
    if offset > replica.log.high.end:
        empty = EpochLog(end=offset)
        return (replace(reset, log=KnownLog(empty, empty), high_watermark=OffsetBounds(offset, offset)),)
    return truncated(reset, offset, offset)
