"""Which step and which rule decided a record's fate? The last change that mattered, in words.

Without a chronicle, as for a single state, the rule alone is named.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from oracle.predicting.wording import ChangeKind, brokers
from oracle.rules import strict_min_isr
from oracle.vocabulary import Fate

if TYPE_CHECKING:
    from oracle.predicting.wording import Change, Chronicle
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ProduceState, ReplicaState
    from oracle.vocabulary import BrokerId, Label


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
        return f", which stands still with {in_sync} ({strict_min_isr.RULE.name})"
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
