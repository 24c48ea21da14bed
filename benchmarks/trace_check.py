"""How many events a second does the trace check replay, and does its memory grow with the trace?

    python -m benchmarks.trace_check [EVENTS]

A leader with two followers that fetch one record after the other, under the newest release's rules: the four
moments of every FETCH, on one core. Prints events a second, and the peak of traced memory for a tenth and for
the whole of the events.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from itertools import islice
from typing import TYPE_CHECKING

from oracle.rules.by_version import rules_for
from oracle.trace_check import TraceCheck
from oracle.tracing.observed import (
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    FetchSent,
    LeadershipHeard,
    ObservedEpochRun,
    RequestKey,
    TopicPartition,
)
from oracle.vocabulary import BrokerId, LeaderEpoch, MetadataMode, Offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.tracing.observed import Event

LEADER = BrokerId(1)
FOLLOWERS = (BrokerId(2), BrokerId(3))
EPOCH = LeaderEpoch(0)
PARTITION = TopicPartition("benchmark", 0)
EVENTS = 200_000
STEP_NS = 1_000
FETCH_VERSION = 18


def replication() -> Iterator[Event]:
    """Yield events without end: each round both followers fetch one more record."""
    brokers = (LEADER, *FOLLOWERS)
    for broker in brokers:
        yield LeadershipHeard(
            at=0, partition=PARTITION, broker=broker, leader=LEADER, leader_epoch=EPOCH, isr=brokers, replicas=brokers
        )
    offset = 0
    while True:
        for follower in FOLLOWERS:
            yield from _fetch(follower, offset)
        offset += 1


def _fetch(follower: BrokerId, offset: int) -> Iterator[Event]:
    key = RequestKey(int(follower), offset)
    at = offset * STEP_NS
    yield FetchSent(
        at=at,
        partition=PARTITION,
        key=key,
        follower=follower,
        leader=LEADER,
        fetch_offset=Offset(offset),
        current_leader_epoch=EPOCH,
        last_fetched_epoch=EPOCH if offset else None,
        api_version=FETCH_VERSION,
    )
    yield FetchReceived(at=at, partition=PARTITION, key=key)
    run = ObservedEpochRun(EPOCH, Offset(offset), Offset(offset))
    watermark = Offset(max(offset - 1, 0))
    yield FetchAnswered(at=at, partition=PARTITION, key=key, error=0, high_watermark=watermark, runs=(run,))
    yield FetchDelivered(at=at, partition=PARTITION, key=key)


def replay(events: int) -> float:
    """Replay so many events; return the seconds it took."""
    stream = list(islice(replication(), events))
    check = TraceCheck(rules_for("4.3.1", MetadataMode.KRAFT))
    began = time.perf_counter()
    for event in stream:
        violation = check.feed(event)
        assert violation is None, str(violation)
    return time.perf_counter() - began


def peak_kib(events: int) -> float:
    """Return the peak of memory that the check takes, in KiB, the events not counted."""
    check = TraceCheck(rules_for("4.3.1", MetadataMode.KRAFT))
    tracemalloc.start()
    for event in islice(replication(), events):
        check.feed(event)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1024


def main() -> None:
    """Measure, and print."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    rates = sorted(events / replay(events) for _ in range(3))
    sys.stdout.write(f"{rates[1]:,.0f} events/s (median of three: {', '.join(f'{rate:,.0f}' for rate in rates)})\n")
    small, large = peak_kib(events // 10), peak_kib(events)
    sys.stdout.write(f"peak memory: {small:,.0f} KiB for {events // 10:,} events, {large:,.0f} KiB for {events:,}\n")


if __name__ == "__main__":
    main()
