"""How do brokers come to lose records that were acknowledged? By who dies when, and what followers know by then.

``second_leader``: with releases before 0.11 (KIP-101) a follower that takes a new leader cuts its log to the high
watermark that it knows, which is one fetch behind, and fetches again what it cut off. It is in the ISR meanwhile. If
the new leader dies then, it is elected, cleanly, without records that all three had and that were acknowledged
(KAFKA-1211; the catalogue's TR-02 has the same with one partition and a few records).

The follower's next fetch is held, so that it cannot fetch again in time. And both followers are left behind at the same
high watermark: a broker of these releases ends itself when it finds its own high watermark beyond its leader's log. For
the same reason the first leader is started again only when every log has grown beyond its checkpointed high watermark,
so that load must go on meanwhile. It is killed when that has all that it committed: it keeps these records then, and
holds others at their offsets than whoever was elected without them.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from conformance.soak.rest import by_leader
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from fault_injection.wire.points import Point

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.probes.connection import PartitionMetadata
    from conformance.soak.harming import Harms

FETCH = "fetch_request"
GROWN_S = 30.0
"""So long logs may take to grow beyond what a broker that is down has as its high watermark."""
APPENDED_S = 0.5
"""Under load a producer's next request comes within this time."""
ROUNDS_MAX = 10
ACKNOWLEDGED_S = 10.0


def second_leader(harms: Harms, partition: int, for_s: float) -> None:
    """Kill a partition's leader, and who leads after it, before the third replica has fetched from that one.

    Raises:
        DeadlineExceededError: it does not go as planned; everything is healed.
    """
    first, second, third = succession(harms, partition, 3)
    with ExitStack() as stack:
        _leave_behind(harms, stack, first, (second, third))
        asks = Point(FETCH, source=third, destination=second, topic=harms.topic.name, partition=partition)
        fetch = stack.enter_context(harms.held(asks))
        with harms.killed(first, _when_outgrown(harms, first)):
            harms.await_leader(partition, second)
            harms.await_caught(fetch)
            with harms.killed(second, _when_outgrown(harms, second)):
                harms.await_leader(partition, third)
                harms.patience.pause(for_s)


def kill_leaders(harms: Harms, partition: int, for_s: float) -> None:
    """Kill a partition's leader, and who leads after it as soon as the third replica has what that one has.

    Raises:
        DeadlineExceededError: it does not go as planned; everything is healed.
    """
    first, second, third = succession(harms, partition, 3)
    with harms.killed(first, _when_outgrown(harms, first)):
        harms.await_leader(partition, second)
        _await_fetched_again(harms, second, third)
        with harms.killed(second, _when_outgrown(harms, second)):
            harms.await_leader(partition, third)
            harms.patience.pause(for_s)


def kill_ahead(harms: Harms, partition: int, for_s: float) -> None:
    """Let a partition's leader append what nobody fetches, kill it, and start it again.

    Raises:
        DeadlineExceededError: it does not go as planned; everything is healed.
    """
    leader, *followers = succession(harms, partition, 2)
    with ExitStack() as stack:
        for name in [stack.enter_context(harms.held(_link(FETCH, one, leader))) for one in followers]:
            harms.await_caught(name)
        harms.patience.pause(for_s)
        with harms.killed(leader):
            stack.close()
            harms.patience.pause(for_s)


def succession(harms: Harms, partition: int, least: int) -> tuple[int, ...]:
    """Return a partition's leader, then the others in the order in which they are elected.

    Raises:
        DeadlineExceededError: brokers do not agree, or it has fewer replicas than ``least``.
    """

    def known() -> tuple[int, ...]:
        order = _order(harms.topic.agreed()[partition])
        if len(order) < least:
            raise NotYetError(f"leader and followers {list(order)}")
        return order

    return harms.patience.until(known, deadline_s=ACKNOWLEDGED_S, what=f"who leads partition {partition}")


def _order(seen: PartitionMetadata) -> tuple[int, ...]:
    """Return a partition's leader, then its other replicas, which are elected in their order; nobody without a leader.

    Source: OfflinePartitionLeaderSelector (0.10), PartitionLeaderElectionAlgorithms, PartitionChangeBuilder (KRaft).
    """
    return () if seen.leader is None else (seen.leader, *(one for one in seen.replicas if one != seen.leader))


