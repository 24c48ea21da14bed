"""Which short forms does the catalogue write its steps in?"""

from __future__ import annotations

from oracle.steps import (
    AwaitHold,
    AwaitIsr,
    AwaitLag,
    AwaitLeader,
    AwaitOutcome,
    Checkpoint,
    Hold,
    Kill,
    LoseCheckpoint,
    LoseTail,
    Produce,
    Release,
    Start,
    Stop,
)
from oracle.vocabulary import Acks, BrokerId, Expectation, Label, Offset, PointName


def produce(
    *labels: str,
    acks: Acks = Acks.ALL,
    expect: Expectation = Expectation.ACKNOWLEDGED,
    error: str | None = None,
    timeout_ms: int = 30_000,
) -> Produce:
    """Send one record per label to the current leader."""
    return Produce(tuple(Label(label) for label in labels), acks, expect, error, timeout_ms)


def await_outcome(*labels: str, expect: Expectation = Expectation.ANY, error: str | None = None) -> AwaitOutcome:
    """Collect the outcome of records left pending."""
    return AwaitOutcome(tuple(Label(label) for label in labels), expect, error)


def hold_request(name: str, follower: int, leader: int, fetch_offset: int | None = None) -> Hold:
    """Freeze a follower's FETCH before the leader sees it."""
    return _hold(name, PointName.FETCH_REQUEST, follower, leader, fetch_offset)


def hold_response(name: str, follower: int, leader: int, fetch_offset: int | None = None) -> Hold:
    """Freeze the leader's answer before the follower sees it."""
    return _hold(name, PointName.FETCH_RESPONSE, follower, leader, fetch_offset)


def _hold(name: str, point: PointName, follower: int, leader: int, fetch_offset: int | None) -> Hold:
    offset = None if fetch_offset is None else Offset(fetch_offset)
    return Hold(name, point, BrokerId(follower), BrokerId(leader), offset)


def await_hold(name: str) -> AwaitHold:
    """Wait until the gate has caught the frame."""
    return AwaitHold(name)


def release(name: str) -> Release:
    """Let a held frame pass."""
    return Release(name)


def kill(broker: int) -> Kill:
    """Kill -9 a broker."""
    return Kill(BrokerId(broker))


def stop(broker: int) -> Stop:
    """Stop a broker gracefully."""
    return Stop(BrokerId(broker))


def start(broker: int) -> Start:
    """Start a broker with its old files."""
    return Start(BrokerId(broker))


def await_leader(broker: int | None) -> AwaitLeader:
    """Wait for a leader, or for none."""
    return AwaitLeader(None if broker is None else BrokerId(broker))


def await_isr(*brokers: int) -> AwaitIsr:
    """Wait for the committed in-sync replicas."""
    return AwaitIsr(tuple(BrokerId(broker) for broker in brokers))


def await_lag(*followers: int) -> AwaitLag:
    """Let replica.lag.time.max.ms pass for followers that do not fetch."""
    return AwaitLag(tuple(BrokerId(follower) for follower in followers))


def lose_checkpoint(broker: int) -> LoseCheckpoint:
    """Remove the high watermark checkpoint of a broker that is down."""
    return LoseCheckpoint(BrokerId(broker))


def lose_tail(broker: int, offset: int) -> LoseTail:
    """Cut the log of a broker that is down."""
    return LoseTail(BrokerId(broker), Offset(offset))


def checkpoint(name: str) -> Checkpoint:
    """Measure every replica."""
    return Checkpoint(name)


def brokers(*ids: int) -> tuple[BrokerId, ...]:
    """Return broker ids."""
    return tuple(BrokerId(broker) for broker in ids)


__all__ = [
    "await_hold",
    "await_isr",
    "await_lag",
    "await_leader",
    "await_outcome",
    "brokers",
    "checkpoint",
    "hold_request",
    "hold_response",
    "kill",
    "lose_checkpoint",
    "lose_tail",
    "produce",
    "release",
    "start",
    "stop",
]
