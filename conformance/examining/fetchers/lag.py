"""What does a follower say about its lag?

It reckons it when it has handled an answer: the high watermark in the answer minus the offset that it fetches next,
and never below zero. Each fetch is held in turn, so the gauge stands still while it is read.

Source: ``AbstractFetcherThread.processFetchRequest``, ``FetcherLagMetrics``; the gauge is ``ConsumerLag``.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import Answer
from conformance.examining.fetchers.three_fetchers import FETCHERS, append, fetcher_id, fetcher_stand, followed_topic
from conformance.examining.stand import DEADLINE_S
from conformance.interruption import NeverAtRestError
from conformance.probes.jmx import GaugeReader
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.points import Point

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.room import Room
    from conformance.examining.stand import Stand
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

    def predict(self, rules: RuleSet) -> tuple[Answer, ...]:  # noqa: ARG002 - the same on every release
        """Predict the gauge from the two numbers that it is the difference of."""
        lags = (Answer(_after(offset), [RECORDS, offset, RECORDS - offset]) for offset in range(1, RECORDS + 1))
        return (Answer("gauge at rest", 0), *lags, Answer(AHEAD, [RECORDS, RECORDS + 1, 0]))

    def conduct(self, room: Room) -> Iterator[Answer]:
        """Read the gauge of a real broker."""
        with (
            fetcher_stand(room) as stand,
            followed_topic(stand, TOPIC, [(LEADER, FOLLOWER)]),
            GaugeReader() as reader,
        ):
            yield Answer("gauge at rest", _gauge_at_rest(stand, reader))
            _hold(stand, 0)
            append(stand, LEADER, TOPIC, 1)
            stand.await_leads(LEADER, TOPIC, (LEADER,))
            append(stand, LEADER, TOPIC, RECORDS - 1)
            for offset in range(1, RECORDS + 1):
                _let_fetch(stand, offset)
                yield Answer(_after(offset), [*_numbers(stand), _gauge(stand, reader)])
            stand.gate.release(_name(RECORDS))
            stand.await_leads(LEADER, TOPIC, (LEADER, FOLLOWER))
            yield Answer(AHEAD, [*_one_ahead(stand), _gauge(stand, reader)])
            stand.gate.release(_name(RECORDS + 1))


def _after(offset: int) -> str:
    return f"{NUMBERS} at offset {offset}"


def _name(offset: int) -> str:
    return f"fetch at {offset}"


def _arm(stand: Stand, offset: int) -> None:
    stand.gate.arm(_name(offset), Point("fetch_request", FOLLOWER, LEADER, TOPIC, 0, offset))


def _hold(stand: Stand, offset: int) -> None:
    _arm(stand, offset)
    stand.await_caught(_name(offset))


def _let_fetch(stand: Stand, offset: int) -> None:
    """Let the held fetch go on, and hold the one that asks for an offset."""
    _arm(stand, offset)
    stand.gate.release(_name(offset - 1))
    stand.await_caught(_name(offset))


def _one_ahead(stand: Stand) -> tuple[int, int]:
    """Have the follower append a record that it has not reported; give the numbers of both replicas.

    Raises:
        NeverAtRestError: the tester was late, and the follower may have left the ISR because of that.
    """
    began = time.monotonic()
    _hold(stand, RECORDS)
    append(stand, LEADER, TOPIC, 1)
    _let_fetch(stand, RECORDS + 1)
    numbers = _numbers(stand)
    if time.monotonic() - began > LAG_S - EARLIER_S:
        raise NeverAtRestError("the tester held a follower's fetches almost for the lag time")
    return numbers


def _gauge_at_rest(stand: Stand, reader: GaugeReader) -> int | None:
    """Return the gauge as soon as the follower has handled an answer and says nothing lags, else what it says last."""
    with suppress(DeadlineExceededError):
        until(lambda: _gauge(stand, reader) == 0, deadline_s=DEADLINE_S, what="a gauge at rest")
    return _gauge(stand, reader)


def _numbers(stand: Stand) -> tuple[int, int]:
    """Ask the leader for its high watermark and the follower for its log end offset."""
    return stand.offsets(LEADER, TOPIC)[1], stand.offsets(FOLLOWER, TOPIC)[0]


def _gauge(stand: Stand, reader: GaugeReader) -> int | None:
    return reader.number(stand.cluster.jmx_address(FOLLOWER), gauge_of(TOPIC, 0, LEADER))


LAG_GAUGE = LagGauge()
