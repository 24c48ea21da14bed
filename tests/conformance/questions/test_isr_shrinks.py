"""Are shrinks timed by whichever file shows them, and is the news followed to the right broker?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError, Took, agrees
from conformance.questions.shrink import delay_of_the_news, last_fetch_before, notices, path_of_the_news, shrunk_at
from conformance.scenarios.in_sync_replicas.is_01_leaves_in_time import LEAVES_IN_TIME
from conformance.scenarios.in_sync_replicas.silence import HEARD, REMOVED
from tests.conformance.questions.hand_made_runs import MS, TOPIC, HandMadeRun
from tests.conformance.scenarios.ladder_predictions import answer, kraft, zookeeper

if TYPE_CHECKING:
    from pathlib import Path

CAUGHT_MS, LAST_FETCH_MS = 2_100, 2_000
LINE = f"INFO [Partition {TOPIC}-0 broker=1] Shrinking ISR from 1,2 to 1. Leader: (highWatermark: 1, endOffset: 2). (x)"


@pytest.fixture
def made(tmp_path: Path) -> HandMadeRun:
    """Broker 2's last fetch passes at 2.0 s, the next one is held at 2.1 s."""
    run = HandMadeRun(tmp_path / "run")
    run.request(1_900, "Fetch", (2, 1), fetch_offset=1)
    run.request(LAST_FETCH_MS, "Fetch", (2, 1), fetch_offset=1)
    run.request(CAUGHT_MS, "Fetch", (2, 1), passed=False, fetch_offset=1)
    run.mark(CAUGHT_MS, "hold_caught", "silence")
    return run


def silence_ms(made: HandMadeRun) -> int:
    (question,) = LEAVES_IN_TIME.questions
    measured = question.measure(made.run)
    assert isinstance(measured, Took)
    return measured.ms


@pytest.mark.parametrize(("after_ms", "is_in_time"), [(2_990, False), (3_000, True), (5_000, True), (5_001, False)])
def test_a_shrink_is_timed_by_the_wish_on_the_wire(made: HandMadeRun, after_ms: int, is_in_time: bool) -> None:
    made.request(LAST_FETCH_MS + after_ms, "AlterPartition", (1, 100), new_isr=[1])

    measured = silence_ms(made)
    assert measured == after_ms
    assert agrees(answer("IS-01", kraft("4.3.1"), "milliseconds"), measured) is is_in_time


def test_a_wish_to_grow_is_no_shrink(made: HandMadeRun) -> None:
    made.request(5_500, "AlterPartition", (1, 100), new_isr=[1, 2])

    with pytest.raises(NotSeenError, match="neither proposed a smaller ISR nor logged"):
        silence_ms(made)


@pytest.mark.parametrize("clock", ["2026-11-22 00:43:17,500", "2026-11-22 06:13:17,500", "2026-11-21 17:43:17,500"])
def test_a_shrink_is_timed_by_the_leaders_log_in_any_time_zone(made: HandMadeRun, clock: str) -> None:
    made.file_of(1, "server.log", f"[2026-11-22 00:43:01,000] INFO something else (y)\n[{clock}] {LINE}\n")

    assert shrunk_at(made.run, 1, LAST_FETCH_MS * MS) == 5_500 * MS
    assert silence_ms(made) == 3_500


def test_another_topics_shrink_is_not_this_ones(made: HandMadeRun) -> None:
    made.file_of(1, "server.log", f"[2026-11-22 00:43:17,500] {LINE.replace(TOPIC, 'other')}\n")

    with pytest.raises(NotSeenError):
        silence_ms(made)


def test_a_follower_that_never_fetched(made: HandMadeRun) -> None:
    with pytest.raises(NotSeenError, match="no fetch of broker 3"):
        last_fetch_before(made.run, 3, 1, CAUGHT_MS * MS)


def told_by_controller(made: HandMadeRun, at_ms: int) -> None:
    made.request(at_ms, "UpdateMetadata", (100, 3), isr=[1])


