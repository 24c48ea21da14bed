"""How many events a second does the trace check replay, and does its memory grow with the trace?

    python -m benchmarks.trace_check [EVENTS]
    python -m benchmarks.trace_check TRACE TOPIC [RELEASE]

The second form replays a trace that ``benchmarks.soak_wire --keep`` left, of a topic with many partitions: it reads
frames, turns them into events and checks these, on one core, and prints what that takes beside the trace's length.

The first needs no trace: a leader with two followers that fetch one record after the other, under the newest release's
rules, the four moments of every FETCH, on one core. Prints events a second, and the peak of traced memory for a tenth
and for the whole of the events.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.observation.frame_events import FrameEvents
from conformance.observation.wire_moments import WireMoments
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


NS_PER_S = 1_000_000_000
NEWEST = "4.4.0"


def replay_trace(path: Path, topic: str, version: str) -> None:
    """Replay a recorded trace, first its reading alone, and print what it takes."""
    began = time.perf_counter()
    for _ in WireMoments(path):
        pass
    reading_s = time.perf_counter() - began
    moments, frames, check = WireMoments(path), FrameEvents(topic), TraceCheck(rules_for(version, MetadataMode.KRAFT))
    first_ns = last_ns = events = 0
    began = time.perf_counter()
    for moment in moments:
        first_ns, last_ns = first_ns or moment.at, moment.at
        for event in frames.of(moment):
            events += 1
            violation = check.feed(event)
            assert violation is None, str(violation)
    seconds, length_s = time.perf_counter() - began, (last_ns - first_ns) / NS_PER_S
    report = check.finish()
    sys.stdout.write(
        f"{moments.lines:,} frames, {events:,} events of {report.partitions} partitions in {seconds:.1f} s: "
        f"{moments.lines / seconds:,.0f} frames/s, {events / seconds:,.0f} events/s; "
        f"the trace is {length_s:.1f} s long\n"
        f"reading the frames alone takes {reading_s:.1f} s\n"
    )


def main() -> None:
    """Measure, and print."""
    if len(sys.argv) > 2:
        replay_trace(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else NEWEST)
        return
    events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    rates = sorted(events / replay(events) for _ in range(3))
    sys.stdout.write(f"{rates[1]:,.0f} events/s (median of three: {', '.join(f'{rate:,.0f}' for rate in rates)})\n")
    small, large = peak_kib(events // 10), peak_kib(events)
    sys.stdout.write(f"peak memory: {small:,.0f} KiB for {events // 10:,} events, {large:,.0f} KiB for {events:,}\n")


if __name__ == "__main__":
    main()
