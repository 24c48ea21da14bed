"""Which states does a replica go through, and which event takes it from one to the next?

The diagram is read off the transitions themselves: every event is tried in every state of a small partition,
under several releases, and each change of one replica becomes an arrow. What no event does is not drawn.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.events import (
    BrokerDied,
    BrokerRemoved,
    BrokerReturned,
    DecisionReceived,
    FetchCompleted,
    RecordSent,
    RequestLost,
    RequestReceived,
    RequestSent,
    ResponseReceived,
)
from oracle.predict import initial_world
from oracle.schedule import Schedule, TopicSettings
from oracle.state import FetchStage
from oracle.transitions import Refusal, step
from oracle.vocabulary import Acks, BrokerId, HighWatermarkCheckpoint, Label, ReplicaRole, Timing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle.events import Event
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState

Arrow = tuple[str, str, str]

BROKERS = (BrokerId(1), BrokerId(2))
RECORDS = 1
EPOCHS = 1
DOWN = "down"
RUNNING = "running"
_STAGES = {
    None: "idle",
    FetchStage.REQUESTED: "request on its way",
    FetchStage.PARKED: "parked at the leader",
    FetchStage.ANSWERED: "answer on its way",
}


def arrows(rule_sets: Iterable[RuleSet]) -> frozenset[Arrow]:
    """Return (state before, event, state after) for every change of a replica under any of the rule sets."""
    return frozenset(arrow for rules in rule_sets for arrow in _arrows(rules))


def mermaid(found: Iterable[Arrow]) -> str:
    """Draw arrows as a Mermaid state diagram; events between the same two states share an arrow.

    An arrow that every running state has is drawn once, from the box around them. A connection that ends with
    another broker is not told apart from one that is lost.
    """
    labels: dict[tuple[str, str], list[str]] = {}
    for before, event, after in sorted(_boxed(set(found))):
        labels.setdefault((before, after), []).append(event)
    names = sorted({name for ends in labels for name in ends} - {RUNNING, DOWN})
    lines = [
        "stateDiagram-v2",
        f"    state {RUNNING} {{",
        *(f'        state "{name}" as {_id(name)}' for name in names),
    ]
    lines += [f"        {_arrow(*ends, events)}" for ends, events in labels.items() if DOWN not in ends]
    lines += ["    }", *(f"    {_arrow(*ends, events)}" for ends, events in labels.items() if DOWN in ends)]
    return "\n".join(lines)


def _boxed(found: set[Arrow]) -> set[Arrow]:
    running = {name for before, _, after in found for name in (before, after)} - {DOWN}
    shared = {(event, after) for _, event, after in found if all((before, event, after) in found for before in running)}
    kept = {arrow for arrow in found if arrow[1:] not in shared}
    return kept | {(RUNNING, event, after) for event, after in shared}


def _arrow(before: str, after: str, events: list[str]) -> str:
    return f"{_id(before)} --> {_id(after)}: {', '.join(events)}"


def state_name(replica: ReplicaState) -> str:
    """Name the state that a replica is in, as the diagram does."""
    if not replica.alive:
        return DOWN
    if replica.role is ReplicaRole.NONE:
        return "no leader known"
    if replica.role is ReplicaRole.LEADER:
        return "leader"
    if replica.stuck:
        return "follower: fetcher stopped"
    purpose = "looks its epoch up" if replica.truncating else "fetches"
    return f"follower {purpose}: {_STAGES[replica.fetch.stage if replica.fetch else None]}"


def _arrows(rules: RuleSet) -> Iterator[Arrow]:
    settings = TopicSettings(1, unclean_leader_election=True)
    schedule = Schedule("", "", (), BROKERS, (), settings, Timing.SESSION, HighWatermarkCheckpoint.NEVER)
    first = initial_world(schedule, rules, BROKERS).state
    seen, queue = {_without_history(first)}, deque([first])
    while queue:
        state = queue.popleft()
        for event in _events(state):
            result = step(state, event, rules)
            if isinstance(result, Refusal):
                continue
            yield from _changes(state, event, result.state)
            if result.state.controller.leader_epoch > EPOCHS:
                continue
            if (told := _without_history(result.state)) not in seen:
                seen.add(told)
                queue.append(result.state)


def _events(state: PartitionState) -> Iterator[Event]:
    if len(state.produces) < RECORDS:
        yield RecordSent(Label("m0"), Acks.LEADER)
    for broker in BROKERS:
        yield from (RequestSent(broker), RequestReceived(broker), FetchCompleted(broker), ResponseReceived(broker))
        yield from (RequestLost(broker), DecisionReceived(broker))
        yield from (BrokerDied(broker, graceful=False), BrokerReturned(broker, clean=False))
        if broker in state.controller.registered:
            yield BrokerRemoved(broker)


def _changes(before: PartitionState, event: Event, after: PartitionState) -> Iterator[Arrow]:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(event).__name__).lower()
    for old in before.replicas:
        new = after.replica(old.broker)
        if state_name(old) != state_name(new):
            subject = getattr(event, "broker", getattr(event, "follower", None))
            yield state_name(old), words if subject == old.broker else "request lost", state_name(new)


def _without_history(state: PartitionState) -> PartitionState:
    replicas = tuple(replace(replica, history_appended=frozenset()) for replica in state.replicas)
    controller = replace(state.controller, leaderships=state.controller.leaderships[-1:])
    return replace(
        state,
        replicas=replicas,
        controller=controller,
        history_committed=frozenset(),
        history_losses=(),
        history_truncations=(),
    )


def _id(name: str) -> str:
    return re.sub(r"\W+", "_", name)
