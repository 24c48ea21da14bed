"""When are two states the same to a search? When no event can ever tell them apart.

A key keeps everything that a later event or a property reads, exactly: no hash stands for a value.
It leaves out what only reports read: earlier leaderships, cuts made, the epoch of an append, the
appends that the replica's log still shows. Parts that recur are numbered, so a key is a short tuple.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from oracle.properties import verdict_of
from oracle.replication.disks import TAIL_LOST
from oracle.state import ControllerView, PartitionState, ReplicaState

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from oracle.state import ProduceState

HISTORY = {"history_committed", "history_losses", "history_truncations"}


class Keys:
    """Exact keys of states, with a number for every part seen so far."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def key(self, state: PartitionState) -> tuple[int, ...]:
        """Return a state's key."""
        numbers = self._numbers
        return tuple(numbers.setdefault(part, len(numbers)) for part in _parts(state))


def has_lost_a_tail(state: PartitionState) -> bool:
    """Tell whether a disk has forgotten records."""
    return any(reason == TAIL_LOST for _, _, reason in state.history_truncations)


def _parts(state: PartitionState) -> list[Hashable]:
    produces = tuple(map(_produce, state.produces))
    losses = tuple(
        (loss.label, loss.was_clean, loss.had_appended, verdict_of(state, loss)) for loss in state.history_losses
    )
    history = (produces, state.history_committed, losses, has_lost_a_tail(state))
    return [history, _of_controller(state.controller), _of_rest(state), *map(_replica, state.replicas)]


def _produce(produce: ProduceState) -> Hashable:
    """Return what a producer knows; where one waits, for which high watermark on which leader."""
    if produce.outcome is None:
        return (produce.leader, produce.required_offset, produce.leader_epoch)
    return produce.outcome


def _replica(replica: ReplicaState) -> Hashable:
    """Return what a replica knows, what its link carries, and the appends that its log no longer shows."""
    forgotten = replica.history_appended.difference(entry.label for entry in replica.log.entries)
    return (_of_replica(replica), forgotten)


def _reader(of: type, without: set[str]) -> Callable[[Any], Hashable]:
    """Return a function that reads every field of a class but some."""
    names = [field.name for field in fields(of) if field.name not in without]
    return attrgetter(*names)


_of_replica = _reader(ReplicaState, {"history_appended"})
_of_controller = _reader(ControllerView, {"leaderships"})
_of_rest = _reader(PartitionState, {"replicas", "controller", "produces", *HISTORY})