def test_the_news_by_way_of_zookeeper(made: HandMadeRun) -> None:
    made.file_of(1, "server.log", f"[2026-11-22 00:43:17,500] {LINE}\n")
    told_by_controller(made, 11_000)

    assert agrees(answer("IS-06", zookeeper("2.6.3"), "frames"), path_of_the_news(made.run))
    assert not agrees(answer("IS-06", zookeeper("2.8.2"), "frames"), path_of_the_news(made.run))
    assert delay_of_the_news(made.run).ms == 5_500
    assert agrees(answer("IS-06", zookeeper("2.6.3"), "milliseconds"), 5_500)
    assert not agrees(answer("IS-06", zookeeper("2.8.2"), "milliseconds"), 5_500)


def test_the_news_by_alter_partition(made: HandMadeRun) -> None:
    made.request(5_500, "AlterPartition", (1, 100), new_isr=[1])
    told_by_controller(made, 5_600)

    assert agrees(answer("IS-06", zookeeper("2.8.2"), "frames"), path_of_the_news(made.run))
    assert delay_of_the_news(made.run).ms == 100


def test_news_before_the_shrink_is_not_in_time(made: HandMadeRun) -> None:
    told_by_controller(made, 5_400)
    made.request(5_500, "AlterPartition", (1, 100), new_isr=[1])

    assert delay_of_the_news(made.run).ms == -100
    assert not agrees(answer("IS-06", zookeeper("2.8.2"), "milliseconds"), -100)


@pytest.mark.parametrize(("after_ms", "version"), [(501, "2.8.2"), (8_001, "2.6.3")])
def test_news_that_is_late(after_ms: int, version: str) -> None:
    expected = answer("IS-06", zookeeper(version), "milliseconds")
    assert not agrees(expected, after_ms)
    assert agrees(expected, after_ms - 1)


def test_a_notice_of_zookeepers_time_waits_until_the_isr_was_quiet_for_five_seconds() -> None:
    expected = answer("IS-06", zookeeper("2.6.3"), "milliseconds")
    assert not agrees(expected, 4_999)
    assert agrees(expected, 5_000)


@pytest.mark.parametrize(("after", "count"), [(14, 1), (12, 0)])
def test_a_notice_that_came_and_went_is_counted(made: HandMadeRun, after: int, count: int) -> None:
    made.observe(5_000, "checkpoint", name=REMOVED, isr_notices=12)
    made.observe(9_000, "checkpoint", name=HEARD, isr_notices=after)

    assert notices(made.run, REMOVED, HEARD) == count
    assert agrees(answer("IS-06", zookeeper("2.6.3"), "notices"), count) is (count == 1)
    assert agrees(answer("IS-06", zookeeper("2.8.2"), "notices"), count) is (count == 0)


def test_notices_that_were_not_counted(made: HandMadeRun) -> None:
    made.observe(5_000, "checkpoint", name=REMOVED, isr_notices=12)

    with pytest.raises(NotSeenError, match="not counted at both"):
        notices(made.run, REMOVED, HEARD)


def test_the_news_in_the_metadata_log(made: HandMadeRun) -> None:
    made.request(5_500, "AlterPartition", (1, 100), new_isr=[1])
    made.metadata_record(5_550, 2, record="PartitionChangeRecord", isr=[1])
    made.metadata_record(5_700, 3, record="PartitionChangeRecord", isr=[1])

    assert agrees(answer("IS-06", kraft("4.3.1"), "frames"), path_of_the_news(made.run))
    assert delay_of_the_news(made.run).ms == 200


def test_news_that_never_came(made: HandMadeRun) -> None:
    made.request(5_500, "AlterPartition", (1, 100), new_isr=[1])
    made.metadata_record(5_700, 3, record="PartitionChangeRecord", isr=[1, 2])

    with pytest.raises(NotSeenError, match="nothing told broker 3"):
        path_of_the_news(made.run)
