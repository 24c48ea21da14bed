"""Does every partition get its turn, however little fits into an answer?

Every partition of a fetcher has the same number of records to give, and an answer holds one batch. The rule of every
release: the leader serves a request in its order, and the follower moves a partition that gave records to the end.
(From 3.5 on it also moves one whose lag it does not know yet, which the first answer after the start tells.)

Source: ``AbstractFetcherThread.processFetchRequest`` (``updateAndMoveToEnd``), KIP-74.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.three_fetchers import FETCHERS, append, fetcher_cluster, fetcher_id, followed_topic
from conformance.examining.three_fetchers import served as served_in_turn
from conformance.wire_trace.fetches import FollowerFetch, fetches
from fault_injection.waiting import until
from fault_injection.wire.points import Point

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.examining.context import ExaminationContext
    from conformance.examining.examination_cluster import ExaminationCluster
    from conformance.record.answers import Value
    from oracle.rules.rule_set import RuleSet

TOPIC = "turns"
LEADER, FOLLOWER = 1, 2
PARTITIONS = 9
RECORDS = 3
HOLD = "all fetchers"
REST_S = 30.0


@dataclass(frozen=True, slots=True)
class PartitionOrder:
    """In which order the partitions of each fetcher are asked for, and their records are answered.

    Attributes:
        fetch_sessions: a fetch session lists in a request only what has changed (KIP-227), so the leader keeps the
            order, and moves a partition that gave records to the end.
    """

    fetch_sessions: bool

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        sessions = "on" if self.fetch_sessions else "off"
        return (
            f"start brokers with {FETCHERS} fetchers, fetch sessions {sessions}, replica.fetch.response.max.bytes=1",
            f"create {TOPIC} with {PARTITIONS} partitions, led by {LEADER} and followed by {FOLLOWER}",
            f"hold the next fetch of each of the {FETCHERS} fetchers",
            f"produce {RECORDS} records to every partition, one batch each",
            "release the fetches and read, answer by answer, whose records came and how the next request is ordered",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Predict the order of all partitions: as positions in the held request, or as they come if it lists none."""
        answers = []
        for fetcher in range(FETCHERS):
            served = [p for p in range(PARTITIONS) if fetcher_id(TOPIC, p, FETCHERS) == fetcher]
            positions = list(range(len(served)))
            moves_every = self.fetch_sessions and rules.moves_in_session(False)  # noqa: FBT003 - without records
            turns = served_in_turn(len(served), RECORDS, moves_every_answered=moves_every)
            orders: list[Value] = [list(_rotated(positions, turn)) for turn in range(len(turns) + 1)]
            answers += [
                QuestionAnswer(_asked(fetcher), list(served)),
                QuestionAnswer(_given(fetcher), list(turns)),
                QuestionAnswer(_largest(fetcher), 1),
                *(() if self.fetch_sessions else (QuestionAnswer(_ordered(fetcher), orders),)),
            ]
        return (*answers, QuestionAnswer("log end offsets at the follower", [RECORDS] * PARTITIONS))

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Let real fetchers take turns."""
        with (
            fetcher_cluster(context, fetch_sessions=self.fetch_sessions) as examination,
            followed_topic(examination, TOPIC, [(LEADER, FOLLOWER)] * PARTITIONS),
        ):
            examination.gate.arm(HOLD, Point("fetch_request", FOLLOWER, LEADER, TOPIC), frames_max=FETCHERS)
            examination.await_caught(HOLD, FETCHERS)
            held = examination.gate.caught(HOLD)
            assert held is not None
            for partition in range(PARTITIONS):
                append(examination, LEADER, TOPIC, RECORDS, partition)
            examination.gate.release(HOLD)
            ends = _await_ends(examination)
        for fetcher in range(FETCHERS):
            taken = _after_hold(fetches(examination.run, examination.topic_ids), fetcher)
            if not self.fetch_sessions:
                yield from _answers(fetcher, taken, _in_order_of_request(taken))
                yield _orders(fetcher, taken)
            else:
                yield from _answers(fetcher, taken, _in_order_of_coming(taken))
        yield QuestionAnswer("log end offsets at the follower", ends)


def _rotated(positions: Sequence[int], by: int) -> list[int]:
    start = by % len(positions)
    return [*positions[start:], *positions[:start]]


def _await_ends(examination: ExaminationCluster) -> Value:
    """Wait until the follower has everything, and its fetchers have asked once more; return its log end offsets."""

    def ends() -> list[int]:
        return [examination.offsets(FOLLOWER, TOPIC, partition)[0] for partition in range(PARTITIONS)]

    def is_at_rest() -> bool:
        asked = (examination.gate.last_forwarded_fetch_offset(FOLLOWER, LEADER, TOPIC, p) for p in range(PARTITIONS))
        return all(offset == RECORDS for offset in asked)

    until(is_at_rest, deadline_s=REST_S, what="the follower to have every record")
    return [*ends()]


def _after_hold(seen: Sequence[FollowerFetch], fetcher: int) -> list[FollowerFetch]:
    """Return a fetcher's fetches from the held one to the first that asks for nothing but what is not there yet."""
    own = [fetch for fetch in seen if (fetch.follower, fetch.leader, fetch.fetcher) == (FOLLOWER, LEADER, fetcher)]
    giving = [index for index, fetch in enumerate(own) if fetch.given]
    return own[giving[0] : giving[-1] + 2] if giving else []


def _in_order_of_request(taken: Sequence[FollowerFetch]) -> list[int]:
    return [partition for _, partition in taken[0].asked] if taken else []


def _in_order_of_coming(taken: Sequence[FollowerFetch]) -> list[int]:
    return list(dict.fromkeys(partition for fetch in taken for (_, partition), _ in fetch.given))


def _orders(fetcher: int, taken: Sequence[FollowerFetch]) -> QuestionAnswer:
    first = _in_order_of_request(taken)
    return QuestionAnswer(
        _ordered(fetcher), [[first.index(partition) for _, partition in fetch.asked] for fetch in taken]
    )


def _answers(fetcher: int, taken: Sequence[FollowerFetch], first: list[int]) -> Iterator[QuestionAnswer]:
    given: list[Value] = [[first.index(partition) for (_, partition), _ in fetch.given] for fetch in taken[:-1]]
    turns = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in given]
    yield QuestionAnswer(_asked(fetcher), [*sorted(first)])
    yield QuestionAnswer(_given(fetcher), turns)
    yield QuestionAnswer(_largest(fetcher), max((records for fetch in taken for _, records in fetch.given), default=0))


def _asked(fetcher: int) -> str:
    return f"partitions of fetcher {fetcher}"


def _given(fetcher: int) -> str:
    return f"fetcher {fetcher}: whose records came, answer by answer"


def _ordered(fetcher: int) -> str:
    return f"fetcher {fetcher}: order of the partitions, request by request"


def _largest(fetcher: int) -> str:
    return f"fetcher {fetcher}: most records of a partition in one answer"


# Off, because an incremental fetch does not list the partitions, whose order is what is asked about.
LISTING_PARTITIONS = PartitionOrder(fetch_sessions=False)
IN_A_SESSION = PartitionOrder(fetch_sessions=True)
