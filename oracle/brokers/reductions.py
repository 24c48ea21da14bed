"""Which half steps need no visit of their own? Those that the brokers take at once, whatever else happens.

After every event the model takes these, so that a search sees only states with a choice. 1, 2 and 5
hide no outcome; 3 and 4 leave behaviours out:

1. An idle follower sends its next request. The request's content is fixed by the follower's own
   state, and nothing else changes that state while it is idle but a new leader epoch: the request
   that the follower would have sent then is refused or answered as this one is, and sent again.
2. A parked fetch with something to tell is completed. An append completes it in the appending
   thread (DelayedFetch), so it carries that append's record and no later one. A high watermark
   waits for the maximum wait at most; a later completion is the same answer followed by one more
   round. A parked fetch with nothing to tell stays parked: its empty answer and the next request
   change nothing.
3. Every broker hears the controller's decision, the elected leader first. This one is a bound, not
   a reduction: zombie leaders and followers, which a hold on a controller channel leaves, are not
   searched. Nor are deaths that the controller notices late, or a leader that shrinks its ISR.
4. A wish to join the ISR is answered, unless the bounds ask for late joins. This is a bound too: a
   leader that dies while a join is pending is searched with late joins only.
5. With ``prompt`` checkpointing each high watermark is on disk.

None makes up a behaviour: every path is one of ``step``.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from oracle.events import (
    BrokerDied,
    BrokerReturned,
    DecisionReceived,
    FetchCompleted,
    JoinCommitted,
    JoinRefused,
    LateFetchReceived,
    RequestReceived,
    RequestSent,
)
from oracle.properties import verdict_of
from oracle.replacing import replace
from oracle.replication import joining
from oracle.replication.electing import awaiting, checkpoint_high_watermarks
from oracle.replication.following import TAIL_LOST, is_left_out
from oracle.replication.leading import answer_now, is_served
from oracle.state import ControllerView, FetchKind, FetchStage, PartitionState, ReplicaState
from oracle.transitions import Refusal, step
from oracle.vocabulary import HighWatermarkCheckpoint, ReplicaRole

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from oracle.brokers.questions import SearchBounds
    from oracle.events import Event
    from oracle.rules.rule_set import RuleSet
    from oracle.state import FetchInFlight, ProduceState
    from oracle.vocabulary import BrokerId


def advanced(state: PartitionState, events: tuple[Event, ...], rules: RuleSet, bounds: SearchBounds) -> PartitionState:
    """Return the state after some events that the rules allow, and after all that follows at once."""
    for event in events:
        before, state = state, _applied(state, event, rules)
        if bounds.late_fetches:
            state = replace(state, late=late_fetches(before, event))
    state = _all_told(state, rules)
    while not bounds.late_joins and (answer := join_answer(state, rules)) is not None:
        state = _applied(state, answer, rules)
    for broker in state.assignment:
        state = _at_once(state, broker, rules, bounds)
    if bounds.checkpointing is HighWatermarkCheckpoint.PROMPT and any(map(_is_behind_its_checkpoint, state.replicas)):
        return checkpoint_high_watermarks(state)
    return state


def late_fetches(state: PartitionState, event: Event) -> tuple[LateFetchReceived, ...]:
    """Return the fetches that can still reach their leader after an event, though their senders have died.

    They go with their leader's process, and are of an earlier start once their sender has been started again.
    """
    match event:
        case LateFetchReceived():
            return tuple(one for one in state.late if one != event)
        case BrokerReturned(broker):
            return tuple(one.after_start_of(broker) for one in state.late)
        case BrokerDied(broker):
            others = tuple(one for one in state.late if one.fetch.leader != broker)
            fetch = outliving(state, state.replica(broker))
            return others if fetch is None else (*others, LateFetchReceived(broker, fetch, is_of_earlier_start=False))
        case _:
            return state.late


def outliving(state: PartitionState, replica: ReplicaState) -> FetchInFlight | None:
    """Return a replica's fetch if it is on its way to a leader that runs: it outlives its sender."""
    fetch = replica.fetch
    if fetch is None or (fetch.kind, fetch.stage) != (FetchKind.FETCH, FetchStage.REQUESTED):
        return None
    return fetch if state.replica(fetch.leader).alive else None


def join_answer(state: PartitionState, rules: RuleSet) -> JoinCommitted | JoinRefused | None:
    """Return what the controller says to the leader's wish to add a replica, or None if it has nothing to answer."""
    leader = state.serving_leader()
    if leader is None or not leader.joining or joining.refusal(state, leader) is not None:
        return None
    follower = min(leader.joining)
    is_eligible = joining.is_eligible(state, leader, follower, rules)
    return JoinCommitted(follower) if is_eligible else JoinRefused(follower)


def _applied(state: PartitionState, event: Event, rules: RuleSet) -> PartitionState:
    result = step(state, event, rules)
    assert not isinstance(result, Refusal), f"the model takes only steps that the rules allow: {result}"
    return result.state


