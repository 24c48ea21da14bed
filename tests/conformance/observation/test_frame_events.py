"""Does each frame between nodes become the events that it shows?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from conformance.observation.errors import TraceUnreadableError
from conformance.observation.frame_events import FrameEvents
from conformance.observation.wire_moments import WireMoments
from fault_injection.wire import controller_views as controller
from fault_injection.wire import views
from oracle.log import EpochEnd
from oracle.tracing import observed
from oracle.tracing.observed import ObservedEpochRun, RequestKey, TopicPartition
from tests.conformance.observation.wire_files import (
    ALTER_PARTITION,
    FETCH,
    LEADER_AND_ISR,
    LOOKUP,
    STOP_REPLICA,
    TOPIC,
    UPDATE_METADATA,
    WireFile,
)

if TYPE_CHECKING:
    from pathlib import Path

PARTITION = TopicPartition(TOPIC, 0)
ID = UUID(int=77)
LEADERSHIP = controller.PartitionLeadership(TOPIC, None, 0, 1, 5, (1, 2), (1, 2), 3, 9)


@pytest.fixture
def wire() -> WireFile:
    return WireFile()


def shown(wire: WireFile, directory: Path, topic_id: str | None = None) -> list[Any]:
    frames = FrameEvents(TOPIC, topic_id)
    return [event for moment in WireMoments(wire.write(directory)) for event in frames.of(moment)]


def names(events: list[Any]) -> list[str]:
    return [type(event).__name__ for event in events]


def fetch(fetch_offset: int = 3, replica_id: int = 2, **fields: Any) -> views.FetchRequestView:  # noqa: ANN401
    asked = views.FetchPartition(fields.pop("topic", TOPIC), fields.pop("topic_id", None), 0, fetch_offset, **fields)
    return views.FetchRequestView(replica_id, 8, 500, 0, -1, (asked,))


def given(*entries: views.FetchedPartition, error: int = 0) -> views.FetchResponseView:
    return views.FetchResponseView(error, 0, 0, entries)


def test_a_fetch_and_its_answer_are_four_moments(wire: WireFile, tmp_path: Path) -> None:
    asked = wire.request(FETCH, 2, 1, fetch(3, current_leader_epoch=5, last_fetched_epoch=4), api_version=15)
    records = (views.EpochBatches(4, 3, 3), views.EpochBatches(5, 4, 6))
    wire.answer(asked, given(views.FetchedPartition(TOPIC, None, 0, 0, 4, log_start_offset=1, epochs=records)))
    sent, received, answered, delivered = shown(wire, tmp_path)
    key = RequestKey(1, 1)
    assert sent == observed.FetchSent(
        at=1_000_000,
        frame=1,
        partition=PARTITION,
        key=key,
        follower=2,  # type: ignore[arg-type]
        leader=1,  # type: ignore[arg-type]
        fetch_offset=3,  # type: ignore[arg-type]
        current_leader_epoch=5,  # type: ignore[arg-type]
        last_fetched_epoch=4,  # type: ignore[arg-type]
        replica_epoch=8,
        api_version=15,
    )
    assert received == observed.FetchReceived(at=1_000_001, frame=1, partition=PARTITION, key=key)
    assert (answered.at, answered.frame, answered.error, answered.high_watermark) == (2_000_000, 2, 0, 4)
    assert answered.runs == (ObservedEpochRun(4, 3, 3), ObservedEpochRun(5, 4, 6))  # type: ignore[arg-type]
    assert (answered.log_start_offset, answered.diverging_epoch, answered.is_listed) == (1, None, True)
    assert delivered == observed.FetchDelivered(at=2_000_001, frame=2, partition=PARTITION, key=key)


def test_epochs_that_a_version_does_not_have_are_none(wire: WireFile, tmp_path: Path) -> None:
    wire.request(FETCH, 2, 1, views.FetchRequestView(2, -1, 500, 0, -1, fetch().partitions))
    sent, _ = shown(wire, tmp_path)
    assert (sent.current_leader_epoch, sent.last_fetched_epoch, sent.replica_epoch) == (None, None, None)


def test_records_of_old_formats_have_no_epoch_and_a_compressed_message_only_its_end(
    wire: WireFile, tmp_path: Path
) -> None:
    records = (views.EpochBatches(None, None, 6),)
    wire.answer(wire.request(FETCH, 2, 1, fetch()), given(views.FetchedPartition(TOPIC, None, 0, 0, 4, epochs=records)))
    answered = shown(wire, tmp_path)[2]
    assert (answered.runs, answered.log_start_offset) == ((ObservedEpochRun(None, 6, 6),), None)  # type: ignore[arg-type]


def test_divergence_is_told(wire: WireFile, tmp_path: Path) -> None:
    end = views.DivergingEpochView(4, 2)
    wire.answer(
        wire.request(FETCH, 2, 1, fetch()), given(views.FetchedPartition(TOPIC, None, 0, 0, 4, diverging_epoch=end))
    )
    assert shown(wire, tmp_path)[2].diverging_epoch == EpochEnd(4, 2)  # type: ignore[arg-type]


def test_an_error_of_the_whole_answer_is_that_of_the_partition(wire: WireFile, tmp_path: Path) -> None:
    wire.answer(wire.request(FETCH, 2, 1, fetch()), given(error=70))
    assert shown(wire, tmp_path)[2].error == 70


def test_consumers_and_other_topics_and_clients_show_nothing(wire: WireFile, tmp_path: Path) -> None:
    wire.answer(wire.request(FETCH, None, 1, fetch(replica_id=-1)), given())
    wire.answer(wire.request(FETCH, 2, 1, fetch(topic="other")), given())
    wire.answer(wire.request(FETCH, 2, 1, fetch(), link="client"), given())
    wire.request(18, 2, 1, None)
    assert shown(wire, tmp_path) == []


def test_a_topic_is_known_by_its_id(wire: WireFile, tmp_path: Path) -> None:
    wire.request(FETCH, 2, 1, fetch(topic=None, topic_id=ID))
    assert shown(wire, tmp_path) == []
    assert names(shown(wire, tmp_path, str(ID))) == ["FetchSent", "FetchReceived"]


def test_a_held_answer_is_delivered_late_and_a_dropped_request_never(wire: WireFile, tmp_path: Path) -> None:
    held = wire.answer(
        wire.request(FETCH, 2, 1, fetch()),
        given(views.FetchedPartition(TOPIC, None, 0, 0, 4)),
        outcome="held",
        forwarded_ns=None,
        hold="gap",
    )
    wire.request(FETCH, 2, 1, fetch(9), outcome="dropped", forwarded_ns=None)
    wire.fate(held, "forwarded", 50_000_000)
    events = shown(wire, tmp_path)
    assert names(events) == ["FetchSent", "FetchReceived", "FetchAnswered", "FetchSent", "FetchDelivered"]
    assert (events[2].at, events[4].at) == (2_000_000, 50_000_000)


def test_a_lookup_and_its_answer(wire: WireFile, tmp_path: Path) -> None:
    asked = wire.request(LOOKUP, 2, 1, views.EpochRequestView(-2, (views.EpochQuery(TOPIC, 0, 4),)), api_version=0)
    wire.answer(asked, views.EpochResponseView(0, (views.EpochEndOffset(TOPIC, 0, 0, -1, 7),)))
    events = shown(wire, tmp_path)
    assert names(events) == ["LookupSent", "LookupReceived", "LookupAnswered", "LookupDelivered"]
    assert (events[0].follower, events[0].epoch, events[0].current_leader_epoch) == (2, 4, None)
    assert (events[2].error, events[2].end) == (0, EpochEnd(None, 7))  # type: ignore[arg-type]


def test_an_unknown_end_is_none(wire: WireFile, tmp_path: Path) -> None:
    asked = wire.request(LOOKUP, 2, 1, views.EpochRequestView(2, (views.EpochQuery(TOPIC, 0, 4, 5),)), api_version=3)
    wire.answer(asked, views.EpochResponseView(0, (views.EpochEndOffset(TOPIC, 0, 0, -1, -1),)))
    events = shown(wire, tmp_path)
    assert (events[0].current_leader_epoch, events[2].end) == (5, EpochEnd(None, None))


def test_leader_and_isr_is_heard_and_applied(wire: WireFile, tmp_path: Path) -> None:
    asked = wire.request(LEADER_AND_ISR, 100, 2, controller.LeaderAndIsrView(100, 9, 1, (LEADERSHIP,)))
    wire.answer(asked, controller.ErrorsView(0, (controller.PartitionError(TOPIC, None, 0, 11),)))
    heard, applied = shown(wire, tmp_path)
    assert (heard.at, heard.broker, heard.leader, heard.leader_epoch, heard.isr) == (1_000_001, 2, 1, 5, (1, 2))
    assert (heard.partition_epoch, heard.controller_epoch, heard.key) == (3, 9, RequestKey(1, 1))
    assert (applied.at, applied.broker, applied.key, applied.error) == (2_000_000, 2, RequestKey(1, 1), 11)


def test_leader_and_isr_teaches_the_id_of_the_topic(wire: WireFile, tmp_path: Path) -> None:
    told = controller.PartitionLeadership(TOPIC, ID, 0, -1, 5, (1, 2), (1, 2), 3, 9)
    wire.request(LEADER_AND_ISR, 100, 2, controller.LeaderAndIsrView(100, 9, 1, (told,)))
    wire.request(FETCH, 2, 1, fetch(topic=None, topic_id=ID))
    events = shown(wire, tmp_path)
    assert names(events) == ["LeadershipHeard", "FetchSent", "FetchReceived"]
    assert events[0].leader is None


def test_update_metadata_and_stop_replica(wire: WireFile, tmp_path: Path) -> None:
    wire.request(UPDATE_METADATA, 100, 2, controller.UpdateMetadataView(100, 9, 1, (1, 2), (LEADERSHIP,)))
    stopped = controller.StopReplicaView(100, 9, 1, (controller.StoppedReplica(TOPIC, 0, is_deleted=True),))
    wire.request(STOP_REPLICA, 100, 2, stopped)
    announced, stop = shown(wire, tmp_path)
    assert (announced.at, announced.leader, announced.isr, announced.partition_epoch) == (1_000_000, 1, (1, 2), 3)
    assert (stop.at, stop.broker, stop.is_deleted) == (2_000_001, 2, True)


@pytest.mark.parametrize(("error", "whole"), [(0, 0), (95, 0), (0, 41)])
def test_a_proposed_isr_and_what_the_controller_says(wire: WireFile, tmp_path: Path, error: int, whole: int) -> None:
    proposed = controller.ProposedIsr(TOPIC, None, 0, 5, (1, 2), 3)
    asked = wire.request(ALTER_PARTITION, 1, 100, controller.AlterPartitionView(1, 8, (proposed,)), api_version=0)
    entries = () if whole else (controller.CommittedIsr(TOPIC, None, 0, error, 1, 5, (1, 2), 4),)
    wire.answer(asked, controller.AlterPartitionResponseView(whole, 0, entries))
    sent, answered, delivered = shown(wire, tmp_path)
    assert (sent.leader, sent.leader_epoch, sent.isr, sent.partition_epoch) == (1, 5, (1, 2), 3)
    expected = (None, (), None) if error or whole else (1, (1, 2), 4)
    assert (answered.leader, answered.isr, answered.partition_epoch) == expected
    assert answered.error == error or whole
    assert delivered.key == sent.key


def test_an_answer_that_the_gate_made_up_is_none_of_the_leaders(wire: WireFile, tmp_path: Path) -> None:
    asked = wire.request(FETCH, 2, 1, fetch(), outcome="answered", forwarded_ns=None)
    wire.answer(asked, given(views.FetchedPartition(TOPIC, None, 0, 74, -1)), outcome="fabricated")
    frames = FrameEvents(TOPIC)
    events = [event for moment in WireMoments(wire.write(tmp_path)) for event in frames.of(moment)]
    assert names(events) == ["FetchSent"]
    assert frames.checked == {"Fetch": 1}


def test_an_answer_in_place_of_the_leaders_keeps_what_the_leader_said(wire: WireFile, tmp_path: Path) -> None:
    asked = wire.request(FETCH, 2, 1, fetch())
    said = given(views.FetchedPartition(TOPIC, None, 0, 0, 4))
    wire.answer(asked, said, outcome="answered", forwarded_ns=None)
    wire.answer(asked, given(views.FetchedPartition(TOPIC, None, 0, 74, -1)), outcome="fabricated")
    events = shown(wire, tmp_path)
    assert names(events) == ["FetchSent", "FetchReceived", "FetchAnswered"]
    assert events[-1].high_watermark == 4


def test_a_leader_takes_a_made_up_refusal_for_the_controllers(wire: WireFile, tmp_path: Path) -> None:
    proposed = controller.ProposedIsr(TOPIC, None, 0, 5, (1, 2), 3)
    said = controller.AlterPartitionView(1, 8, (proposed,))
    asked = wire.request(ALTER_PARTITION, 1, 100, said, api_version=0, outcome="answered", forwarded_ns=None)
    refusal = controller.AlterPartitionResponseView(41, 0, ())
    wire.answer(asked, refusal, outcome="fabricated")
    events = shown(wire, tmp_path)
    assert names(events) == ["IsrProposed", "IsrAnswered", "IsrDelivered"]
    assert events[1].error == 41


def test_a_frame_that_matters_and_was_not_decoded_is_refused(wire: WireFile, tmp_path: Path) -> None:
    wire.request(FETCH, 2, 1, None, api_version=99)
    with pytest.raises(TraceUnreadableError, match=r"frame 1 \(Fetch v99 request\) was not decoded"):
        shown(wire, tmp_path)


def test_the_frames_that_were_shown_to_the_model_are_counted(wire: WireFile, tmp_path: Path) -> None:
    wire.answer(wire.request(FETCH, 2, 1, fetch()), given())
    wire.request(18, 2, 1, None)
    frames = FrameEvents(TOPIC)
    for moment in WireMoments(wire.write(tmp_path)):
        list(frames.of(moment))
    assert json.dumps(frames.checked) == '{"Fetch": 2}'
