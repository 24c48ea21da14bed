"""Do decoded frames say what was encoded, in every version, and what an independent decoder says?"""

import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kio.serial import entity_reader

from fault_injection.wire.codec import Codec
from fault_injection.wire.headers import request_header, response_body_offset
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.views import (
    DivergingEpochView,
    EpochBatches,
    EpochEndOffset,
    EpochQuery,
    EpochRequestView,
    EpochResponseView,
    FetchRequestView,
    FetchResponseView,
)
from tests.fault_injection.wire.frames_of import (
    TOPIC_ID,
    epoch_request,
    epoch_response,
    fetch_request,
    fetch_response,
    framed,
    record_batch,
)

ALL_VERSIONS = range(19)
KIO_VERSIONS = range(4, 19)


def decoded_request(frame: bytes) -> RequestView | None:
    return Codec().request(request_header(frame), frame)


def decoded_response(frame: bytes, version: int, api_key: int = 1) -> ResponseView | None:
    return Codec().response(api_key, version, frame)


def versioned(version: int, since: int, present: Any, absent: Any = -1) -> Any:  # noqa: ANN401 - any field
    return present if version >= since else absent


@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_fetch_request_of_every_version(version: int) -> None:
    frame = fetch_request(
        offset=7,
        version=version,
        replica=3,
        session_id=11,
        session_epoch=4,
        current_leader_epoch=5,
        last_fetched_epoch=4,
        log_start_offset=2,
    )
    view = decoded_request(frame)
    assert isinstance(view, FetchRequestView)
    assert (view.replica_id, view.max_wait_ms) == (3, 500)
    assert view.replica_epoch == versioned(version, 15, 9)
    assert (view.session_id, view.session_epoch) == versioned(version, 7, (11, 4), (0, -1))
    (asked,) = view.partitions
    assert (asked.topic, asked.topic_id) == versioned(version, 13, (None, TOPIC_ID), ("t", None))
    assert (asked.partition, asked.fetch_offset) == (0, 7)
    assert asked.current_leader_epoch == versioned(version, 9, 5)
    assert asked.last_fetched_epoch == versioned(version, 12, 4)
    assert asked.log_start_offset == versioned(version, 5, 2)


@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_fetch_response_of_every_version(version: int) -> None:
    records = record_batch(versioned(version, 4, 2, 1), base_offset=20, values=3, leader_epoch=6)
    frame = fetch_response(
        version=version, high_watermark=21, error=6, records=records, session_id=11, diverging=(5, 18)
    )
    view = decoded_response(frame, version)
    assert isinstance(view, FetchResponseView)
    assert (view.error, view.session_id) == (0, versioned(version, 7, 11, 0))
    (given,) = view.partitions
    assert (given.topic, given.topic_id) == versioned(version, 13, (None, TOPIC_ID), ("t", None))
    assert (given.partition, given.error, given.high_watermark) == (0, 6, 21)
    assert given.last_stable_offset == versioned(version, 4, 21)
    assert given.log_start_offset == versioned(version, 5, 0)
    assert given.record_bytes == len(records)
    assert given.epochs == (EpochBatches(versioned(version, 4, 6, None), 20, 22),)
    assert given.diverging_epoch == versioned(version, 12, DivergingEpochView(5, 18), None)


@pytest.mark.parametrize("version", KIO_VERSIONS)
def test_an_independent_decoder_reads_the_same_fetch_request(version: int) -> None:
    frame = fetch_request(offset=7, version=version, replica=3, current_leader_epoch=5, last_fetched_epoch=4)
    view = decoded_request(frame)
    assert isinstance(view, FetchRequestView)
    header = request_header(frame)
    body = header.end + (1 if version >= 12 else 0)
    other = kio_read(f"kio.schema.fetch.v{version}.request", "FetchRequest", frame, body)
    state = other.replica_state if version >= 15 else other
    ((topic,), (asked,)) = (other.topics, view.partitions)
    (partition,) = topic.partitions
    assert view.replica_id == state.replica_id
    assert view.max_wait_ms == other.max_wait.total_seconds() * 1000
    assert (view.session_id, view.session_epoch) == versioned(
        version, 7, (getattr(other, "session_id", None), getattr(other, "session_epoch", None)), (0, -1)
    )
    assert topic_of(asked) == topic_of_kio(topic)
    assert (asked.partition, asked.fetch_offset) == (partition.partition, partition.fetch_offset)
    assert asked.current_leader_epoch == getattr(partition, "current_leader_epoch", -1)
    assert asked.last_fetched_epoch == getattr(partition, "last_fetched_epoch", -1)