def _all_told(state: PartitionState, rules: RuleSet) -> PartitionState:
    for broker in awaiting(state):
        for _ in state.replica(broker).undelivered:
            state = _applied(state, DecisionReceived(broker), rules)
    return state


def _at_once(state: PartitionState, follower: BrokerId, rules: RuleSet, bounds: SearchBounds) -> PartitionState:
    """Complete the follower's parked fetch if it has something to tell; let an idle one send."""
    replica = state.replica(follower)
    if replica.fetch is not None and replica.fetch.stage is FetchStage.PARKED:
        is_mistaken = bounds.late_fetches and _is_seen_otherwise(state, replica, replica.fetch, rules)
        if not is_mistaken and not _has_news(state, replica, replica.fetch, rules):
            return state
        state = _applied(state, FetchCompleted(replica.broker), rules)
        replica = state.replica(replica.broker)
    return _applied(state, RequestSent(replica.broker), rules) if _is_idle(state, replica) else state


def _has_news(state: PartitionState, replica: ReplicaState, fetch: FetchInFlight, rules: RuleSet) -> bool:
    leader = state.presumed_leader(fetch.leader)
    if leader is None or not is_served(fetch, leader, rules):
        return True
    answer = answer_now(leader, fetch)
    if answer.entries or replica.broker not in leader.maximal_isr():
        return True
    return answer.high_watermark != replica.high_watermark and not is_left_out(replica, answer)


def _is_seen_otherwise(state: PartitionState, replica: ReplicaState, fetch: FetchInFlight, rules: RuleSet) -> bool:
    """Return whether the same fetch, sent again, would correct what a late one has made the leader believe."""
    asking = state.with_replica(replace(replica, fetch=replace(fetch, stage=FetchStage.REQUESTED)))
    told = _applied(asking, RequestReceived(replica.broker), rules)
    return told.replica(fetch.leader).remotes != state.replica(fetch.leader).remotes


def _is_idle(state: PartitionState, replica: ReplicaState) -> bool:
    if not replica.alive or replica.role is not ReplicaRole.FOLLOWER or replica.fetch is not None or replica.stuck:
        return False
    return replica.leader is not None and state.presumed_leader(replica.leader) is not None


def _is_behind_its_checkpoint(replica: ReplicaState) -> bool:
    return replica.alive and replica.checkpointed_high_watermark != replica.high_watermark


# When are two states the same to a search? When no event can ever tell them apart.
#
# A key keeps everything that a later event or a property reads, exactly: no hash stands for a value.
# It leaves out what only reports read: earlier leaderships, cuts made, the epoch of an append, the
# appends that the replica's log still shows. Parts that recur are numbered, so a key is a short tuple.


HISTORY = {"history_committed", "history_losses", "history_truncations"}


class Keys:
    """Exact keys of states, with a number for every part seen so far."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def key(self, state: PartitionState) -> tuple[int, ...]:
        """Return a state's key."""
        numbers = self._numbers
        return tuple(numbers.setdefault(part, len(numbers)) for part in key_parts(state))


def has_lost_a_tail(state: PartitionState) -> bool:
    """Return whether a disk has forgotten records."""
    return any(reason == TAIL_LOST for _, _, reason in state.history_truncations)


def key_parts(state: PartitionState) -> list[Hashable]:
    """Return what a state's key is made of: history, controller, settings, then one part a replica."""
    produces = tuple(map(_produce, state.produces))
    losses = tuple(
        (loss.label, loss.was_clean, loss.had_appended, verdict_of(state, loss)) for loss in state.history_losses
    )
    history = (produces, state.history_committed, losses, has_lost_a_tail(state))
    known = [history, _of_controller(state.controller), _of_rest(state), *map(_replica, state.replicas)]
    return [*known, state.late] if state.late else known  # seldom there, as a session


def _produce(produce: ProduceState) -> Hashable:
    """Return what a producer knows; where one waits, for which high watermark on which leader."""
    if produce.outcome is None:
        return (produce.leader, produce.required_offset, produce.leader_epoch)
    return produce.outcome


def _replica(replica: ReplicaState) -> Hashable:
    """Return what a replica knows, what its link carries, and the appends that its log no longer shows."""
    forgotten = replica.history_appended.difference(entry.label for entry in replica.log.entries)
    known = (_of_replica(replica), forgotten)
    return known if replica.session is None else (*known, replica.session)  # seldom there, and then part of the id


def _reader(of: type, without: set[str]) -> Callable[[Any], Hashable]:
    """Return a function that reads every field of a class but some."""
    names = [field.name for field in fields(of) if field.name not in without]
    return attrgetter(*names)


_of_replica = _reader(ReplicaState, {"history_appended", "session"})
_of_controller = _reader(ControllerView, {"leaderships"})
_of_rest = _reader(PartitionState, {"replicas", "controller", "produces", "late", *HISTORY})
