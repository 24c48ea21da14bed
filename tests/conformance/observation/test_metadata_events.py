"""Do fetches of KRaft's metadata log become what the controller announced and what each broker heard?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from conformance.observation.errors import TraceUnreadableError
from conformance.observation.frame_events import FrameEvents
from conformance.observation.wire_moments import WireMoments
from fault_injection.wire import metadata_views as metadata
from fault_injection.wire import views
from tests.conformance.observation.wire_files import FETCH, TOPIC, WireFile

if TYPE_CHECKING:
    from pathlib import Path

ID = UUID(int=77)
LOG, LOG_ID = "__cluster_metadata", UUID(int=1)


@pytest.fixture
def wire() -> WireFile:
    return WireFile()


def shown(wire: WireFile, directory: Path) -> list[Any]:
    frames = FrameEvents(TOPIC)
    return [event for moment in WireMoments(wire.write(directory)) for event in frames.of(moment)]


def names(events: list[Any]) -> list[str]:
    return [type(event).__name__ for event in events]


def metadata_answer(*records: metadata.MetadataRecord, high_watermark: int) -> views.FetchResponseView:
    runs = (views.EpochBatches(1, records[0].offset, records[-1].offset),) if records else ()
    given = views.FetchedPartition(LOG, LOG_ID, 0, 0, high_watermark, epochs=runs, metadata=records)
    return views.FetchResponseView(0, 0, 0, (given,))


CREATED = (
    metadata.TopicRecord(10, TOPIC, ID),
    metadata.PartitionRecord(11, ID, 0, (1, 2), (1, 2), leader=1, leader_epoch=0, partition_epoch=0),
)
SHRUNK = metadata.PartitionChangeRecord(12, ID, 0, isr=(2,))
ELECTED = metadata.PartitionChangeRecord(13, ID, 0, leader=2)


def metadata_fetch(wire: WireFile, broker: int, offset: int, answer: views.FetchResponseView) -> None:
    asked = views.FetchRequestView(broker, 8, 500, 0, -1, (views.FetchPartition(LOG, LOG_ID, 0, offset),))
    wire.answer(wire.request(FETCH, broker, 100, asked, link="controller", connection=broker), answer)


def test_the_metadata_log_is_announced_once_and_heard_by_each_broker(wire: WireFile, tmp_path: Path) -> None:
    for broker in (1, 2):
        metadata_fetch(wire, broker, 10, metadata_answer(*CREATED, SHRUNK, ELECTED, high_watermark=14))
    events = shown(wire, tmp_path)
    assert names(events) == ["IsrAnnounced"] * 3 + ["LeadershipHeard"] * 6
    states = [(e.leader, e.leader_epoch, e.isr, e.partition_epoch) for e in events]
    assert states[:3] == [(1, 0, (1, 2), 0), (1, 0, (2,), 1), (2, 1, (2,), 2)]
    assert states[3:6] == states[6:] == states[:3]
    assert [e.broker for e in events[3:]] == [1, 1, 1, 2, 2, 2]


def test_a_record_is_heard_once_the_high_watermark_is_above_it(wire: WireFile, tmp_path: Path) -> None:
    metadata_fetch(wire, 1, 10, metadata_answer(*CREATED, high_watermark=11))
    metadata_fetch(wire, 1, 12, metadata_answer(high_watermark=12))
    events = shown(wire, tmp_path)
    assert names(events) == ["IsrAnnounced", "LeadershipHeard"]
    assert [event.frame for event in events] == [2, 4]


def test_a_broker_that_starts_hears_the_newest_state_again(wire: WireFile, tmp_path: Path) -> None:
    metadata_fetch(wire, 1, 10, metadata_answer(*CREATED, SHRUNK, high_watermark=13))
    metadata_fetch(wire, 1, 13, metadata_answer(high_watermark=13))
    frames = FrameEvents(TOPIC)
    events: list[Any] = []
    for moment in WireMoments(wire.write(tmp_path)):
        if moment.seq == 3 and not moment.is_delivery:
            frames.broker_started(1)
        events += frames.of(moment)
    assert names(events) == ["IsrAnnounced"] * 2 + ["LeadershipHeard"] * 3
    assert (events[-1].isr, events[-1].frame) == ((2,), 4)


def test_a_record_that_was_not_decoded_is_refused(wire: WireFile, tmp_path: Path) -> None:
    metadata_fetch(wire, 1, 10, metadata_answer(metadata.UnreadableRecord(10, 5, 9), high_watermark=11))
    with pytest.raises(TraceUnreadableError, match=r"frame 2: a record of the metadata log \(api key 5, version 9\)"):
        shown(wire, tmp_path)
