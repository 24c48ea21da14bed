"""How many connections do fetchers hold, and which of them serves which partition?"""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.examination_cluster import DEADLINE_S
from conformance.examining.three_fetchers import BROKERS, FETCHERS, fetcher_cluster, fetcher_id, followed_topic
from conformance.wire_trace.fetches import FollowerFetch, between, fetches
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.impairments import LinkDirection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.examining.examination_cluster import ExaminationCluster
    from conformance.record.answers import Value
    from oracle.rules.rule_set import RuleSet

IDLE_S = 1.0
LONE = "lone"
"""A topic of one partition, led by 1 and followed by 2."""
TOPICS = ("spread", "letters")
"""Two topics whose hashes differ in sign, each with every (leader, follower) on every fetcher."""
PAIRS = tuple(permutations(BROKERS, 2))
"""Every (leader, follower)."""
ASSIGNMENTS = tuple(pair for pair in PAIRS for _ in range(FETCHERS))
"""The replicas of each partition of such a topic."""


@dataclass(frozen=True, slots=True)
class ConnectionCounts:
    """How many connections every broker opens to fetch: with nothing, one partition, and everything to follow."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"start {len(BROKERS)} brokers with num.replica.fetchers={FETCHERS}; nobody follows anything, for 1 s",
            "create a topic of one partition, led by 1 and followed by 2",
            "create a topic in which every broker follows partitions of every other one on each fetcher",
            "count the connections on which each broker fetches, and those that are open at the gate",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict the counts from the rule that assigns partitions to fetchers."""
        everything = {(LONE, 0): (1, 2)} | {(TOPICS[0], p): pair for p, pair in enumerate(ASSIGNMENTS)}
        return (
            *(QuestionAnswer(f"connections of broker {b} while it follows nothing", 0) for b in BROKERS),
            *(QuestionAnswer(f"connections of broker {b} with {LONE} alone", int(b == 2)) for b in BROKERS),
            *(QuestionAnswer(f"connections of broker {b} with everything", _predicted(everything, b)) for b in BROKERS),
            *(QuestionAnswer(f"open from {f} to {leader} at the gate", FETCHERS) for leader, f in PAIRS),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Count on real brokers."""
        with fetcher_cluster(context) as examination:
            times = [*_idle(examination)]
            with followed_topic(examination, LONE, [(1, 2)]):
                times.append(time.monotonic_ns())
                with followed_topic(examination, TOPICS[0], ASSIGNMENTS):
                    times.append(time.monotonic_ns())
                    opened = [
                        QuestionAnswer(f"open from {f} to {leader} at the gate", _open(examination, f, leader))
                        for leader, f in PAIRS
                    ]
        followed = fetches(examination.run, examination.topic_ids)
        moments = ("while it follows nothing", f"with {LONE} alone", "with everything")
        for (begin_ns, end_ns), moment in zip(pairwise(times), moments, strict=True):
            seen = list(between(followed, begin_ns, end_ns))
            for broker in BROKERS:
                yield QuestionAnswer(f"connections of broker {broker} {moment}", len(_connections(seen, broker)))
        yield from opened


def _idle(examination: ExaminationCluster) -> tuple[int, int]:
    """Let brokers that follow nothing be, several fetch waits long; return when that began and ended, in ns."""
    links = [LinkDirection(f, leader, kind="replication", opened_by="sender") for leader, f in PAIRS]
    with suppress(DeadlineExceededError):
        until(
            lambda: examination.gate.network.count(*links) == 0,
            deadline_s=DEADLINE_S,
            what="the fetchers before to end",
        )
    began_ns = time.monotonic_ns()
    with suppress(DeadlineExceededError):
        until(lambda: bool(examination.gate.rounds_since(began_ns)), deadline_s=IDLE_S, what="a fetch of nobody")
    return began_ns, time.monotonic_ns()


def _predicted(partitions: dict[tuple[str, int], tuple[int, int]], broker: int) -> int:
    return len(
        {
            (leader, fetcher_id(topic, partition, FETCHERS))
            for (topic, partition), (leader, follower) in partitions.items()
            if follower == broker
        }
    )


def _connections(seen: Iterable[FollowerFetch], broker: int) -> set[int]:
    return {fetch.connection for fetch in seen if fetch.follower == broker}


def _open(examination: ExaminationCluster, follower: int, leader: int) -> int:
    return examination.gate.network.count(LinkDirection(follower, leader, kind="replication", opened_by="sender"))


@dataclass(frozen=True, slots=True)
class FetcherAssignment:
    """Which fetcher serves each partition of two topics, and on how many connections."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"start {len(BROKERS)} brokers with num.replica.fetchers={FETCHERS}",
            f"create {' and '.join(TOPICS)}, whose hashes differ in sign, with {len(ASSIGNMENTS)} partitions each",
            "read from every fetch which fetcher sends it, on which connection, and which partitions it asks for",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict each partition's fetcher."""
        answers = [
            QuestionAnswer(_spread_of(topic, pair), [[p, fetcher_id(topic, p, FETCHERS)] for p in _partitions(pair)])
            for topic in TOPICS
            for pair in PAIRS
        ]
        return (
            *answers,
            QuestionAnswer("partitions that two connections ask for", []),
            QuestionAnswer("most connections of one fetcher to one leader", 1),
            QuestionAnswer("fetchers in all", len(PAIRS) * FETCHERS),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Read the fetches of real brokers."""
        with (
            fetcher_cluster(context) as examination,
            followed_topic(examination, TOPICS[0], ASSIGNMENTS),
            followed_topic(examination, TOPICS[1], ASSIGNMENTS),
        ):
            pass
        seen = fetches(examination.run, examination.topic_ids)
        for topic in TOPICS:
            for pair in PAIRS:
                yield QuestionAnswer(_spread_of(topic, pair), _spread(seen, topic, pair))
        connections, servants = _servants(seen)
        yield QuestionAnswer(
            "partitions that two connections ask for", [*sorted(p for p, by in servants.items() if len(by) > 1)]
        )
        yield QuestionAnswer(
            "most connections of one fetcher to one leader", max(map(len, connections.values()), default=0)
        )
        yield QuestionAnswer("fetchers in all", len(connections))


def _spread_of(topic: str, pair: tuple[int, int]) -> str:
    leader, follower = pair
    return f"[partition, fetcher] of {topic} that {follower} follows at {leader}"


def _partitions(pair: tuple[int, int]) -> list[int]:
    return [partition for partition, assigned in enumerate(ASSIGNMENTS) if assigned == pair]


def _spread(seen: Iterable[FollowerFetch], topic: str, pair: tuple[int, int]) -> Value:
    """Return every (partition, fetcher) that was seen on a link, each once."""
    return [
        [partition, fetcher]
        for partition, fetcher in sorted(
            {
                (partition, fetch.fetcher)
                for fetch in seen
                if (fetch.leader, fetch.follower) == pair and fetch.fetcher is not None
                for name, partition in fetch.asked
                if name == topic
            }
        )
    ]


def _servants(seen: Iterable[FollowerFetch]) -> tuple[dict[tuple[int, int, int | None], set[int]], dict[str, set[int]]]:
    """Return the connections of every (follower, leader, fetcher), and those that ask for every partition."""
    connections: dict[tuple[int, int, int | None], set[int]] = defaultdict(set)
    servants: dict[str, set[int]] = defaultdict(set)
    for fetch in seen:
        connections[fetch.follower, fetch.leader, fetch.fetcher].add(fetch.connection)
        for topic, partition in fetch.asked:
            servants[f"{topic}-{partition} at {fetch.follower}"].add(fetch.connection)
    return connections, servants


CONNECTION_COUNTS = ConnectionCounts()
FETCHER_ASSIGNMENT = FetcherAssignment()
