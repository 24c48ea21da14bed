"""What must never happen to a partition? The invariants of Kafka's replication that read one state.

Each takes a state and answers yes or no; its docstring says what is broken where it does not hold.
What a search must have seen before "nothing found" says anything stands below them.

Sources: the WeakIsr and StrongIsr of the published specifications; KIP-101, KIP-497, KIP-966.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from oracle.guarantees import PromiseVerdict, judge_loss
from oracle.state import FetchKind, FetchStage
from oracle.vocabulary import ProduceOutcome, ReplicaRole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from oracle.state import FetchInFlight, LostRecord, PartitionState, ReplicaState
    from oracle.vocabulary import BrokerId


def verdict_of(state: PartitionState, loss: LostRecord) -> PromiseVerdict:
    """Return what a loss means for the promise that was made about its record."""
    produce = next(produce for produce in state.produces if produce.label == loss.label)
    outcome = produce.outcome or ProduceOutcome.INDETERMINATE
    return judge_loss(produce.acks, outcome, state.settings, loss, "").verdict


def acknowledged_survives(state: PartitionState) -> bool:
    """Every acknowledged record survives, as far as the settings promise it."""
    return all(verdict_of(state, loss) is not PromiseVerdict.BROKEN for loss in state.history_losses)


def nothing_acknowledged_is_lost(state: PartitionState) -> bool:
    """No election stops serving an acknowledged record, promised or not."""
    return all(verdict_of(state, loss) is PromiseVerdict.NONE for loss in state.history_losses)


def committed_survives(state: PartitionState) -> bool:
    """Leader completeness: a cleanly elected leader, or one that once had the record, serves all that was committed."""
    return not any(
        loss.label in state.history_committed and (loss.was_clean or loss.had_appended) for loss in state.history_losses
    )


def candidates_are_complete(state: PartitionState) -> bool:
    """StrongIsr: whatever the leader exposed is on every replica that may be elected cleanly."""
    leader = state.serving_leader()
    if leader is None:
        return True
    committed = leader.log.entries[: leader.high_watermark]
    return all(state.replica(broker).log.entries[: leader.high_watermark] == committed for broker in _candidates(state))


def in_sync_logs_match(state: PartitionState) -> bool:
    """Log matching: two running in-sync replicas agree below both their high watermarks."""
    in_sync = [state.replica(broker) for broker in state.controller.isr if state.replica(broker).alive]
    for one, other in combinations(in_sync, 2):
        end = min(one.high_watermark, other.high_watermark)
        if one.log.entries[:end] != other.log.entries[:end]:
            return False
    return True


def acknowledged_is_somewhere(state: PartitionState) -> bool:
    """No record whose promise holds is gone from every disk."""
    if state.history_losses:
        return True
    stored = {entry.label for replica in state.replicas for entry in replica.log.entries}
    return all(p.label in stored for p in state.produces if p.outcome is ProduceOutcome.ACKNOWLEDGED)


def same_offset_and_epoch_same_record(state: PartitionState) -> bool:
    """One leader per epoch writes one record per offset: no two replicas disagree on it."""
    for one, other in combinations(state.replicas, 2):
        for mine, theirs in zip(one.log.entries, other.log.entries, strict=False):
            if mine.leader_epoch == theirs.leader_epoch and mine.label != theirs.label:
                return False
    return True


def served_follower_is_a_prefix(state: PartitionState) -> bool:
    """A follower whose fetch its leader has accepted in the same epoch holds a prefix of the leader's log."""
    return all(
        follower.log.entries == leader.log.entries[: follower.log.log_end_offset]
        for leader, follower in _accepted(state)
    )


def high_watermark_is_within_log(state: PartitionState) -> bool:
    """No replica knows records to be committed that it does not have."""
    return all(0 <= replica.high_watermark <= replica.log.log_end_offset for replica in state.replicas)


def epochs_never_decrease(state: PartitionState) -> bool:
    """Leader epochs never decrease along a log."""
    return all(
        earlier.leader_epoch <= later.leader_epoch
        for replica in state.replicas
        for earlier, later in pairwise(replica.log.entries)
    )


def epoch_cache_is_that_of_the_log(state: PartitionState) -> bool:
    """Return the cache rises strictly in the epoch and knows where each epoch of the log starts."""
    return all(map(_has_true_cache, state.replicas))


def leader_is_in_sync(state: PartitionState) -> bool:
    """Return the leader belongs to the ISR and its broker is registered."""
    view = state.controller
    return view.leader is None or (view.leader in view.isr and view.leader in view.registered)


def eligible_replicas_are_disjoint(state: PartitionState) -> bool:
    """Eligible leader replicas are outside the ISR, and there are none once the ISR reaches its minimum."""
    view = state.controller
    minimum = min(state.settings.min_insync_replicas, len(state.assignment))
    return not view.elr & set(view.isr) and (not view.elr or len(view.isr) < minimum)


def quorum_is_a_superset(state: PartitionState) -> bool:
    """The leader's maximal ISR holds the controller's ISR: whoever may be elected holds the high watermark back."""
    leader = state.serving_leader()
    return leader is None or set(state.controller.isr) <= leader.maximal_isr()


