"""Every pair of short logs that replicas could hold at all: one record for each epoch and offset."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from oracle.log import ModelRecord, ReplicaLog
from oracle.vocabulary import Label, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator


def log_of(epochs: tuple[int, ...]) -> ReplicaLog:
    """Return a log whose records were written in these epochs; an epoch has one leader, so one record an offset."""
    entries = (ModelRecord(Label(f"m{epoch}.{offset}"), LeaderEpoch(epoch)) for offset, epoch in enumerate(epochs))
    return ReplicaLog().append(entries)


def all_logs(longest: int, epochs: int) -> Iterator[ReplicaLog]:
    """Yield every log up to a length, in epochs that go up and down as they like."""
    for length in range(longest + 1):
        for written in product(range(epochs), repeat=length):
            yield log_of(written)
