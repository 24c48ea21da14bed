"""What does a controller do when brokers come and go? It decides, and sends the decision to each broker.

Sources: KafkaController, ReplicationControlManager, ControllerChannelManager, MetadataLoader; HW-13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.replacing import replace
from oracle.replication.decisions import with_losses
from oracle.replication.following import truncate
from oracle.rules import election, eligible_leaders, fencing, unclean_election
from oracle.rules.diverging_log import WhenAhead
from oracle.rules.election import ElectedPartition
from oracle.state import ControllerDecision, Reassignment, ReplicaState
from oracle.vocabulary import Acks, Offset, ProduceOutcome, ReplicaRole

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import TopicSettings
    from oracle.state import ControllerView, PartitionState, ProduceState
    from oracle.vocabulary import BrokerId, ElectionKind


def shut_down(state: PartitionState, broker: BrokerId, rules: RuleSet) -> PartitionState:
    """Stop a broker gracefully: a leader with a successor in the ISR follows it for a moment before it exits."""
    view = state.controller
    has_successor = view.leader == broker and bool(view.registered & set(view.isr) - {broker})
    if has_successor and rules.stopping_leader_cuts:
        replica = state.replica(broker)
        state = truncate(state, replica, replica.high_watermark, rules.truncation.rule.name)
    return die(state, broker, graceful=True)


def end_by_itself(state: PartitionState, broker: BrokerId, rules: RuleSet) -> PartitionState:
    """End a broker whose fetcher has given up, in good order or half-way through, as the release does (KAFKA-7414)."""
    if rules.when_ahead is WhenAhead.CUTS or not state.replica(broker).stuck:
        return state
    if rules.when_ahead is WhenAhead.BROKER_ENDS:
        return remove(shut_down(state, broker, rules), broker, rules)
    hung = remove(die(state, broker, graceful=False), broker, rules)
    return hung.with_replica(replace(hung.replica(broker), stuck=True))


def die(state: PartitionState, broker: BrokerId, *, graceful: bool) -> PartitionState:
    """End a broker's process: its log stays, its high watermark is what the checkpoint file says.

    Every connection to it breaks, and with it the requests that others have under way.
    """
    replica = state.replica(broker)
    checkpointed = replica.high_watermark if graceful else replica.checkpointed_high_watermark
    start = replica.log_start_offset if graceful else replica.checkpointed_log_start_offset
    dead = ReplicaState(
        broker,
        alive=False,
        log=replica.log.truncate_to(replica.log.log_end_offset),
        high_watermark=min(checkpointed, replica.log.log_end_offset),
        checkpointed_high_watermark=checkpointed,
        log_start_offset=start,
        checkpointed_log_start_offset=start,
        shut_down_cleanly=graceful,
        history_appended=replica.history_appended,
    )
    others = tuple(_without(other, broker) for other in state.replicas)
    produces = tuple(_cut_off(produce, broker) for produce in state.produces)
    was_zombie = replica.role is ReplicaRole.LEADER and state.controller.leader != broker
    state = replace(state, replicas=others, produces=produces).with_replica(dead)
    return with_losses(state) if was_zombie else state


def _without(replica: ReplicaState, broker: BrokerId) -> ReplicaState:
    """Return a replica after another broker's end: no request to it is under way any more, and no fetch session."""
    has_any = replica.leader == broker and (replica.fetch is not None or replica.session is not None)
    return replace(replica, fetch=None, session=None) if has_any else replica


def _as_another_incarnation(replica: ReplicaState, broker: BrokerId) -> ReplicaState:
    """Return a replica after another broker's start: as a leader it has not heard from this incarnation yet."""
    if not replica.remotes:
        return replica
    remotes = tuple(remote.restarted() if remote.broker == broker else remote for remote in replica.remotes)
    return replace(replica, remotes=remotes)


def _cut_off(produce: ProduceState, broker: BrokerId) -> ProduceState:
    if produce.outcome is None and produce.leader == broker:
        return replace(produce, outcome=ProduceOutcome.INDETERMINATE)
    return produce


def remove(state: PartitionState, broker: BrokerId, rules: RuleSet) -> PartitionState:
    """Let the controller react to a broker that is gone, or that it believes to be gone."""
    partition = ElectedPartition(state.assignment, state.settings)
    return notify(state, rules.election.removed(state.controller, partition, broker), rules)


def return_broker(state: PartitionState, broker: BrokerId, rules: RuleSet, *, clean: bool) -> PartitionState:
    """Start a broker with its old files, or register a running one anew, and let the controller react (HW-13).

    One that the controller cannot register ends again.
    """
    if not state.assignment and not eligible_leaders.registers(state.controller, broker, clean=clean):
        return state
    if not state.replica(broker).alive:
        others = tuple(_as_another_incarnation(other, broker) for other in state.replicas)
        state = replace(state, replicas=others).with_replica(replace(state.replica(broker), alive=True, stuck=False))
    partition = ElectedPartition(state.assignment, state.settings)
    return notify(state, rules.election.returned(state.controller, partition, broker, clean), rules)


def request_election(state: PartitionState, kind: ElectionKind, rules: RuleSet) -> PartitionState | str:
    """Let the controller elect as an operator asks, or say why there is nothing to elect (KIP-183, KIP-460)."""
    missing = unclean_election.why_missing(kind, rules)
    if missing is not None:
        return missing
    partition = ElectedPartition(state.assignment, state.settings)
    elected = election.BY_KIND[kind](state.controller, partition, rules.election)
    return elected if isinstance(elected, str) else notify(state, elected, rules)


