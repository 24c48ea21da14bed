"""When may the next command break the cluster? When what the one before it broke was seen to break, and to be whole.

A broker that was just killed is in the ISR until its session ends, so that replicas in sync right after a command say
nothing. Either a replica was seen out of sync since the command began, or time is over in which one would have been.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from conformance.record.attached import PartitionWatched

LOOK_LIVES_S = 10.0
"""A look that is older says nothing of now: the watcher looks once a second, and waits for brokers that are away."""
GRACE_S = 45.0
"""After so long a broker that is gone is out of the ISR: sessions end after 9 s (KRaft) or 18 s (ZooKeeper) by default,
and a follower that does not fetch is out after ``replica.lag.time.max.ms`` (30 s), looked at every half of it."""


def are_in_sync(looks: Collection[PartitionWatched], partitions: int, replicas: int, since_ns: int) -> bool:
    """Return whether every partition was looked at since then, and every replica of it was in sync.

    Args:
        looks: the last one at each partition.
        partitions: so many there are, of so many ``replicas`` each.
        replicas: see there.
        since_ns: wall clock; what was seen before does not count, nor what is too old anyway.
    """
    oldest = max(since_ns, time.time_ns() - int(LOOK_LIVES_S * 1e9))
    seen = [one for one in looks if one.at_ns >= oldest and len(one.isr) == replicas]
    return len(looks) == len(seen) == partitions


class OneAtATime:
    """Lets one command after the other break the cluster.

    Args:
        looks: returns the last look at each partition.
        partitions: so many there are, of so many ``replicas`` each.
        replicas: see there.
        grace_s: how long after a command's end a replica may still count as in sync that is not.
    """

    def __init__(
        self,
        looks: Callable[[], Collection[PartitionWatched]],
        partitions: int,
        replicas: int,
        grace_s: float = GRACE_S,
    ) -> None:
        self._looks, self._partitions, self._replicas = looks, partitions, replicas
        self._grace_ns = int(grace_s * 1e9)
        self._began_ns = self._ended_ns = 0
        self._is_harm_seen = True

    def begin(self) -> None:
        """Note that a command begins."""
        self._began_ns = time.time_ns()
        self._is_harm_seen = False

    def look(self) -> None:
        """Note whether a replica is out of sync; to be called again and again while a command runs."""
        harmed = [one for one in self._looks() if one.at_ns >= self._began_ns and len(one.isr) < self._replicas]
        self._is_harm_seen = self._is_harm_seen or bool(harmed)

    def end(self) -> None:
        """Note that the command has ended."""
        self._ended_ns = time.time_ns()

    def is_next(self) -> bool:
        """Return whether the next command may begin."""
        self.look()
        is_told = self._is_harm_seen or time.time_ns() - self._ended_ns >= self._grace_ns
        return is_told and are_in_sync(self._looks(), self._partitions, self._replicas, self._ended_ns)
