"""Where are fetchers examined? On three brokers with three fetchers to each leader.

An answer holds at least one batch however small ``replica.fetch.response.max.bytes`` is (KIP-74); at one byte it
holds exactly one, so every turn of every partition shows.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.scenarios.stand import DEADLINE_S, stand
from fault_injection.cluster.spec import ClusterSpec, Timing
from fault_injection.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.catalogue.examination import Room
    from conformance.scenarios.stand import Stand

BROKERS = (1, 2, 3)
FETCHERS = 3
OVERRIDES = {"num.replica.fetchers": str(FETCHERS), "replica.fetch.response.max.bytes": "1"}


def fetcher_stand(room: Room, *, fetch_sessions: bool = True) -> AbstractContextManager[Stand]:
    """Have a stand whose brokers show their gauges."""
    spec = ClusterSpec(
        room.release,
        room.metadata,
        BROKERS,
        timing=Timing.LAG,
        fetch_sessions=fetch_sessions,
        overrides=OVERRIDES,
        jmx=True,
    )
    return stand(room, spec)


@contextmanager
def followed_topic(place: Stand, name: str, assignments: Sequence[Sequence[int]]) -> Iterator[None]:
    """Have a topic, followed by all its followers when the block begins, and gone after it.

    A fetch that a leader refuses as it has not heard that it leads does not count: its partition pauses, and takes
    its place among the fetcher's others only when it is served.
    """

    def following(since_ns: int) -> set[tuple[int | None, int, int]]:
        rounds = place.gate.rounds_since(since_ns, topic=name)
        return {(r.follower, r.leader, r.partition) for r in rounds if r.error == 0}

    with place.topic(name, assignments, {"min.insync.replicas": "1"}):
        expected = {(f, r[0], p) for p, r in enumerate(assignments) for f in r[1:]}
        since_ns = time.monotonic_ns()
        until(
            lambda: expected <= following(since_ns),
            deadline_s=DEADLINE_S,
            what=f"every follower of {name} to be served",
        )
        yield


def append(place: Stand, leader: int, topic: str, records: int, partition: int = 0) -> None:
    """Have the leader append records, one batch each; nobody else is waited for."""
    for record_id in range(records):
        place.produce(leader, topic, record_id, partition=partition)