def _leave_behind(harms: Harms, stack: ExitStack, leader: int, followers: tuple[int, int]) -> None:
    """Let both followers have the same new records, and neither know that they are committed.

    Both fetches are held until the leader has something new for one of them. Then first one follower gets it, then the
    other, and each is held at its next fetch: so the second knows a high watermark that is no lower. Then the leader
    counts both fetches, commits, acknowledges; its answers to them are held.

    A broker reads the next request of a producer when it has answered the one before. So when nothing new comes, both
    go one round on. And not every partition gets something new; any will do that the same brokers have in the same
    order.
    """
    order = (leader, *followers)
    alike = frozenset(number for number, seen in harms.topic.agreed().items() if _order(seen)[:3] == order)
    asking = {one: stack.enter_context(harms.held(_link(FETCH, one, leader))) for one in followers}
    offsets = _least(harms, asking, alike)
    for _ in range(ROUNDS_MAX):
        is_new = _has_new(harms, leader, offsets)
        for one in followers:
            following = stack.enter_context(harms.held(_link(FETCH, one, leader)))
            harms.release(asking[one])
            harms.await_caught(following)
            asking[one] = following
        offsets = _least(harms, asking, alike)
        if is_new:
            break
    else:
        harms.say(f"nothing new came for the followers of broker {leader} in {ROUNDS_MAX} rounds")
    told = [stack.enter_context(harms.held(_link("fetch_response", one, leader))) for one in followers]
    for name in asking.values():
        harms.release(name)
    for name in told:
        harms.await_caught(name)
    _await_committed(harms, leader, offsets)
    _await_written(harms, leader, offsets)


def _least(harms: Harms, asking: Mapping[int, str], partitions: frozenset[int]) -> dict[int, int]:
    """Return from where the fetches that are held ask for each partition: the lower one of both offsets."""
    frames = [harms.await_caught(name).request.partitions for name in asking.values()]
    asked = [
        {one.partition: one.fetch_offset for one in entries if one.topic == harms.topic.name} for entries in frames
    ]
    return {number: min(it.get(number, 0) for it in asked) for number in partitions}


def _has_new(harms: Harms, leader: int, offsets: Mapping[int, int]) -> bool:
    """Return whether a leader has, or soon gets, a record from one of some offsets on."""
    partitions = frozenset(offsets)
    with suppress(DeadlineExceededError):
        return harms.patience.until(
            lambda: any(end > offsets[number] for number, end in harms.topic.ends(leader, partitions).items()),
            deadline_s=APPENDED_S,
            what="a record that no follower has",
        )
    return False


def _await_committed(harms: Harms, leader: int, offsets: Mapping[int, int]) -> None:
    """Wait until a leader has committed, and has answered once more after that: its producers are told by then."""
    partitions = frozenset(offsets)

    def is_committed() -> bool:
        known = harms.topic.high_watermarks(leader, harms.topic.ends(leader, partitions))
        return all(known[number] >= offset for number, offset in offsets.items())

    for _ in range(2):
        what = f"broker {leader} to commit what both followers have"
        harms.patience.until(is_committed, deadline_s=ACKNOWLEDGED_S, what=what)


def _await_written(harms: Harms, leader: int, offsets: Mapping[int, int]) -> None:
    """Wait until a leader's disk says what it has committed: before 0.11 it is cut there when it comes back."""

    def is_written() -> bool:
        written = harms.topic.replicas.checkpointed(leader)
        return all(written.get(number, 0) >= offset for number, offset in offsets.items())

    what = f"broker {leader} to write down what it has committed"
    harms.patience.until(is_written, deadline_s=ACKNOWLEDGED_S, what=what)


def _await_fetched_again(harms: Harms, leader: int, follower: int) -> None:
    """Wait until a follower has what its new leader has: before 0.11 it has cut its log."""
    seen = harms.topic.agreed()
    led = frozenset(one for one, it in seen.items() if it.leader == leader and follower in it.replicas)
    wanted = harms.topic.ends(leader, led)

    def has_all() -> bool:
        ends = harms.topic.ends(follower, led)
        return all(ends[one] >= wanted[one] for one in led)

    what = f"broker {follower} to have what broker {leader} has"
    harms.patience.until(has_all, deadline_s=ACKNOWLEDGED_S, what=what)


def _when_outgrown(harms: Harms, broker: int) -> Callable[[], None]:
    """Return a wait until every log has grown beyond the high watermark that a broker which is down has on disk.

    It goes on when it was told to stop: the broker is to be started whole. After a while it gives up, and says so.
    """

    def have_grown() -> bool:
        seen, wanted = harms.topic.agreed(), harms.topic.replicas.checkpointed(broker)
        leaders = {number: it.leader for number, it in seen.items() if it.leader is not None}
        for leader, led in by_leader(leaders).items():
            for number, end in harms.topic.ends(leader, led).items():
                if end < wanted.get(number, 0) and broker in seen[number].replicas:
                    raise NotYetError(f"partition {number} ends at {end}, its high watermark was {wanted[number]}")
        return True

    def wait() -> None:
        what = f"logs to grow beyond the high watermarks of broker {broker}"
        try:
            until(lambda: harms.patience.is_hurried or have_grown(), deadline_s=GROWN_S, what=what, interval_s=0.1)
        except DeadlineExceededError as late:
            harms.say(f"before 0.11 broker {broker} may end itself: {late}")

    return wait


def _link(point: str, follower: int, leader: int) -> Point:
    return Point(point, source=follower, destination=leader)
