"""What does a follower say about its lag?

It computes it when it has handled an answer: the high watermark in the answer minus the offset that it fetches next,
and never below zero. Each fetch is held in turn, so the gauge stands still while it is read.

Source: ``AbstractFetcherThread.processFetchRequest``, ``FetcherLagMetrics``; the gauge is ``ConsumerLag``.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.examination_cluster import DEADLINE_S
from conformance.examining.three_fetchers import FETCHERS, append, fetcher_cluster, fetcher_id, followed_topic
from conformance.interruption import InconclusiveError
from conformance.probes.jmx import GaugeReader
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.points import Point

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.examining.examination_cluster import ExaminationCluster
    from oracle.rules.rule_set import RuleSet

TOPIC = "lag"
LEADER, FOLLOWER = 1, 2
RECORDS = 5
LAG_S, EARLIER_S = 3.0, 0.3
"""``replica.lag.time.max.ms`` under ``timing: lag``; how long before it is held a fetch may have been parked."""
NUMBERS = "[leader's high watermark, follower's offset, gauge]"
"""What each answer but the first holds, in its order."""
AHEAD = f"{NUMBERS} before the last record is committed"


def gauge_of(topic: str, partition: int, leader: int) -> str:
    """Return the name of a follower's gauge for a partition that it follows."""
    thread = f"ReplicaFetcherThread-{fetcher_id(topic, partition, FETCHERS)}-{leader}"
    named = f"clientId={thread},topic={topic},partition={partition}"
    return f"kafka.server:type=FetcherLagMetrics,name=ConsumerLag,{named}"


@dataclass(frozen=True, slots=True)
class LagGauge:
    """The follower's gauge after each record that it appends."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "start brokers that show their gauges over JMX, with replica.fetch.response.max.bytes=1",
            f"create {TOPIC}, led by {LEADER} and followed by {FOLLOWER}; read the follower's gauge at rest",
            "hold the follower's fetch and produce one record, which makes it leave the ISR",
            f"produce {RECORDS - 1} more: alone in the ISR, the leader commits all {RECORDS}",
            "release one fetch after the other; with the next one held, read the gauge and ask both replicas",
            "let the follower back into the ISR, hold its fetch, produce one more record and release the fetch",
            "with the next fetch held the record is not committed: read the gauge once more",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict the gauge from the two numbers that it is the difference of."""
        lags = (QuestionAnswer(_after(offset), [RECORDS, offset, RECORDS - offset]) for offset in range(1, RECORDS + 1))
        return (QuestionAnswer("gauge at rest", 0), *lags, QuestionAnswer(AHEAD, [RECORDS, RECORDS + 1, 0]))

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Read the gauge of a real broker."""
        with (
            fetcher_cluster(context) as examination,
            followed_topic(examination, TOPIC, [(LEADER, FOLLOWER)]),
            GaugeReader() as reader,
        ):
            yield QuestionAnswer("gauge at rest", _gauge_at_rest(examination, reader))
            _hold(examination, 0)
            append(examination, LEADER, TOPIC, 1)
            examination.await_leads(LEADER, TOPIC, (LEADER,))
            append(examination, LEADER, TOPIC, RECORDS - 1)
            for offset in range(1, RECORDS + 1):
                _let_fetch(examination, offset)
                yield QuestionAnswer(_after(offset), [*_numbers(examination), _gauge(examination, reader)])
            examination.gate.release(_name(RECORDS))
            examination.await_leads(LEADER, TOPIC, (LEADER, FOLLOWER))
            yield QuestionAnswer(AHEAD, [*_one_ahead(examination), _gauge(examination, reader)])
            examination.gate.release(_name(RECORDS + 1))


def _after(offset: int) -> str:
    return f"{NUMBERS} at offset {offset}"


def _name(offset: int) -> str:
    return f"fetch at {offset}"


def _arm(examination: ExaminationCluster, offset: int) -> None:
    examination.gate.arm(_name(offset), Point("fetch_request", FOLLOWER, LEADER, TOPIC, 0, offset))


def _hold(examination: ExaminationCluster, offset: int) -> None:
    _arm(examination, offset)
    examination.await_caught(_name(offset))


def _let_fetch(examination: ExaminationCluster, offset: int) -> None:
    """Let the held fetch go on, and hold the one that asks for an offset."""
    _arm(examination, offset)
    examination.gate.release(_name(offset - 1))
    examination.await_caught(_name(offset))


def _one_ahead(examination: ExaminationCluster) -> tuple[int, int]:
    """Have the follower append a record that it has not reported; return the numbers of both replicas.

    Raises:
        InconclusiveError: the tester was late, and the follower may have left the ISR because of that.
    """
    began = time.monotonic()
    _hold(examination, RECORDS)
    append(examination, LEADER, TOPIC, 1)
    _let_fetch(examination, RECORDS + 1)
    numbers = _numbers(examination)
    if time.monotonic() - began > LAG_S - EARLIER_S:
        raise InconclusiveError("the tester held a follower's fetches almost for the lag time")
    return numbers


def _gauge_at_rest(examination: ExaminationCluster, reader: GaugeReader) -> int | None:
    """Return the gauge as soon as the follower has handled an answer and says nothing lags, else what it says last."""
    with suppress(DeadlineExceededError):
        until(lambda: _gauge(examination, reader) == 0, deadline_s=DEADLINE_S, what="a gauge at rest")
    return _gauge(examination, reader)


def _numbers(examination: ExaminationCluster) -> tuple[int, int]:
    """Ask the leader for its high watermark and the follower for its log end offset."""
    return examination.offsets(LEADER, TOPIC)[1], examination.offsets(FOLLOWER, TOPIC)[0]


def _gauge(examination: ExaminationCluster, reader: GaugeReader) -> int | None:
    return reader.number(examination.cluster.jmx_address(FOLLOWER), gauge_of(TOPIC, 0, LEADER))


LAG_GAUGE = LagGauge()
