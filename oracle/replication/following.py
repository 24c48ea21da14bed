"""What does a follower do? Truncates, fetches, appends, learns the high watermark.

Sources: AbstractFetcherThread, ReplicaFetcherThread; HW-06, TR-04, TR-06, LE-04, LE-07.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import UNDEFINED, EpochEnd, ReplicaLog
from oracle.replacing import replace
from oracle.rules.diverging_log import WhenAhead
from oracle.state import FetchAnswer, FetchInFlight, FetchKind, FetchStage, FollowerSession
from oracle.vocabulary import Offset, ReplicaRole

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState
    from oracle.vocabulary import BrokerId, Label, LeaderEpoch


def become_follower(
    state: PartitionState, replica: ReplicaState, leader: BrokerId, epoch: LeaderEpoch, rules: RuleSet
) -> PartitionState:
    """Follow a leader in an epoch: cut, or plan the lookup that leads to the cut.

    A request under way to the same leader lives on, and the fetch session: their connection does.
    """
    if rules.skips_truncation(replica.leader, replica.leader_epoch, leader, epoch):
        return state.with_replica(replace(replica, leader_epoch=epoch))
    is_same_leader = replica.leader == leader
    replica = replace(
        replica,
        role=ReplicaRole.FOLLOWER,
        leader=leader,
        leader_epoch=epoch,
        isr=frozenset(),
        joining=frozenset(),
        leaving=frozenset(),
        isr_answer=None,
        remotes=(),
        fetch=replica.fetch if is_same_leader else None,
        session=replica.session if is_same_leader else None,
        truncating=rules.truncation.looks_up(replica.log),
        truncated_to=None,
        stuck=False,
    )
    if rules.truncation.cuts_at_once(replica.log):
        cut = rules.truncation.cut(replica.log, replica.high_watermark, UNDEFINED)
        return truncate(state, replica, cut.offset, rules.truncation.rule.name)
    return state.with_replica(replica)


def truncate(state: PartitionState, replica: ReplicaState, offset: Offset, reason: str) -> PartitionState:
    """Cut a replica's log; its high watermark never exceeds its end (TR-09)."""
    removed = tuple((replica.broker, entry.label, reason) for entry in replica.log.entries[offset:])
    log = replica.log.truncate_to(offset)
    watermark = min(replica.high_watermark, log.log_end_offset)
    state = replace(state, history_truncations=state.history_truncations + removed)
    start = min(replica.log_start_offset, log.log_end_offset)
    return state.with_replica(replace(replica, log=log, high_watermark=watermark, log_start_offset=start))


def send_request(state: PartitionState, replica: ReplicaState, leader: BrokerId, rules: RuleSet) -> PartitionState:
    """Send the follower's next request: a lookup while it is truncating, else a fetch at its end."""
    kind = FetchKind.EPOCH_LOOKUP if replica.truncating else FetchKind.FETCH
    is_unnamed = kind is FetchKind.FETCH and replica.session is not None and not rules.session_names_epoch
    fetch = FetchInFlight(
        kind=kind,
        stage=FetchStage.REQUESTED,
        leader=leader,
        leader_epoch=None if is_unnamed else replica.leader_epoch,
        offset=replica.log.log_end_offset,
        last_epoch=replica.log.latest_epoch,
    )
    return state.with_replica(replace(replica, fetch=fetch))


def receive(state: PartitionState, replica: ReplicaState, fetch: FetchInFlight, rules: RuleSet) -> PartitionState:
    """Handle the leader's answer: drop it, cut, or append and take the high watermark (HW-06)."""
    is_dropped = _is_stale(replica, fetch, rules)
    replica, answer = replace(replica, fetch=None), fetch.answer
    assert answer is not None
    if isinstance(answer, EpochEnd):
        return state.with_replica(replica) if is_dropped else _cut(state, replica, answer, rules)
    if is_dropped:
        return state.with_replica(_with_untaken(replica, answer, rules))
    return _receive_fetch(state, replica, answer, rules)


def _is_stale(replica: ReplicaState, fetch: FetchInFlight, rules: RuleSet) -> bool:
    """Return whether an answer is dropped: a new epoch began since the request was sent (FE-04)."""
    is_of_this_epoch = fetch.leader_epoch in (None, replica.leader_epoch)
    if fetch.kind is FetchKind.EPOCH_LOOKUP:
        return not is_of_this_epoch and rules.drops_stale_lookups
    return replica.truncating or (not is_of_this_epoch and rules.drops_stale_fetches)


def _receive_fetch(state: PartitionState, replica: ReplicaState, answer: FetchAnswer, rules: RuleSet) -> PartitionState:
    if answer.out_of_range:
        return _out_of_range(state, _all_told(replica, rules), rules)
    if is_left_out(replica, answer):
        return state.with_replica(replica)
    log, start = replica.log.append(answer.entries), max(replica.log_start_offset, answer.log_start_offset)
    appended = replace(
        _all_told(replica, rules),
        log=log if start == replica.log_start_offset else log.starting_at(start),
        high_watermark=min(log.log_end_offset, answer.high_watermark),
        log_start_offset=start,
        history_appended=replica.history_appended | {entry.label for entry in answer.entries},
    )
    if answer.diverging is None:
        return state.with_replica(appended)
    if rules.takes_high_watermark_before_cut:
        return _cut(state, appended, answer.diverging, rules)
    after = _cut(state, replica, answer.diverging, rules)
    return after.with_replica(_with_untaken(after.replica(replica.broker), answer, rules))


