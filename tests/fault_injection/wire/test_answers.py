"""Is an answer that the gate makes one that its request's sender can read, with the error where Kafka puts it?"""

import struct
from typing import Any
from uuid import UUID

import pytest

from fault_injection.wire.answers import CannotAnswerError, can_answer, error_answer
from fault_injection.wire.codec import Codec
from fault_injection.wire.codec_schemas import SHIPPED
from fault_injection.wire.headers import RequestHeader, response_correlation_id
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import POINTS
from fault_injection.wire.views import (
    EpochQuery,
    EpochRequestView,
    FetchPartition,
    FetchRequestView,
    ProducedPartition,
    ProduceRequestView,
)
from tests.fault_injection.wire.frames_of import TOPIC_ID
from tests.fault_injection.wire.kio_views import view_of
from tests.fault_injection.wire.raw_frames import RawFrame

OTHER_ID = UUID(int=78)
FENCED_LEADER_EPOCH, INVALID_FETCH_SESSION_EPOCH, NOT_ENOUGH_REPLICAS_AFTER_APPEND = 74, 71, 20


def header(api_key: int, version: int) -> RequestHeader:
    return RequestHeader(api_key, version, 4711, "broker-2-fetcher-0", 0)


def read(api_key: int, version: int, view: RequestView, error: int) -> Any:  # noqa: ANN401 - any view
    """Return what the sender of a request reads in the error answer to it; kio reads the same, to the last byte."""
    frame = error_answer(SHIPPED, header(api_key, version), view, error)
    assert struct.unpack_from(">i", frame)[0] == len(frame) - 4
    assert response_correlation_id(frame) == 4711
    codec = Codec()
    response: ResponseView | None = codec.response(api_key, version, frame)
    assert codec.undecodable == 0
    assert view_of(RawFrame("response", api_key, version, frame)) in (None, response)  # None: kio lacks the version
    return response


def fetch_of_two_topics(version: int) -> FetchRequestView:
    ids = (TOPIC_ID, OTHER_ID) if version >= 13 else (None, None)
    listed = FetchPartition("t", ids[0], 0, 5)
    left_out = FetchPartition("u", ids[1], 3, 6, is_listed=False)
    return FetchRequestView(2, -1, 500, 99 if version >= 7 else 0, 7, (listed, left_out))


@pytest.mark.parametrize("version", range(19))
def test_a_refused_fetch_has_the_error_in_every_partition_and_no_records(version: int) -> None:
    view = fetch_of_two_topics(version)
    answer = read(1, version, view, FENCED_LEADER_EPOCH)
    assert answer.error == 0
    assert answer.session_id == view.session_id
    assert [(p.topic_id or p.topic, p.partition, p.error) for p in answer.partitions] == [
        (asked.topic_id or asked.topic, asked.partition, FENCED_LEADER_EPOCH) for asked in view.partitions
    ]
    assert {(p.high_watermark, p.record_bytes, p.diverging_epoch) for p in answer.partitions} == {(-1, 0, None)}


@pytest.mark.parametrize("version", range(7, 19))
def test_an_error_of_the_session_stands_at_the_top(version: int) -> None:
    answer = read(1, version, fetch_of_two_topics(version), INVALID_FETCH_SESSION_EPOCH)
    assert (answer.error, answer.partitions) == (INVALID_FETCH_SESSION_EPOCH, ())


@pytest.mark.parametrize("version", range(14))
def test_a_refused_produce_has_the_error_and_no_offset(version: int) -> None:
    topic_id = TOPIC_ID if version >= 13 else None
    view = ProduceRequestView(-1, 1000, (ProducedPartition("t", topic_id, 4), ProducedPartition("t", topic_id, 5)))
    answer = read(0, version, view, NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    assert [(p.partition, p.error, p.base_offset) for p in answer.partitions] == [
        (4, NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1),
        (5, NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1),
    ]


@pytest.mark.parametrize("version", range(5))
def test_a_refused_epoch_lookup_has_the_error_and_no_end(version: int) -> None:
    answer = read(23, version, EpochRequestView(2, (EpochQuery("t", 0, 5),)), FENCED_LEADER_EPOCH)
    assert [(p.topic, p.partition, p.error, p.end_offset) for p in answer.partitions] == [
        ("t", 0, FENCED_LEADER_EPOCH, -1)
    ]


def test_every_point_can_be_answered() -> None:
    assert [name for name, kind in POINTS.items() if not can_answer(kind.api_key)] == []
    assert not can_answer(3)


@pytest.mark.parametrize(
    ("api_key", "version", "view", "why"),
    [
        (3, 9, None, "Metadata v9: no error answer is known"),
        (4, 4, None, "LeaderAndIsr v4: no error answer is known"),  # its schema was not loaded
        (1, 12, None, "Fetch v12: the request could not be decoded"),
        (1, 99, fetch_of_two_topics(18), "Fetch v99 is newer than the schemas"),
    ],
)
def test_what_cannot_be_answered_is_refused(api_key: int, version: int, view: RequestView | None, why: str) -> None:
    with pytest.raises(CannotAnswerError, match=why):
        error_answer(SHIPPED, header(api_key, version), view, FENCED_LEADER_EPOCH)
