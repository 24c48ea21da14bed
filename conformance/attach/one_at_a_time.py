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
_IF_IT_MENDS = (
    "if this is to mend what the command before has broken, both must be one: "
    "'docker kill b && sleep 20 && docker start b'"
)


def are_in_sync(looks: Collection[PartitionWatched], partitions: int, replicas: int, since_ns: int) -> bool:
    """Return whether every partition was looked at since then, and every replica of it was in sync.

    Args:
        looks: the last one at each partition.
        partitions: so many there are.
        replicas: so many each has, where a look does not say which it has.
        since_ns: wall clock; what was seen before does not count, nor what is too old anyway.
    """
    seen = _seen_since(looks, since_ns)
    return len(looks) == len(seen) == partitions and all(one.is_whole(replicas) for one in seen)


def _seen_since(looks: Collection[PartitionWatched], since_ns: int) -> list[PartitionWatched]:
    oldest = max(since_ns, time.time_ns() - int(LOOK_LIVES_S * 1e9))
    return [one for one in looks if one.at_ns >= oldest]


class OneAtATime:
    """Lets one command after the other break the cluster.

    Args:
        looks: returns the last look at each partition.
        partitions: so many there are.
        replicas: so many each has, where a look does not say which it has.
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
        self._grace_s = grace_s
        self._began_ns = self._ended_ns = 0
        self._is_harm_seen = True

    def begin(self) -> None:
        """Note that a command begins."""
        self._began_ns = time.time_ns()
        self._is_harm_seen = False

    def look(self) -> None:
        """Note whether a replica is out of sync; to be called again and again while a command runs."""
        harmed = [one for one in self._looks() if one.at_ns >= self._began_ns and not one.is_whole(self._replicas)]
        self._is_harm_seen = self._is_harm_seen or bool(harmed)

    def end(self) -> None:
        """Note that the command has ended."""
        self._ended_ns = time.time_ns()

    def why_not(self) -> str | None:
        """Return why the next command may not begin yet, the same reason in the same words; None if it may."""
        self.look()
        looks = self._looks()
        if not all(one.is_whole(self._replicas) for one in _seen_since(looks, self._ended_ns)):
            return f"a replica is out of sync; {_IF_IT_MENDS}"
        if not are_in_sync(looks, self._partitions, self._replicas, self._ended_ns):
            return f"not every partition was seen a moment ago; {_IF_IT_MENDS}"
        if not self._is_harm_seen and time.time_ns() - self._ended_ns < self._grace_s * 1e9:
            return f"no replica was seen to leave the ISR by the command before, which may take {self._grace_s:g} s"
        return None
