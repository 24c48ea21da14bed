"""How does a finished model become a prediction? Moments, fates, and the rule that decided each."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from oracle.guarantees import Promise, PromiseVerdict, judge_loss
from oracle.predicting.deciding import decided
from oracle.prediction import (
    Divergence,
    LoggedRecord,
    Moment,
    Prediction,
    RecordPrediction,
    ReplicaNumbers,
)
from oracle.replication.following import forgot
from oracle.rules import diverging_fetch, eligible_index, isr_join, kip_966
from oracle.steps.step import ScheduleError
from oracle.vocabulary import Fate, Leadership, Offset, Outcome, Role

if TYPE_CHECKING:
    from oracle.predicting.wording import Chronicle
    from oracle.rules.rule import Rule
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.state import Loss, PartitionState, ProduceState, ReplicaState
    from oracle.vocabulary import BrokerId, Label, LeaderEpoch


def moment(state: PartitionState, step: int, name: str | None, paused: frozenset[BrokerId] = frozenset()) -> Moment:
    """Read the numbers of every replica at rest; those of a paused broker are what its disk shows."""
    leader = state.serving_leader()
    followers = [r for r in state.assigned() if r.alive and r.role is Role.FOLLOWER]
    remote = {r.broker: leader.remote_log_end_offset(r.broker) for r in followers} if leader else {}
    return Moment(
        step=step,
        name=name,
        replicas={r.broker: _numbers(r, is_paused=r.broker in paused) for r in state.assigned()},
        leader=state.controller.leader,
        leadership=Leadership(len(state.controller.leaderships) - 1),
        isr=tuple(sorted(state.controller.isr)),
        elr=tuple(sorted(state.controller.elr)),
        remote_log_end_offsets=remote,
        hung=tuple(sorted(r.broker for r in state.assigned() if r.stuck and not r.alive)),
    )


def _numbers(replica: ReplicaState, *, is_paused: bool) -> ReplicaNumbers:
    shown = replica.checkpointed_high_watermark if is_paused else replica.high_watermark
    end = replica.log.log_end_offset
    start = replica.checkpointed_log_start_offset if is_paused else replica.log_start_offset
    return ReplicaNumbers(end, min(shown, end), replica.alive, start)


def conclude(
    schedule: Schedule,
    rules: RuleSet,
    state: PartitionState,
    moments: tuple[Moment, ...],
    chronicle: Chronicle = (),
) -> Prediction:
    """Turn the model's last state, and what happened before it, into the prediction.

    Raises:
        ScheduleError: if the partition cannot be read at the end.
    """
    leader = state.serving_leader()
    if leader is None:
        message = "the schedule must end with a leader, so that the topic can be read"
        raise ScheduleError(message, step=len(schedule.steps) - 1, field="steps")
    produced = {produce.label: produce for produce in state.produces}
    records = tuple(
        _record(index, produced[label], state, leader, rules, chronicle)
        for index, label in enumerate(schedule.labels())
    )
    return Prediction(
        scenario=schedule.id,
        kafka=rules.version,
        metadata=rules.metadata.value,
        rules=rules.names(),
        checkpoints=tuple(m for m in moments if m.name is not None),
        moments=moments,
        records=records,
        logs={r.broker: _logged(state, r) for r in state.assigned()},
        diverged=_divergences(state),
        unregistrable=eligible_index.unregistrable(state.controller),
        chronicle=chronicle,
    )


def _logged(state: PartitionState, replica: ReplicaState) -> tuple[LoggedRecord, ...]:
    return tuple(
        LoggedRecord(Offset(offset), entry.label, leadership_of(state, entry.leader_epoch))
        for offset, entry in enumerate(replica.log.entries)
    )


def leadership_of(state: PartitionState, epoch: LeaderEpoch) -> Leadership:
    """Return the ordinal of the leadership that a leader epoch belongs to."""
    starts = [first for first, _, _ in state.controller.leaderships]
    return Leadership(sum(1 for start in starts if start <= epoch) - 1)


def _record(
    index: int,
    produce: ProduceState,
    state: PartitionState,
    leader: ReplicaState,
    rules: RuleSet,
    chronicle: Chronicle,
) -> RecordPrediction:
    label = produce.label
    labels = [entry.label for entry in leader.log.entries]
    outcome = produce.outcome or Outcome.INDETERMINATE
    fate, why = decided(produce, state, leader, rules, chronicle)
    offset = Offset(labels.index(label)) if fate is Fate.PRESENT else None
    return RecordPrediction(
        id=index,
        label=label,
        fate=fate,
        was_committed=label in state.history_committed,
        outcome=outcome,
        error=produce.error,
        offset=offset,
        leadership=None if produce.leader_epoch is None else leadership_of(state, produce.leader_epoch),
        acks=produce.acks,
        decided_by=why,
        promise=_promise(produce, outcome, state, rules, fate),
    )


def _promise(produce: ProduceState, outcome: Outcome, state: PartitionState, rules: RuleSet, fate: Fate) -> Promise:
    loss = next((loss for loss in state.history_losses if loss.label == produce.label), None)
    if fate in (Fate.PRESENT, Fate.UNDETERMINED) or loss is None:
        return Promise(PromiseVerdict.KEPT if outcome is Outcome.ACKNOWLEDGED else PromiseVerdict.NONE)
    return judge_loss(produce.acks, outcome, state.settings, loss, _rule_behind(loss, state, rules).source)


def _rule_behind(loss: Loss, state: PartitionState, rules: RuleSet) -> Rule:
    """Return the rule that let a replica be elected without the record: it lost it, or joined the ISR too early."""
    if forgot(state, loss.new_leader, loss.label):
        return kip_966.LAST_REPLICA_STANDING
    if loss.had_appended:
        return rules.truncation.rule
    return diverging_fetch.COUNTED if rules.counts_diverging_fetch else isr_join.AT_HIGH_WATERMARK


def _divergences(state: PartitionState) -> tuple[Divergence, ...]:
    """Return offsets below both high watermarks where two replicas hold different records."""
    found: dict[Offset, dict[BrokerId, Label]] = {}
    for a, b in combinations(state.assigned(), 2):
        for offset in range(min(a.high_watermark, b.high_watermark)):
            labels = {r.broker: r.log.entries[offset].label for r in (a, b)}
            if len(set(labels.values())) > 1:
                found.setdefault(Offset(offset), {}).update(labels)
    return tuple(Divergence(offset, labels) for offset, labels in sorted(found.items()))
