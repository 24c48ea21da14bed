"""How does a finished model become a prediction? Moments, fates, and the rule that decided each."""

from __future__ import annotations

from itertools import combinations
from operator import itemgetter
from typing import TYPE_CHECKING

from oracle.guarantees import Promise, PromiseVerdict, judge_loss
from oracle.predicting.wording import ChangeKind, brokers
from oracle.prediction import Divergence, LoggedRecord, Moment, Prediction, RecordPrediction, ReplicaNumbers
from oracle.replication.following import forgot
from oracle.rules import diverging_log, eligible_leaders, high_watermark, isr
from oracle.steps.step import ScheduleError
from oracle.vocabulary import Fate, Leadership, Offset, ProduceOutcome, ReplicaRole

if TYPE_CHECKING:
    from oracle.predicting.wording import Change, Chronicle
    from oracle.rules.rule import Rule
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.state import LostRecord, PartitionState, ProduceState, ReplicaState
    from oracle.vocabulary import BrokerId, Label, LeaderEpoch


def moment(state: PartitionState, step: int, name: str | None, paused: frozenset[BrokerId] = frozenset()) -> Moment:
    """Read the numbers of every replica at rest; those of a paused broker are what its disk shows."""
    leader = state.serving_leader()
    followers = [r for r in state.assigned() if r.alive and r.role is ReplicaRole.FOLLOWER]
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
    leader = _readable_leader(schedule, rules, state)
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
        unregistrable=eligible_leaders.unregistrable(state.controller),
        chronicle=chronicle,
    )


def _readable_leader(schedule: Schedule, rules: RuleSet, state: PartitionState) -> ReplicaState:
    """Return who leads at the end and tells where the topic ends.

    Raises:
        ScheduleError: nobody does.
    """
    leader = state.serving_leader()
    if leader is None:
        message = "the schedule must end with a leader, so that the topic can be read"
    elif not can_be_read(state, rules):
        message = (
            f"the schedule must end with the high watermark, {leader.high_watermark}, at the start of the epoch of "
            f"leader {leader.broker}, {leader.epoch_start_offset}, so that the topic can be read (KIP-207): bring its "
            "followers back, or set min.insync.replicas lower"
        )
    else:
        return leader
    raise ScheduleError(message, step=len(schedule.steps) - 1, field="steps")


def can_be_read(state: PartitionState, rules: RuleSet) -> bool:
    """Tell whether a consumer is told where the topic ends: somebody leads, and tells its latest offset."""
    leader = state.serving_leader()
    return leader is not None and rules.tells_latest_offset(leader.high_watermark, leader.epoch_start_offset)


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
    outcome = produce.outcome or ProduceOutcome.INDETERMINATE
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


def _promise(
    produce: ProduceState, outcome: ProduceOutcome, state: PartitionState, rules: RuleSet, fate: Fate
) -> Promise:
    loss = next((loss for loss in state.history_losses if loss.label == produce.label), None)
    if fate in (Fate.PRESENT, Fate.UNDETERMINED) or loss is None:
        return Promise(PromiseVerdict.KEPT if outcome is ProduceOutcome.ACKNOWLEDGED else PromiseVerdict.NONE)
    return judge_loss(produce.acks, outcome, state.settings, loss, _rule_behind(loss, state, rules).source)


def _rule_behind(loss: LostRecord, state: PartitionState, rules: RuleSet) -> Rule:
    """Return the rule that let a replica be elected without the record: it lost it, or joined the ISR too early."""
    if forgot(state, loss.new_leader, loss.label):
        return eligible_leaders.LAST_REPLICA_STANDING
    if loss.had_appended:
        return rules.truncation.rule
    return diverging_log.DIVERGING_FETCH_COUNTED if rules.counts_diverging_fetch else isr.JOIN_AT_HIGH_WATERMARK


def _divergences(state: PartitionState) -> tuple[Divergence, ...]:
    """Return offsets below both high watermarks where two replicas hold different records."""
    found: dict[Offset, dict[BrokerId, Label]] = {}
    for a, b in combinations(state.assigned(), 2):
        for offset in range(min(a.high_watermark, b.high_watermark)):
            labels = {r.broker: r.log.entries[offset].label for r in (a, b)}
            if len(set(labels.values())) > 1:
                found.setdefault(Offset(offset), {}).update(labels)
    return tuple(Divergence(offset, labels) for offset, labels in sorted(found.items()))


