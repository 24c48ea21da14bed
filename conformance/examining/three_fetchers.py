"""Where are fetchers examined? On three brokers with three fetchers to each leader.

An answer holds at least one batch however small ``replica.fetch.response.max.bytes`` is (KIP-74); at one byte it
holds exactly one, so every turn of every partition shows.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.examining.examination_cluster import DEADLINE_S, examination_cluster
from fault_injection.cluster.spec import ClusterSpec, Timing
from fault_injection.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.examining.context import ExaminationContext
    from conformance.examining.examination_cluster import ExaminationCluster

BROKERS = (1, 2, 3)
FETCHERS = 3
OVERRIDES = {"num.replica.fetchers": str(FETCHERS), "replica.fetch.response.max.bytes": "1"}


def fetcher_cluster(
    context: ExaminationContext, *, fetch_sessions: bool = True
) -> AbstractContextManager[ExaminationCluster]:
    """Have a cluster whose brokers show their gauges."""
    spec = ClusterSpec(
        context.release,
        context.metadata,
        BROKERS,
        timing=Timing.LAG,
        fetch_sessions=fetch_sessions,
        overrides=OVERRIDES,
        jmx=True,
    )
    return examination_cluster(context, spec)


@contextmanager
def followed_topic(place: ExaminationCluster, name: str, assignments: Sequence[Sequence[int]]) -> Iterator[None]:
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


def append(place: ExaminationCluster, leader: int, topic: str, records: int, partition: int = 0) -> None:
    """Have the leader append records, one batch each; nobody else is waited for."""
    for record_id in range(records):
        place.produce(leader, topic, record_id, partition=partition)


# Which fetcher of a broker serves a partition?
#
# The rule is the same on every release: the topic's hash, as Java hashes text, times 31, plus the partition's
# index, in 32 bits; of that the absolute value (0 for the one number that has none), modulo ``num.replica.fetchers``.
#
# Source: ``AbstractFetcherManager.getFetcherId`` and ``Utils.abs``, read on every release line from 0.10.2 to 3.9.

_BITS = 32


def fetcher_id(topic: str, partition: int, fetchers: int) -> int:
    """Return which of a broker's fetchers to a leader serves a partition.

    Args:
        topic: the topic's name.
        partition: the partition's index.
        fetchers: ``num.replica.fetchers``.
    """
    number = _signed(31 * java_hash(topic) + partition)
    return (0 if number == -(1 << (_BITS - 1)) else abs(number)) % fetchers


def java_hash(text: str) -> int:
    """Return the hash that Java gives a text of characters from the basic plane."""
    number = 0
    for character in text:
        number = _signed(31 * number + ord(character))
    return number


def _signed(number: int) -> int:
    """Return a number as 32 bits hold it."""
    half = 1 << (_BITS - 1)
    return (number + half) % (1 << _BITS) - half


# In which order does a leader serve the partitions of a fetch session, where an answer has room for one batch?
#
# A partition that gave records moves to the end. Before 3.0 every partition in the answer moved, so also one that is
# there for its new high watermark alone, which an answer carries one round after the follower's fetch has raised it.
# A partition progresses at every release; the pace is even from 3.0 on.
#
# Source: ``FetchSession.PartitionIterator``, read in 2.0 to 3.9.


def served(partitions: int, records: int, *, moves_every_answered: bool) -> list[int]:
    """Return whose records come, answer by answer.

    Args:
        partitions: how many partitions there are; all of them begin with the same number of records.
        records: how many records each has.
        moves_every_answered: whether a partition moves that is in an answer without records.
    """
    order = list(range(partitions))
    given, committed, told = ([0] * partitions for _ in range(3))
    turns: list[int] = []
    while len(turns) < partitions * records:
        giver = next(one for one in order if given[one] < records)
        answered = [one for one in order if one == giver or (moves_every_answered and committed[one] != told[one])]
        order = [one for one in order if one not in answered] + answered
        told = [committed[one] if one in answered else told[one] for one in range(partitions)]
        committed = list(given)  # what this request has told the leader is committed after it was answered
        given[giver] += 1
        turns.append(giver)
    return turns
