"""Do the reductions hide anything? The same partition searched without them reaches the same outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.brokers.model import Brokers
from oracle.brokers.questions import SearchBounds
from oracle.brokers.reductions import Keys
from oracle.events import DecisionReceived, FetchCompleted, RequestSent
from oracle.replication.electing import awaiting
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.transitions import Refusal, step
from oracle.vocabulary import Acks, HighWatermarkCheckpoint, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from oracle.events import Event
    from oracle.state import PartitionState

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
RELEASES = (("0.10.2.2", ZOOKEEPER), ("1.1.1", ZOOKEEPER), ("2.1.1", ZOOKEEPER), ("2.8.2", ZOOKEEPER), ("4.3.1", KRAFT))


def outcome(state: PartitionState) -> object:
    """Return what anybody could learn: logs, processes, elections, answers to producers, and what was committed."""
    logs = tuple((replica.alive, replica.log.entries) for replica in state.replicas)
    view = state.controller
    answers = tuple((produce.label, produce.outcome) for produce in state.produces)
    return logs, view.leader, view.leader_epoch, frozenset(view.isr), view.elr, answers, state.history_committed


def reached(brokers: Brokers, follow: Callable[[PartitionState], Iterable[PartitionState]]) -> set[object]:
    """Return every outcome of a search, exhaustive within the bounds."""
    keys = Keys()
    seen: set[tuple[int, ...]] = set()
    found: set[object] = set()
    queue = list(brokers.initial_states())
    while queue:
        state = queue.pop()
        key = keys.key(state)
        if key in seen or not brokers.is_within_bounds(state):
            continue
        seen.add(key)
        found.add(outcome(state))
        queue += follow(state)
    return found


def unreduced(brokers: Brokers) -> Callable[[PartitionState], Iterator[PartitionState]]:
    """Return the successors with every half step on its own; only decisions are heard at once."""

    def follow(state: PartitionState) -> Iterator[PartitionState]:
        own = [RequestSent(r.broker) for r in state.replicas] + [FetchCompleted(r.broker) for r in state.replicas]
        for events in [*(action.events for action in brokers.possible(state)), *((event,) for event in own)]:
            after = _after(state, events, brokers)
            if after is not None:
                yield after

    return follow


def _after(state: PartitionState, events: Iterable[Event], brokers: Brokers) -> PartitionState | None:
    for event in events:
        result = step(state, event, brokers.rules)
        if isinstance(result, Refusal):
            return None
        state = result.state
    while told := awaiting(state):
        result = step(state, DecisionReceived(told[0]), brokers.rules)
        assert not isinstance(result, Refusal)
        state = result.state
    return state


@pytest.mark.parametrize("acks", [Acks.ALL, Acks.LEADER])
@pytest.mark.parametrize(("version", "mode"), RELEASES)
def test_every_outcome_is_reached_with_the_reductions_too(version: str, mode: MetadataMode, acks: Acks) -> None:
    bounds = SearchBounds(
        records=1,
        epochs=1,
        acks=acks,
        settings=TopicSettings(1, unclean_leader_election=True),
        checkpointing=HighWatermarkCheckpoint.NEVER,
        late_joins=True,
    )
    brokers = Brokers(rules_for(version, mode), bounds)
    with_reductions = reached(brokers, brokers.successors)
    without = reached(brokers, unreduced(brokers))
    assert with_reductions == without