def _with_untaken(replica: ReplicaState, answer: FetchAnswer, rules: RuleSet) -> ReplicaState:
    """Return a follower that took nothing of an answer: its fetch session counts the numbers in it as told."""
    told = replace(answer, entries=(), diverging=None)
    has_them = (replica.high_watermark, replica.log_start_offset) == (told.high_watermark, told.log_start_offset)
    if not rules.tells_once or answer.out_of_range or has_them:
        return _all_told(replica, rules)
    return replace(replica, session=FollowerSession(untaken=told))


def _all_told(replica: ReplicaState, rules: RuleSet) -> ReplicaState:
    """Return a follower that had an answer to a fetch: its session has begun, and keeps nothing from it."""
    return replace(replica, session=None if rules.session_names_epoch else FollowerSession())


def is_left_out(replica: ReplicaState, answer: FetchAnswer) -> bool:
    """Return whether a follower's session leaves the partition out of an answer: all in it counts as told."""
    return replica.session is not None and answer == replica.session.untaken


def _cut(state: PartitionState, replica: ReplicaState, answer: EpochEnd, rules: RuleSet) -> PartitionState:
    known_good = replica.high_watermark if replica.truncated_to is None else replica.truncated_to
    cut = rules.truncation.cut(replica.log, known_good, answer)
    asks_again = rules.truncation.asks_leader and not cut.is_final
    session = None if asks_again else replica.session
    replica = replace(replica, truncating=asks_again, truncated_to=cut.offset if asks_again else None, session=session)
    if rules.keeps_epoch_without_cut and cut.offset >= replica.log.log_end_offset:
        return state.with_replica(replica)
    return truncate(state, replica, cut.offset, rules.truncation.rule.name)


def _out_of_range(state: PartitionState, replica: ReplicaState, rules: RuleSet) -> PartitionState:
    """Ask for the leader's end and cut to it, or give up where the release does so instead (KAFKA-7414).

    A leader that has grown past the follower meanwhile cuts nothing: the follower goes on at its end.
    """
    leader = None if replica.leader is None else state.presumed_leader(replica.leader)
    if leader is not None and replica.log.log_end_offset < leader.log_start_offset:
        return state.with_replica(begin_at(replica, leader, rules))
    if leader is None or leader.log.log_end_offset >= replica.log.log_end_offset:
        return state.with_replica(replica)
    if rules.when_ahead is not WhenAhead.CUTS and not state.settings.unclean_leader_election:
        return state.with_replica(replace(replica, stuck=True))
    return truncate(state, replica, leader.log.log_end_offset, "out-of-range-cuts-to-leader-end")


def begin_at(replica: ReplicaState, leader: ReplicaState, rules: RuleSet) -> ReplicaState:
    """Throw a log away that ends before its leader's begins, and begin where that does (TR-09, HW-13).

    What the leader has deleted stands for the offsets before.
    """
    start = leader.log_start_offset
    log = ReplicaLog(leader.log.entries[:start])
    watermark = rules.high_watermark_at_new_start(replica.high_watermark, start)
    return replace(replica, log=log, log_start_offset=start, high_watermark=watermark)


def lose_request(state: PartitionState, replica: ReplicaState) -> PartitionState:
    """Forget the request under way, and the fetch session: their connection is gone."""
    return state.with_replica(replace(replica, fetch=None, session=None))


# What can a disk forget while its broker is down? The log's tail, and the high watermark's checkpoint.
#
# A record is on a log once it is in the page cache: kill -9 keeps it, a machine that loses power may
# not. What is gone is the end of the active segment. When the broker loads the log it cuts the epoch
# cache to the new end, and takes as high watermark what the checkpoint file says, 0 without a file,
# but at most the log end offset. A machine that lost power did not write its clean-shutdown file.
#
# Sources: LogLoader, UnifiedLog (leaderEpochCache.truncateFromEnd), OffsetCheckpointFile; HW-13, EL-06.


TAIL_LOST = "tail-lost"
"""The reason that is written beside a record which a disk forgot."""


def lose_tail(state: PartitionState, broker: BrokerId, offset: Offset) -> PartitionState:
    """Forget a dead broker's records from an offset on; the shutdown before it counts as unclean."""
    replica = replace(state.replica(broker), shut_down_cleanly=False)
    return truncate(state, replica, offset, TAIL_LOST)


def lose_high_watermark(state: PartitionState, broker: BrokerId) -> PartitionState:
    """Forget a dead broker's checkpointed high watermark: it will start with 0."""
    start = Offset(0)
    return state.with_replica(replace(state.replica(broker), high_watermark=start, checkpointed_high_watermark=start))


def forgot(state: PartitionState, broker: BrokerId, label: Label) -> bool:
    """Return whether a broker's disk has once forgotten a record."""
    return (broker, label, TAIL_LOST) in state.history_truncations


def why_not(state: PartitionState, broker: BrokerId, offset: Offset | None = None) -> str | None:
    """Return why a broker's disk cannot forget this, or None: it runs, or the log has no such record."""
    replica = state.replica(broker)
    if replica.alive:
        return f"broker {broker} runs: only a broker that is down can lose what its disk holds"
    start = replica.log_start_offset if offset is None else max(r.log_start_offset for r in state.replicas)
    if (offset or 0) < start:
        return f"records before offset {start} were deleted: what is left then is not predicted"
    if offset is not None and offset >= replica.log.log_end_offset:
        return f"the log of broker {broker} ends at {replica.log.log_end_offset}: nothing is lost from {offset} on"
    return None
