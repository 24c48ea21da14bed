"""Is what is news told once, and what repeats only counted?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.observation import event_text
from conformance.observation.event_text import TraceLines
from oracle.tracing.observed import (
    BrokerEnded,
    FetchAnswered,
    FetchDelivered,
    FetchSent,
    IsrAnnounced,
    LeadershipApplied,
    ReplicaMeasured,
    RequestKey,
    TopicPartition,
)

if TYPE_CHECKING:
    import pytest

PARTITION = TopicPartition("t", 0)
MS = 1_000_000


def told(*events: Any) -> list[str]:  # noqa: ANN401
    telling = TraceLines()
    return [line for event in events for line in telling.lines(event)] + list(telling.rest())


def sent(number: int, fetch_offset: int = 3) -> Any:  # noqa: ANN401
    return FetchSent(
        at=number * MS,
        partition=PARTITION,
        key=RequestKey(1, number),
        follower=2,  # type: ignore[arg-type]
        leader=1,  # type: ignore[arg-type]
        fetch_offset=fetch_offset,  # type: ignore[arg-type]
        api_version=4,
    )


def answered(number: int, high_watermark: int, error: int = 0) -> Any:  # noqa: ANN401
    key = RequestKey(1, number)
    at = number * MS
    return FetchAnswered(at=at, partition=PARTITION, key=key, error=error, high_watermark=high_watermark)  # type: ignore[arg-type]


def delivered(number: int, at_ms: int) -> Any:  # noqa: ANN401
    return FetchDelivered(at=at_ms * MS, partition=PARTITION, key=RequestKey(1, number))


def announced(isr: tuple[int, ...]) -> Any:  # noqa: ANN401
    return IsrAnnounced(at=1, partition=PARTITION, leader=1, leader_epoch=0, isr=isr, replicas=(1, 2))  # type: ignore[arg-type]


def test_fetches_without_news_are_counted() -> None:
    lines = told(sent(1), answered(1, 3), sent(2), answered(2, 3), sent(3), answered(3, 3), sent(4, 5))
    assert lines == [
        "broker 2 fetches at broker 1 from offset 3",
        "  broker 1 answers broker 2: high watermark 3",
        "  (2 more fetches of broker 2 at broker 1, no news)",
        "broker 2 fetches at broker 1 from offset 5",
    ]


def test_a_new_high_watermark_or_error_is_news() -> None:
    lines = told(sent(1), answered(1, 3), sent(2), answered(2, 4), sent(3), answered(3, -1, 74))
    assert lines[1::2] == [
        "  broker 1 answers broker 2: high watermark 3",
        "  broker 1 answers broker 2: high watermark 4",
        "  broker 1 answers broker 2: FENCED_LEADER_EPOCH",
    ]
    assert lines[2] == "  (1 more fetch of broker 2 at broker 1, no news)"


def test_what_is_left_is_counted_at_the_end() -> None:
    assert told(sent(1), sent(2))[-1] == "  (1 more fetch of broker 2 at broker 1, no news)"


def test_after_an_end_everything_is_news_again() -> None:
    ended = BrokerEnded(at=2, broker=2, clean=False)  # type: ignore[arg-type]
    assert told(sent(1), ended, sent(3))[1:] == ["broker 2 was killed", "broker 2 fetches at broker 1 from offset 3"]


def test_only_a_late_arrival_is_told() -> None:
    assert told(sent(1), answered(1, 3), delivered(1, 2))[2:] == []
    assert told(sent(1), answered(1, 3), delivered(1, 251))[2:] == ["  the follower has the answer, 0.250 s later"]


def test_an_announcement_and_a_measurement_are_told_once() -> None:
    numbers = ReplicaMeasured(at=3, since=1, partition=PARTITION, broker=1, log_end_offset=2, high_watermark=1)  # type: ignore[arg-type]
    lines = told(announced((1, 2)), announced((1, 2)), announced((1,)), numbers, numbers)
    assert [line.partition(":")[0] for line in lines] == ["the controller announces"] * 2 + ["broker 1 measured"]


def test_an_order_that_was_carried_out_is_no_news_and_a_refused_one_is() -> None:
    key = RequestKey(1, 1)
    done = LeadershipApplied(at=1, partition=PARTITION, broker=2, key=key)  # type: ignore[arg-type]
    refused = LeadershipApplied(at=1, partition=PARTITION, broker=2, key=key, error=11)  # type: ignore[arg-type]
    assert told(done, refused) == ["  broker 2 refuses it: STALE_CONTROLLER_EPOCH"]


def test_what_is_no_fetch_is_forgotten_in_the_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_text, "IN_FLIGHT_MAX", 3)
    lines = told(sent(1), *(delivered(number, number) for number in range(2, 5)), answered(4, 3))
    assert len(lines) == 2
    assert told(*(delivered(number, number) for number in range(9))) == []
