"""Does a leader honour what a consumer asks for? RM-05 (Fetch) and RM-06 (ListOffsets)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from fault_injection.puppets.client import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, ListedOffset
from fault_injection.puppets.fetching import BYTES_MAX, Fetch
from fault_injection.puppets.records import TIMESTAMP_MS

if TYPE_CHECKING:
    from fault_injection.wire.views import FetchedPartition
    from tests.integration.puppets.stage import Stage

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

OFFSET_OUT_OF_RANGE = 1
WAIT_MS, LONG_MS = 300, 20_000


@pytest.fixture
def led(stage: Stage) -> Stage:
    """A leader with four records, one a batch, of which three are committed."""
    stage.lead(5, isr=(1, 2))
    stage.append("a", "b", "c", "d")
    stage.fetch(2, 3, 5)
    return stage


def timed(stage: Stage, fetch: Fetch) -> tuple[FetchedPartition, float]:
    """Fetch as a consumer and give the answer and how many milliseconds it took."""
    began = time.monotonic()
    given = stage.run.client.fetch(stage.topic, fetch)
    return given, (time.monotonic() - began) * 1000


def test_a_consumer_reads_up_to_the_high_watermark(led: Stage) -> None:
    _, high_watermark = led.model.numbers
    given, _ = timed(led, Fetch(0))

    assert (given.first_offset, given.last_offset) == (0, high_watermark - 1)
    assert (given.error, given.high_watermark) == (0, high_watermark)


def test_an_empty_fetch_waits_as_long_as_it_may(led: Stage) -> None:
    log_end_offset, high_watermark = led.model.numbers
    given, took_ms = timed(led, Fetch(high_watermark, max_wait_ms=WAIT_MS))
    assert (given.error, given.record_bytes) == (0, 0)
    assert took_ms >= WAIT_MS

    # Beyond what a consumer may see it is answered at once from 3.8 on: DelayedFetch.tryComplete, case F.
    given, took_ms = timed(led, Fetch(log_end_offset, max_wait_ms=WAIT_MS))
    assert (given.error, given.record_bytes) == (0, 0)
    assert (took_ms < WAIT_MS) is led.has_release(3, 8)


def test_a_fetch_waits_for_the_bytes_that_it_wants_at_least(led: Stage) -> None:
    at_once, took_ms = timed(led, Fetch(0, max_wait_ms=LONG_MS))
    assert at_once.record_bytes > 0
    assert took_ms < LONG_MS / 2
    late, took_ms = timed(led, Fetch(0, max_wait_ms=WAIT_MS, min_bytes=BYTES_MAX))
    assert late.record_bytes == at_once.record_bytes
    assert took_ms >= WAIT_MS


def test_at_least_one_batch_comes_whatever_the_maximum(led: Stage) -> None:
    for fetch in (Fetch(1, max_bytes=1), Fetch(1, partition_max_bytes=1)):
        given, _ = timed(led, fetch)
        assert (given.first_offset, given.last_offset) == (1, 1)


def test_an_offset_beyond_the_log_is_out_of_range(led: Stage) -> None:
    given, _ = timed(led, Fetch(led.model.log_end_offset + 1))
    assert given.error == OFFSET_OUT_OF_RANGE


def test_offsets_are_listed_by_place_and_by_time(led: Stage) -> None:
    client, topic = led.run.client, led.topic
    _, high_watermark = led.model.numbers
    later = TIMESTAMP_MS + 10

    assert client.list_offset(topic, EARLIEST_TIMESTAMP) == ListedOffset(0, 0)
    assert client.list_offset(topic, LATEST_TIMESTAMP) == ListedOffset(0, high_watermark)
    assert client.append(topic, b"late", timestamp_ms=later) == (0, led.model.log_end_offset)
    led.model.append("late")
    led.fetch(2, led.model.log_end_offset, 5)
    assert client.list_offset(topic, TIMESTAMP_MS) == ListedOffset(0, 0)
    assert client.list_offset(topic, later) == ListedOffset(0, led.model.log_end_offset - 1)
    assert client.list_offset(topic, later + 1) == ListedOffset(0, -1)