# Which step and which rule decided a record's fate? The last change that mattered, in words.
#
# Without a chronicle, as for a single state, the rule alone is named.


def decided(
    produce: ProduceState, state: PartitionState, leader: ReplicaState, rules: RuleSet, chronicle: Chronicle
) -> tuple[Fate, str]:
    """Return what becomes of a record that the schedule's end finds like this, and what decided it."""
    if produce.label in (entry.label for entry in leader.log.entries):
        return _on_leader(produce.label, state, leader, rules, chronicle)
    if produce.required_offset is None:
        if produce.error is None:
            return Fate.ABSENT, "sent with acks=0 to a broker that does not lead, nothing was written"
        refusal = _told(chronicle, ChangeKind.ANSWERED, produce.label)
        return Fate.ABSENT, f"refused with {produce.error}{refusal}, nothing was written"
    was_committed = produce.label in state.history_committed
    return (Fate.LOST if was_committed else Fate.ABSENT), _cause(produce.label, state, rules, chronicle)


def _on_leader(
    label: Label, state: PartitionState, leader: ReplicaState, rules: RuleSet, chronicle: Chronicle
) -> tuple[Fate, str]:
    offset = [entry.label for entry in leader.log.entries].index(label)
    if offset < leader.log_start_offset:
        why = f"the log of leader {leader.broker} starts at {leader.log_start_offset}"
        return Fate.DELETED, f"deleted by request: {why} (KIP-107)"
    if offset < leader.high_watermark:
        committed = _told(chronicle, ChangeKind.COMMITTED, label)
        why = f"on leader {leader.broker} below the high watermark {leader.high_watermark}"
        return Fate.PRESENT, f"{why}, committed{committed}" if committed else why
    why = f"on leader {leader.broker} above the high watermark {leader.high_watermark}"
    return Fate.UNDETERMINED, why + _why_it_stands(state, leader, rules)


def _why_it_stands(state: PartitionState, leader: ReplicaState, rules: RuleSet) -> str:
    """Return what keeps a leader's high watermark where it is, in words; nothing if no replica and no minimum does."""
    minimum = rules.effective_min_isr(state.settings.min_insync_replicas, len(state.assignment))
    if rules.high_watermark_needs_min_isr and len(leader.isr) < minimum:
        in_sync = f"{len(leader.isr)} of {minimum} replicas in sync"
        return f", which stands still with {in_sync} ({high_watermark.NEEDS_MIN_ISR.name})"
    counting = [remote for remote in leader.remotes if remote.broker in leader.maximal_isr()]
    behind = [r.broker for r in counting if (r.log_end_offset or 0) <= leader.high_watermark]
    return f", which waits for {brokers(behind)}" if behind else ""


def _cause(label: Label, state: PartitionState, rules: RuleSet, chronicle: Chronicle) -> str:
    """Return every cut of a record and the election that stopped serving it, in the order of their steps."""
    parts: list[tuple[int, str]] = []
    for broker, cut, reason in state.history_truncations:
        if cut == label:
            step, when = _during(chronicle, ChangeKind.CUT, label, broker)
            parts.append((step, f"cut on broker {broker}{when} by {reason}"))
    loss = next((loss for loss in state.history_losses if loss.label == label), None)
    if loss is not None:
        kind = "cleanly" if loss.was_clean else "uncleanly"
        step, when = _during(chronicle, ChangeKind.ELECTED, label, loss.new_leader)
        parts.append((step, f"broker {loss.new_leader} elected {kind} without it{when} ({rules.election.rule.name})"))
    return "; ".join(text for _, text in sorted(parts, key=itemgetter(0))) or "on no replica that leads"


def _told(chronicle: Chronicle, kind: ChangeKind, label: Label) -> str:
    """Return step and rule of the first change of a kind about a record, in words."""
    change = next(iter(_about(chronicle, kind, label)), None)
    if change is None or change.rule is None:
        return ""
    return f" at {change.during} by {change.rule.name}"


def _during(chronicle: Chronicle, kind: ChangeKind, label: Label, broker: BrokerId) -> tuple[int, str]:
    """Return the index of the step, and the step in words; nothing without a chronicle."""
    change = next((change for change in _about(chronicle, kind, label) if change.broker == broker), None)
    return (0, "") if change is None else (change.step, f" at {change.during}")


def _about(chronicle: Chronicle, kind: ChangeKind, label: Label) -> list[Change]:
    return [change for change in chronicle if change.kind is kind and label in change.records]