ALWAYS: Mapping[str, Callable[[PartitionState], bool]] = {
    "AcknowledgedSurvives": acknowledged_survives,
    "CommittedSurvives": committed_survives,
    "CandidatesAreComplete": candidates_are_complete,
    "InSyncLogsMatch": in_sync_logs_match,
    "AcknowledgedIsSomewhere": acknowledged_is_somewhere,
    "SameOffsetAndEpochSameRecord": same_offset_and_epoch_same_record,
    "ServedFollowerIsAPrefix": served_follower_is_a_prefix,
    "HighWatermarkIsWithinLog": high_watermark_is_within_log,
    "EpochsNeverDecrease": epochs_never_decrease,
    "EpochCacheIsThatOfTheLog": epoch_cache_is_that_of_the_log,
    "LeaderIsInSync": leader_is_in_sync,
    "EligibleReplicasAreDisjoint": eligible_replicas_are_disjoint,
    "QuorumIsASuperset": quorum_is_a_superset,
}
"""The invariants by name."""

ASKED: Mapping[str, Callable[[PartitionState], bool]] = {
    **ALWAYS,
    "NothingAcknowledgedIsLost": nothing_acknowledged_is_lost,
}
"""What a search can ask for: the invariants, and what settings may give up without breaking a promise."""


def _candidates(state: PartitionState) -> set[BrokerId]:
    return set(state.controller.isr) | state.controller.elr


def _accepted(state: PartitionState) -> Iterator[tuple[ReplicaState, ReplicaState]]:
    """Return (leader, follower) for each parked fetch of the leader's own epoch."""
    leader = state.serving_leader()
    for follower in state.replicas if leader else ():
        fetch = follower.fetch
        is_parked = fetch is not None and fetch.stage is FetchStage.PARKED and fetch.leader == leader.broker  # type: ignore[union-attr]
        if is_parked and fetch.leader_epoch == leader.leader_epoch:  # type: ignore[union-attr]
            yield leader, follower  # type: ignore[misc]


def _has_true_cache(replica: ReplicaState) -> bool:
    epochs = replica.log.epochs
    if any(earlier.leader_epoch >= later.leader_epoch for earlier, later in pairwise(epochs)):
        return False
    cached = {entry.leader_epoch: entry.start_offset for entry in epochs}
    starts: dict[int, int] = {}
    for offset, entry in enumerate(replica.log.entries):
        starts.setdefault(entry.leader_epoch, offset)
    return all(cached.get(epoch) == start for epoch, start in starts.items())  # type: ignore[call-overload]


# Where must a search have been before "nothing found" says anything? The sometimes twins of the invariants above.
#
# Each takes a state and answers whether it is such a place: an election, a cut, an acknowledged record.
# What no state shows, the model counts as it happens (``Brokers.occurrences``): an ISR that has grown again.


def has_elected_cleanly(state: PartitionState) -> bool:
    """A second leader was elected from the ISR."""
    return any(was_clean for _, _, was_clean in state.controller.leaderships[1:])


def has_elected_uncleanly(state: PartitionState) -> bool:
    """A leader was elected from outside the ISR."""
    return any(not was_clean for _, _, was_clean in state.controller.leaderships)


def has_no_leader(state: PartitionState) -> bool:
    """Nobody may lead."""
    return state.controller.leader is None


def has_truncated(state: PartitionState) -> bool:
    """A replica cut records."""
    return bool(state.history_truncations)


def has_shrunk_isr(state: PartitionState) -> bool:
    """The ISR is smaller than the assignment."""
    return len(state.controller.isr) < len(state.assignment)


def has_committed(state: PartitionState) -> bool:
    """A leader raised its high watermark."""
    return bool(state.history_committed)


def has_acknowledged(state: PartitionState) -> bool:
    """A producer was told that its record is safe."""
    return any(produce.outcome is ProduceOutcome.ACKNOWLEDGED for produce in state.produces)


def follower_lags_in_knowledge(state: PartitionState) -> bool:
    """A follower has a committed record but not the high watermark that commits it."""
    return any(
        r.role is ReplicaRole.FOLLOWER
        and r.high_watermark < r.log.log_end_offset
        and _last(r) in state.history_committed
        for r in state.replicas
    )


def follower_is_ahead(state: PartitionState) -> bool:
    """A follower's log is longer than its leader's."""
    leader = state.serving_leader()
    return leader is not None and any(
        r.alive and r.log.log_end_offset > leader.log.log_end_offset for r in state.replicas
    )


def has_looked_up_an_epoch(state: PartitionState) -> bool:
    """A follower asks where its epoch ends."""
    return any(r.fetch is not None and r.fetch.kind is FetchKind.EPOCH_LOOKUP for r in state.replicas)


def has_been_told_to_cut(state: PartitionState) -> bool:
    """A leader answered a fetch with a diverging epoch."""
    return any(getattr(fetch.answer, "diverging", None) is not None for fetch in _fetches(state))


SOMETIMES: Mapping[str, Callable[[PartitionState], bool]] = {
    "clean election": has_elected_cleanly,
    "unclean election": has_elected_uncleanly,
    "no leader": has_no_leader,
    "truncation": has_truncated,
    "ISR shrunk": has_shrunk_isr,
    "record committed": has_committed,
    "record acknowledged": has_acknowledged,
    "follower without the news": follower_lags_in_knowledge,
    "follower ahead of its leader": follower_is_ahead,
    "epoch lookup": has_looked_up_an_epoch,
    "diverging fetch": has_been_told_to_cut,
}
"""The places worth reaching, by name."""


def _fetches(state: PartitionState) -> Iterator[FetchInFlight]:
    return (replica.fetch for replica in state.replicas if replica.fetch is not None)


def _last(replica: ReplicaState) -> str | None:
    return replica.log.entries[-1].label if replica.log.entries else None
