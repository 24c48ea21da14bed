"""Is a frame told that contradicts itself, the other frames, or the settings of its run?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judgement.evidence_of_wire import WireStory
from conformance.record.run import Run
from conformance.record.wire import EpochRun, FrameEntry, Said, TracedFrame
from oracle.replacing import replace
from oracle.schedule import Schedule
from oracle.steps.topic import Reassign
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from collections.abc import Sequence

ABOUT = Run("4.4.0", "kraft", topic="t", topic_id="id")
SCHEDULE = Schedule(
    id="evidence/wire", requirement="", sources=(), replicas=(BrokerId(1), BrokerId(2)), steps=(), fetch_wait_max_ms=100
)
FETCH = TracedFrame(
    seq=1, arrived_ns=1, forwarded_ns=1, connection=7, link="replication", source=2, destination=1,
    direction="request", api_key=1, api="Fetch", api_version=12, correlation_id=1, hold=None, outcome="forwarded",
    decoded=Said(max_wait_ms=100, replica_epoch=5, partitions=(FrameEntry(fetch_offset=2, log_start_offset=2),)),
)  # fmt: skip
RECORD = FrameEntry(record="PartitionRecord", offset=4, topic="t", topic_id="id", replicas=(1, 2), isr=(1, 2))
RUN = EpochRun(leader_epoch=0, first_offset=2, last_offset=2)
ANSWER = replace(
    FETCH, seq=2, direction="response", decoded=Said(partitions=(FrameEntry(record_bytes=9, epochs=(RUN,)),))
)
NEWS = replace(
    ANSWER, seq=3, connection=9, link="controller", decoded=Said(partitions=(FrameEntry(metadata=(RECORD,)),))
)
BEAT = replace(FETCH, seq=4, connection=9, api="BrokerHeartbeat", link="controller", decoded=Said(broker_id=2))
ORDER = replace(FETCH, seq=5, api="LeaderAndIsr", connection=8, decoded=Said(controller_epoch=3))
SOUND = (FETCH, ANSWER, NEWS, BEAT, ORDER, replace(NEWS, seq=6), replace(ORDER, seq=7), replace(FETCH, seq=8))


def told(frames: Sequence[TracedFrame], schedule: Schedule = SCHEDULE) -> list[str]:
    story = WireStory(ABOUT, schedule)
    for frame in frames:
        story.take(frame)
    return list(story.complaints())


def of(frame: TracedFrame, **fields: object) -> TracedFrame:
    """Return a frame that says something else of its first partition."""
    entry = replace(frame.said.entries[0], **fields)  # type: ignore[arg-type]
    return replace(frame, decoded=replace(frame.said, partitions=(entry,)))


def news(**fields: object) -> TracedFrame:
    """Return a frame with another record of the metadata log."""
    return of(NEWS, metadata=(replace(RECORD, **fields),))  # type: ignore[arg-type]


CASES: dict[str, tuple[TracedFrame, str]] = {
    "connection": (replace(FETCH, seq=8, destination=3), "frame 8 is on a connection of other nodes"),
    "time": (replace(FETCH, arrived_ns=2), "frame 1 left the gate before it reached it"),
    "wait": (replace(FETCH, decoded=replace(FETCH.said, max_wait_ms=101)), "frame 1 waits 101 ms"),
    "log start": (of(FETCH, log_start_offset=3), "fetches from before where its sender's log starts"),
    "replica epoch": (replace(FETCH, decoded=replace(FETCH.said, replica_epoch=6)), "the replica epoch falls on conn"),
    "first offset": (of(ANSWER, epochs=(replace(RUN, first_offset=3),)), "frame 2 has records that end before"),
    "bytes": (of(ANSWER, record_bytes=0), "frame 2 has records of no bytes"),
    "broker": (replace(BEAT, decoded=Said(broker_id=3)), "frame 4 tells another broker"),
    "controller epoch": (
        replace(ORDER, decoded=Said(controller_epoch=4)),
        "the controller epoch falls on conn",
    ),
    "kind of record": (news(record="TopicRecord"), "another record of the metadata log"),
    "partition epoch": (news(partition_epoch=9), "another record of the metadata log"),
    "ISR": (news(isr=(1, 3)), "has an ISR with others than the replicas"),
    "topic": (news(topic="u"), "calls the topic by another id"),
    "topic id": (news(topic_id="other"), "calls the topic by another id"),
    "order": (of(NEWS, metadata=(RECORD, replace(RECORD, offset=3))), "that are not in its order"),
}


def test_sound_frames_contradict_nothing() -> None:
    assert told(SOUND) == []


@pytest.mark.parametrize("case", CASES)
def test_a_frame_that_contradicts_is_told(case: str) -> None:
    doctored, words = CASES[case]
    complaints = told([doctored if frame.seq == doctored.seq else frame for frame in SOUND])

    assert any(words in complaint for complaint in complaints), complaints


def test_a_partition_that_is_moved_may_have_an_isr_with_its_old_replicas() -> None:
    moved = replace(SCHEDULE, steps=(Reassign((BrokerId(2), BrokerId(1))),))

    assert told([news(isr=(1, 3))], moved) == []
    assert told([news(isr=(1, 3))]) != []
