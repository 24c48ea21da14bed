"""What does a follower do with an answer that comes when it has gone on without it?

A fetcher has one request under way, and its partitions may be taken from it and given back meanwhile. The answer is
then for an offset that is not the follower's any more: it is thrown away. (An answer of another leader epoch for the
right offset is another matter: KAFKA-18991.) A second topic keeps the fetcher alive while it has lost the first.

Source: ``AbstractFetcherThread.processFetchRequest``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.examination_cluster import DEADLINE_S
from conformance.examining.three_fetchers import FETCHERS, append, fetcher_cluster, fetcher_id, followed_topic
from conformance.probes.replica_probe import ReplicaProbe
from conformance.probes.segments import replica_log
from conformance.running.election_requests import request_election, request_reassignment
from conformance.wire_trace.fetches import fetches
from fault_injection.waiting import until
from fault_injection.wire.points import Point
from oracle.vocabulary import BrokerId, ElectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.examining.examination_cluster import ExaminationCluster
    from conformance.record.answers import Value
    from oracle.rules.rule_set import RuleSet

TOPIC = "moved"
ANCHOR = "anchor"
LEADER, OTHER, FOLLOWER = 1, 3, 2
TO_OTHER, BACK = (OTHER, LEADER, FOLLOWER), (LEADER, OTHER, FOLLOWER)
"""The replicas, the preferred leader first."""
HOLD, ANSWER = "fetch at 1", "answer with record 1"
HELD, BEFORE = "[fetch offset, records] of the held answer", "follower's end before it comes"
AFTER, NEXT = "follower's end after it came", "the follower's next fetch: [offset, on the same connection]"
ENDS = "offsets in the logs of broker 1 and broker 2 in the end"


@dataclass(frozen=True, slots=True)
class OvertakenAnswer:
    """A follower gets the record that an answer holds from another leader, before that answer comes."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"create {TOPIC} on brokers 1, 3 and 2, and {ANCHOR}, which broker 2 follows at 1 on the same fetcher",
            "produce record 0; hold the answer that has record 1 for broker 2",
            "make broker 3 the preferred leader and elect it: broker 2 gets record 1 from there",
            "make broker 1 the preferred leader and elect it: broker 2 follows it again, at offset 2",
            "release the answer; read broker 2's log end offset, and the next fetch of the same fetcher",
            "produce record 2 and decode the logs of both",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict that nothing comes of the answer."""
        return (
            QuestionAnswer(HELD, [1, 1]),
            QuestionAnswer(BEFORE, 2),
            QuestionAnswer(AFTER, 2),
            QuestionAnswer(NEXT, [2, True]),
            QuestionAnswer(ENDS, [[0, 1, 2], [0, 1, 2]]),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Let real brokers overtake an answer."""
        with (
            fetcher_cluster(context) as examination,
            followed_topic(examination, TOPIC, [BACK]),
            followed_topic(examination, ANCHOR, _anchor()),
        ):
            connection = _hold_answer(examination)
            _have_lead(examination, LEADER, TO_OTHER)
            _have_lead(examination, OTHER, BACK)
            yield QuestionAnswer(BEFORE, examination.offsets(FOLLOWER, TOPIC)[0])
            released_ns = time.monotonic_ns()
            examination.gate.release(ANSWER)
            next_offset = _next_fetch_offset(examination, released_ns)
            yield QuestionAnswer(AFTER, examination.offsets(FOLLOWER, TOPIC)[0])
            append(examination, LEADER, TOPIC, 1)
            _await_end(examination, FOLLOWER, 3)
            yield QuestionAnswer(ENDS, [_log(examination, broker) for broker in (LEADER, FOLLOWER)])
        seen = [
            f
            for f in fetches(examination.run, examination.topic_ids)
            if (TOPIC, 0) in f.asked and f.follower == FOLLOWER
        ]
        held = next(
            fetch for fetch in reversed(seen) if fetch.arrived_ns < released_ns and fetch.connection == connection
        )
        yield QuestionAnswer(
            HELD,
            [held.offset((TOPIC, 0)), sum(records for partition, records in held.given if partition == (TOPIC, 0))],
        )
        follows = next(f for f in seen if f.arrived_ns >= released_ns and f.leader == LEADER)
        yield QuestionAnswer(NEXT, [next_offset, follows.connection == connection])