@pytest.mark.parametrize("version", KIO_VERSIONS)
def test_an_independent_decoder_reads_the_same_fetch_response(version: int) -> None:
    records = record_batch(2, base_offset=20, values=3, leader_epoch=6)
    frame = fetch_response(version=version, high_watermark=21, error=0, records=records, diverging=(5, 18))
    view = decoded_response(frame, version)
    assert isinstance(view, FetchResponseView)
    body = response_body_offset(frame, 1, is_flexible=version >= 12)
    other = kio_read(f"kio.schema.fetch.v{version}.response", "FetchResponse", frame, body)
    ((topic,), (given,)) = (other.responses, view.partitions)
    (partition,) = topic.partitions
    assert topic_of(given) == topic_of_kio(topic)
    assert (given.error, given.high_watermark) == (partition.error_code, partition.high_watermark)
    assert given.record_bytes == len(partition.records)
    if given.diverging_epoch is not None:
        diverging = partition.diverging_epoch
        assert (given.diverging_epoch.leader_epoch, given.diverging_epoch.end_offset) == (
            diverging.epoch,
            diverging.end_offset,
        )


def kio_read(module: str, name: str, frame: bytes, offset: int) -> Any:  # noqa: ANN401 - one class per version
    value, size = entity_reader(getattr(importlib.import_module(module), name))(frame, offset)
    assert offset + size == len(frame)
    return value


def topic_of(entry: Any) -> Any:  # noqa: ANN401 - an entry of either view
    return entry.topic_id or entry.topic


def topic_of_kio(topic: Any) -> Any:  # noqa: ANN401 - one class per version
    return getattr(topic, "topic_id", None) or topic.topic


@pytest.mark.parametrize("version", range(5))
def test_offsets_for_leader_epoch_of_every_version(version: int) -> None:
    request = decoded_request(epoch_request(version=version, replica=3, leader_epoch=4, current_leader_epoch=6))
    assert request == EpochRequestView(versioned(version, 3, 3, -2), (EpochQuery("t", 0, 4, versioned(version, 2, 6)),))
    response = decoded_response(epoch_response(version=version, leader_epoch=4, end_offset=9, error=6), version, 23)
    assert response == EpochResponseView(0, (EpochEndOffset("t", 0, 6, versioned(version, 1, 4), 9),))


def test_a_current_leader_hint_is_read() -> None:
    view = decoded_response(fetch_response(version=12, error=74, current_leader=(2, 8)), 12)
    assert isinstance(view, FetchResponseView)
    assert (view.partitions[0].leader_id, view.partitions[0].leader_epoch) == (2, 8)


def test_an_api_nobody_looks_into_is_not_an_error() -> None:
    codec = Codec()
    metadata = framed(b"\x00\x03\x00\x01\x00\x00\x00\x01\xff\xff")
    assert codec.request(request_header(metadata), metadata) is None
    assert codec.response(3, 1, metadata) is None
    assert codec.undecodable == 0


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_frame_that_does_not_decode_is_counted_and_never_raises(cut: int) -> None:
    codec = Codec()
    request, response = fetch_request(offset=1)[:-cut], fetch_response(records=b"")[:-cut]
    assert codec.request(request_header(request), request) is None
    assert codec.response(1, 11, response) is None
    assert codec.undecodable == 2


def test_a_version_newer_than_the_schema_is_counted() -> None:
    codec = Codec()
    frame = bytearray(fetch_request(offset=1))
    frame[6:8] = (99).to_bytes(2, "big")
    assert codec.request(request_header(frame), frame) is None
    assert codec.undecodable == 1


def test_what_many_threads_count_is_counted_in_one_place_under_a_lock() -> None:
    codec = Codec()
    with pytest.raises(AttributeError):
        codec.undecodable = 1  # type: ignore[misc]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(4_000):
            threads.submit(codec.note_undecodable)
    assert codec.undecodable == 4_000
