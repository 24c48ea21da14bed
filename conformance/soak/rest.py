"""When are all replicas of a soak's topic in sync, and when is everything at rest?

A broker in the ISR may lag: with releases before 0.11 a follower that takes a new leader first cuts its log, and stays
in the ISR while it fetches again. So *in sync* asks more than the ISR: every replica has reached the log end that its
leader had a moment ago.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.soak.brokers import SoakTopic
from fault_injection.waiting import NotYetError, until

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fault_injection.cluster.lifecycle import Cluster

REST_DEADLINE_S = 120.0
LOOK_EVERY_S = 0.1


class InSync:
    """Looks until every replica is in the ISR, and has reached the log end that its leader had in an earlier look."""

    def __init__(self, topic: SoakTopic) -> None:
        self._topic = topic
        self._led: dict[int, tuple[int, frozenset[int]]] = {}
        self._wanted: dict[int, int] = {}

    def __call__(self) -> bool:
        """Look; return True once all are. Raises NotYetError with what is missing."""
        led = self._topic.led()
        if led != self._led:
            self._led, self._wanted = {}, self._ends_of_leaders(led)
            self._led = led
        for follower, partitions in _by_follower(led).items():
            ends = self._topic.ends(follower, partitions)
            behind = [number for number in sorted(partitions) if ends[number] < self._wanted[number]]
            if behind:
                at, wanted = ends[behind[0]], self._wanted[behind[0]]
                raise NotYetError(f"broker {follower} has partition {behind[0]} up to {at}, and its leader {wanted}")
        return True

    def _ends_of_leaders(self, led: Mapping[int, tuple[int, frozenset[int]]]) -> dict[int, int]:
        ends: dict[int, int] = {}
        for leader, partitions in by_leader({number: leader for number, (leader, _) in led.items()}).items():
            ends |= self._topic.ends(leader, partitions)
        return ends


def by_leader(leaders: Mapping[int, int]) -> dict[int, frozenset[int]]:
    """Return which partitions each broker leads, given who leads each partition."""
    return {leader: frozenset(one for one, who in leaders.items() if who == leader) for leader in leaders.values()}


def _by_follower(led: Mapping[int, tuple[int, frozenset[int]]]) -> dict[int, frozenset[int]]:
    followers = frozenset[int]().union(*(followers for _, followers in led.values()))
    return {one: frozenset(number for number, (_, them) in led.items() if one in them) for one in sorted(followers)}


def at_rest(cluster: Cluster, topic: str, partitions: int, deadline_s: float = REST_DEADLINE_S) -> tuple[int, ...]:
    """Wait until nothing moves any more, and return the high watermark of each partition.

    To be called after load has ended and everything is healed: every replica is in the ISR then, and its log end is the
    high watermark, its own and the leader's.

    Args:
        cluster: the brokers.
        topic: the topic's name.
        partitions: how many it has.
        deadline_s: how long it may take, in seconds.

    Raises:
        DeadlineExceededError: it is not; says what is missing.
        NodeDiedError: a node ended although nobody ended it.
    """
    with SoakTopic(cluster, topic, partitions) as seen:
        what = f"every replica of {topic} to be at rest"
        return until(lambda: _numbers(seen), deadline_s=deadline_s, what=what, interval_s=LOOK_EVERY_S)


def committed_ends(
    cluster: Cluster, topic: str, partitions: int, deadline_s: float = REST_DEADLINE_S
) -> tuple[int, ...]:
    """Return the high watermark that each partition's leader has, whoever is in sync with it.

    Raises:
        DeadlineExceededError: brokers do not agree who leads, or do not tell; says what is missing.
        NodeDiedError: a node ended although nobody ended it.
    """

    def told() -> tuple[int, ...]:
        seen = topic_seen.agreed()
        leaders = {number: it.leader for number, it in seen.items() if it.leader is not None}
        if without := sorted(seen.keys() - leaders.keys()):
            raise NotYetError(f"partitions {without} have no leader")
        found: dict[int, int] = {}
        for leader, led in by_leader(leaders).items():
            found |= topic_seen.high_watermarks(leader, topic_seen.ends(leader, led))
        return tuple(found[number] for number in range(partitions))

    with SoakTopic(cluster, topic, partitions) as topic_seen:
        what = f"every partition of {topic} to have a leader"
        return until(told, deadline_s=deadline_s, what=what, interval_s=LOOK_EVERY_S)


def _numbers(topic: SoakTopic) -> tuple[int, ...]:
    """Return each partition's high watermark, which is the log end of every replica.

    Raises:
        NotYetError: it is not.
    """
    led = topic.led()
    found: dict[int, int] = {}
    replicas = {number: followers | {leader} for number, (leader, followers) in led.items()}
    for broker in sorted(frozenset[int]().union(*replicas.values())):
        ends = topic.ends(broker, frozenset(number for number, them in replicas.items() if broker in them))
        for number, high_watermark in topic.high_watermarks(broker, ends).items():
            wanted = found.setdefault(number, high_watermark)
            if not ends[number] == high_watermark == wanted:
                numbers = f"log end {ends[number]}, high watermark {high_watermark}; another has {wanted}"
                raise NotYetError(f"partition {number} of broker {broker}: {numbers}")
    return tuple(found[number] for number in range(topic.partitions))