def _anchor() -> list[tuple[int, int]]:
    """Return a topic as many partitions as it takes that one of them is on the same fetcher."""
    wanted = fetcher_id(TOPIC, 0, FETCHERS)
    last = next(number for number in range(FETCHERS) if fetcher_id(ANCHOR, number, FETCHERS) == wanted)
    return [(LEADER, FOLLOWER)] * (last + 1)


def _hold_answer(examination: ExaminationCluster) -> int:
    """Hold the answer that has record 1; return the number of its connection."""
    append(examination, LEADER, TOPIC, 1)
    for broker in (OTHER, FOLLOWER):
        _await_end(examination, broker, 1)
    examination.gate.arm(HOLD, Point("fetch_request", FOLLOWER, LEADER, TOPIC, 0, 1))
    examination.await_caught(HOLD)
    append(examination, LEADER, TOPIC, 1)
    examination.gate.arm(ANSWER, Point("fetch_response", FOLLOWER, LEADER, TOPIC, 0))
    examination.gate.release(HOLD)
    examination.await_caught(ANSWER)
    _await_end(examination, OTHER, 2)
    caught = examination.gate.caught(ANSWER)
    assert caught is not None
    return caught.request.connection


def _have_lead(examination: ExaminationCluster, asked: int, replicas: tuple[int, int, int]) -> None:
    """Make another replica the preferred leader and elect it; wait until every replica believes it to lead."""
    request_reassignment(examination.cluster, asked, TOPIC, tuple(BrokerId(broker) for broker in replicas))
    with ReplicaProbe(examination.cluster, TOPIC) as probe:
        until(
            lambda: probe.assigned([BrokerId(asked)]) == {replicas},
            deadline_s=DEADLINE_S,
            what=f"{TOPIC} to be assigned to {list(replicas)}",
        )
    request_election(examination.cluster, asked, TOPIC, ElectionKind.PREFERRED)
    since_ns = time.monotonic_ns()
    until(
        lambda: all(examination.metadata(broker, TOPIC).leader == replicas[0] for broker in replicas),
        deadline_s=DEADLINE_S,
        what=f"broker {replicas[0]} to lead",
    )
    if replicas[0] == OTHER:
        _await_committed(examination, replicas, 2)
    else:
        _await_follower(examination, OTHER, since_ns)


def _await_follower(examination: ExaminationCluster, follower: int, since_ns: int) -> None:
    """Wait until a follower has fetched from the first leader."""
    until(
        lambda: any(
            r.leader == LEADER for r in examination.gate.rounds_since(since_ns, topic=TOPIC, follower=follower)
        ),
        deadline_s=DEADLINE_S,
        what=f"broker {follower} to follow broker {LEADER}",
    )


def _await_committed(examination: ExaminationCluster, replicas: tuple[int, ...], end: int) -> None:
    """Wait until every replica knows its whole log to be committed: 0.10.2 cuts to the high watermark (KAFKA-1211)."""
    until(
        lambda: all(examination.offsets(broker, TOPIC) == (end, end) for broker in replicas),
        deadline_s=DEADLINE_S,
        what=f"every replica's log and high watermark to be at {end}",
    )


def _await_end(examination: ExaminationCluster, broker: int, end: int) -> None:
    until(
        lambda: examination.offsets(broker, TOPIC)[0] == end,
        deadline_s=DEADLINE_S,
        what=f"broker {broker}'s log to end at {end}",
    )


def _next_fetch_offset(examination: ExaminationCluster, since_ns: int) -> int:
    """Wait for the first whole fetch round of the follower at the first leader since a time; return its offset."""

    def first() -> tuple[int] | None:
        rounds = examination.gate.rounds_since(since_ns, topic=TOPIC, follower=FOLLOWER)
        return next(((r.fetch_offset,) for r in rounds if r.leader == LEADER), None)

    return until(first, deadline_s=DEADLINE_S, what=f"broker {FOLLOWER} to fetch again")[0]


def _log(examination: ExaminationCluster, broker: int) -> Value:
    cluster = examination.cluster
    log = replica_log(cluster.files(broker), lambda path: cluster.read_file(broker, path), TOPIC, 0)
    return [record.offset for record in log.records]


OVERTAKEN_ANSWER = OvertakenAnswer()