def change_settings(state: PartitionState, settings: TopicSettings, rules: RuleSet) -> PartitionState:
    """Return the topic other durability settings and let the controller react; brokers obey them at once."""
    old, state = state.settings, replace(state, settings=settings)
    partition = ElectedPartition(state.assignment, settings)
    return notify(state, rules.settings_changed(state.controller, old, partition, rules.election), rules)


def notify(
    state: PartitionState, decided: ControllerView, rules: RuleSet, added: frozenset[BrokerId] = frozenset()
) -> PartitionState:
    """Send the controller's decision to every broker to which it is news; each hears it in its own time."""
    decided = rules.marks_recovery(state.controller, decided)
    decision = ControllerDecision(decided.leader, decided.leader_epoch, frozenset(decided.isr), added=added)
    replicas = tuple(
        _told(replica, decision, rules)
        if replica.broker in state.assignment and _is_reached(replica, decided, rules)
        else replica
        for replica in state.replicas
    )
    return replace(state, controller=decided, replicas=replicas)


def _is_reached(replica: ReplicaState, decided: ControllerView, rules: RuleSet) -> bool:
    """Return whether a decision is sent to a broker at all."""
    is_known = replica.broker in decided.registered or rules.delivery.reaches_unregistered
    has_news = decided.leader is not None or (rules.delivery.tells_leaderless and replica.role is not ReplicaRole.NONE)
    return replica.alive and is_known and has_news


def _told(replica: ReplicaState, decision: ControllerDecision, rules: RuleSet) -> ReplicaState:
    last = replica.undelivered[-1] if replica.undelivered else None
    epoch, isr = (last.leader_epoch, last.isr) if last else (replica.leader_epoch, replica.isr)
    is_new_to_leader = decision.leader == replica.broker and (decision.isr != isr or bool(decision.added))
    if not fencing.is_news(decision.leader_epoch, epoch) and not is_new_to_leader:
        return replica
    if not rules.delivery.merges:
        return replace(replica, undelivered=(*replica.undelivered, decision))
    added = decision.added.union(*(earlier.added for earlier in replica.undelivered))
    return replace(replica, undelivered=(replace(decision, added=added),))


def awaiting(state: PartitionState) -> tuple[BrokerId, ...]:
    """Return the brokers that have a decision on its way to them, the elected leader first."""
    found = [replica.broker for replica in state.replicas if replica.undelivered]
    return tuple(sorted(found, key=lambda broker: broker != state.controller.leader)) if found else ()


def time_out(produce: ProduceState) -> ProduceState:
    """End a parked acks=all produce by its timeout; its record stays in the log (AC-03)."""
    assert produce.acks is Acks.ALL
    return replace(produce, outcome=ProduceOutcome.INDETERMINATE, error="REQUEST_TIMED_OUT")


def checkpoint_high_watermarks(state: PartitionState) -> PartitionState:
    """Write every live replica's high watermark to its checkpoint file."""
    replicas = tuple(
        replace(r, checkpointed_high_watermark=Offset(r.high_watermark)) if r.alive else r for r in state.replicas
    )
    return replace(state, replicas=replicas)


# What does a reassignment do to the replicas? The new ones start empty, the others are deleted at its end.
#
# Sources: KafkaController.onPartitionReassignment, ReplicationControlManager.changePartitionReassignment,
# ReplicaManager.stopReplicas; KIP-455.


def begin(state: PartitionState, target: tuple[BrokerId, ...], rules: RuleSet) -> PartitionState | str:
    """Assign the wanted replicas besides the old ones, or say why the controller refuses."""
    if state.reassignment is not None:
        return "a reassignment is under way"
    added = frozenset(target) - set(state.assignment)
    down = sorted(added - state.controller.registered)
    if down:
        return f"broker {down[0]} is down: it cannot get a replica"
    merged = tuple(dict.fromkeys((*target, *state.assignment)))
    reassignment = Reassignment(target, added, frozenset(state.assignment) - set(target))
    state = replace(state, assignment=merged, reassignment=reassignment)
    if rules.reassignment.is_ready(state.controller, reassignment):
        return state
    return notify(state, rules.reassignment.begun(state.controller), rules, added)


def advanced(state: PartitionState, rules: RuleSet) -> PartitionState:
    """End a reassignment as soon as the wanted replicas are in sync."""
    reassignment = state.reassignment
    assert reassignment is not None
    if not rules.reassignment.is_ready(state.controller, reassignment):
        return state
    target = reassignment.target
    removed = tuple(broker for broker in state.assignment if broker in reassignment.removed)
    state = replace(state, assignment=target, reassignment=None)
    partition = ElectedPartition(target, state.settings)
    for decided in rules.reassignment.completed(state.controller, partition, removed, rules.election):
        state = notify(state, decided, rules)
    replicas = tuple(_told_to_stop(r, rules) if r.broker in removed and r.alive else r for r in state.replicas)
    return replace(state, replicas=replicas)


def _told_to_stop(replica: ReplicaState, rules: RuleSet) -> ReplicaState:
    """Return a replica on its way to which is the decision that it is not assigned any more."""
    stop = ControllerDecision(None, replica.leader_epoch, frozenset(), deletes=True)
    earlier = () if rules.delivery.merges else replica.undelivered
    return replace(replica, undelivered=(*earlier, stop))
