"""Where must a search have been before "nothing found" says anything? The sometimes twins of ``properties``.

Each takes a state and answers whether it is such a place: an election, a cut, an acknowledged record.
What no state shows, the model counts as it happens (``Brokers.occurrences``): an ISR that has grown again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.state import FetchKind
from oracle.vocabulary import Outcome, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from oracle.state import Fetch, PartitionState, ReplicaState


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
    return any(produce.outcome is Outcome.ACKNOWLEDGED for produce in state.produces)


def follower_lags_in_knowledge(state: PartitionState) -> bool:
    """A follower has a committed record but not the high watermark that commits it."""
    return any(
        r.role is Role.FOLLOWER and r.high_watermark < r.log.log_end_offset and _last(r) in state.history_committed
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


def _fetches(state: PartitionState) -> Iterator[Fetch]:
    return (replica.fetch for replica in state.replicas if replica.fetch is not None)


def _last(replica: ReplicaState) -> str | None:
    return replica.log.entries[-1].label if replica.log.entries else None
