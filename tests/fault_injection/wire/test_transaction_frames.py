"""Is every version of the requests of transactions, and of their answers, read as an independent decoder reads it?"""

from dataclasses import replace
from typing import Any

import pytest

from fault_injection.puppets.connection import request_frame
from fault_injection.wire.answers import error_answer
from fault_injection.wire.codec import Codec
from fault_injection.wire.codec_schemas import SHIPPED
from fault_injection.wire.content import Content
from fault_injection.wire.headers import RequestHeader, request_header
from fault_injection.wire.points import ObservedRequest, Point, matches
from fault_injection.wire.readings import sender
from fault_injection.wire.transaction_views import ProducerEpochView
from tests.fault_injection.wire.kio_views import view_of
from tests.fault_injection.wire.raw_frames import RawFrame

INVALID_PRODUCER_EPOCH = 47
OLD = "v3_and_below_"
TOPICS = [{"name": "t", "partitions": [0, 1]}, {"name": "u", "partitions": [4]}]
PRODUCER = {"producer_id": 4000, "producer_epoch": 7}
ASKED: dict[int, dict[str, Any]] = {
    22: {"transactional_id": "id", "transaction_timeout_ms": 60_000, **PRODUCER},
    24: {
        "transactions": [{"transactional_id": "id", **PRODUCER, "verify_only": True, "topics": TOPICS}],
        **{f"{OLD}{name}": value for name, value in {"transactional_id": "id", **PRODUCER, "topics": TOPICS}.items()},
    },
    25: {"transactional_id": "id", **PRODUCER, "group_id": "group"},
    26: {"transactional_id": "id", **PRODUCER, "committed": True},
    27: {
        "markers": [
            {
                **PRODUCER,
                "producer_epoch": epoch,
                "transaction_result": epoch == 7,
                "topics": [{"name": "t", "partition_indexes": [0, 1]}],
                "coordinator_epoch": 3,
                "transaction_version": 2,
            }
            for epoch in (7, 8)
        ]
    },
    28: {
        "transactional_id": "id",
        "group_id": "group",
        **PRODUCER,
        "generation_id": 1,
        "member_id": "m",
        "group_instance_id": None,
        "topics": [
            {
                "name": "t",
                "partitions": [{"partition_index": 0, "committed_offset": 5, "committed_metadata": ""}],
            }
        ],
    },
}
VERSIONS = [
    (api_key, version)
    for api_key in ASKED
    for version in range(int(SHIPPED[api_key].request.min_version), int(SHIPPED[api_key].request.max_version) + 1)
]
NOT_OF_KIO = {(27, 0)}
"""The version that kio lacks; nothing but tagged fields came after it, so it reads as the next one does."""


def frame_of(api_key: int, version: int) -> bytes:
    return request_frame(SHIPPED[api_key], version, ASKED[api_key], 11, "broker-2-txn-marker-sender")


def read(api_key: int, version: int) -> tuple[RequestHeader, Any]:
    frame, codec = frame_of(api_key, version), Codec()
    view = codec.request(header := request_header(frame), frame)
    assert view is not None
    assert codec.undecodable == 0
    return header, view


@pytest.mark.parametrize(("api_key", "version"), VERSIONS)
def test_a_request_is_read_as_kio_reads_it(api_key: int, version: int) -> None:
    _, ours = read(api_key, version)
    theirs = view_of(RawFrame("request", api_key, version, frame_of(api_key, version)))
    assert (theirs is None) == ((api_key, version) in NOT_OF_KIO)
    assert theirs in (None, ours)


def test_what_kio_lacks_is_read_as_the_next_version_is() -> None:
    for api_key, version in NOT_OF_KIO:
        assert read(api_key, version)[1] == read(api_key, version + 1)[1]


@pytest.mark.parametrize(("api_key", "version"), VERSIONS)
def test_an_error_answer_is_read_as_kio_reads_it_and_tells_the_error(api_key: int, version: int) -> None:
    header, asked = read(api_key, version)
    frame, codec = error_answer(SHIPPED, header, asked, INVALID_PRODUCER_EPOCH), Codec()
    answer: Any = codec.response(api_key, version, frame)
    assert codec.undecodable == 0
    assert view_of(RawFrame("response", api_key, version, frame)) in (None, answer)
    told = [answer.error] if answer.error else [part.error for part in answer.partitions]
    assert set(told) == {INVALID_PRODUCER_EPOCH}
    if not answer.error:
        about = [(part.topic, part.partition) for part in asked.partitions]
        assert [(part.topic, part.partition) for part in answer.partitions] == about


def test_the_next_epoch_is_in_the_answer_that_has_it() -> None:
    message = SHIPPED[26].response
    for version, epoch in ((4, -1), (5, 8)):
        values = {"throttle_time_ms": 0, "error_code": 0} | (
            {"producer_id": 9, "producer_epoch": 8} if epoch > 0 else {}
        )
        body = b"\0\0\0\x40\0\0\0\x0b\0" + bytes(message(version=version, **values).encode())
        assert Codec().response(26, version, body) == ProducerEpochView(0, 9 if epoch > 0 else -1, epoch)


@pytest.mark.parametrize(
    ("api_key", "name", "asked", "is_match"),
    [
        (26, "end_txn_request", Content(producer_epoch=7, commits=True, transactional_id="id"), True),
        (26, "end_txn_request", Content(producer_epoch=8), False),
        (26, "end_txn_request", Content(commits=False), False),
        (27, "write_txn_markers_request", Content(producer_epoch=8, commits=False), True),
        (27, "write_txn_markers_request", Content(producer_epoch=8, commits=True), False),
        (22, "init_producer_id_request", Content(producer_id=4000), True),
        (24, "add_partitions_to_txn_request", Content(transactional_id="id"), True),
        (24, "add_partitions_to_txn_request", Content(transactional_id="other"), False),
        (25, "add_offsets_to_txn_request", Content(transactional_id="id"), True),
        (28, "txn_offset_commit_request", Content(producer_epoch=6), False),
    ],
)
def test_a_point_compares_what_a_request_says(api_key: int, name: str, asked: Content, is_match: bool) -> None:
    _, view = read(api_key, min(3, int(SHIPPED[api_key].request.max_version)))
    seen = ObservedRequest(1, 11, api_key, "client", -1, 1, view, 0)
    assert matches(Point(name, asked=asked), seen) == is_match


def test_one_marker_must_meet_all_conditions() -> None:
    _, view = read(27, 1)
    seen = ObservedRequest(1, 11, 27, "replication", 2, 1, view, 0)
    assert matches(Point("write_txn_markers_request", topic="t", partition=1, asked=Content(producer_epoch=7)), seen)
    of_seven = replace(view, partitions=tuple(one for one in view.partitions if one.producer_epoch == 7))
    conflicting = Content(producer_epoch=8, commits=True)
    assert not matches(Point("write_txn_markers_request", asked=conflicting), replace(seen, view=of_seven))


def test_a_coordinator_is_known_by_the_name_of_its_sender() -> None:
    header, view = read(27, 1)
    assert sender(view, header.client_id) == 2
    assert sender(view, "broker-2-txn-marker-sender-2") is None
    assert sender(read(24, 4)[1], "AddPartitionsManager-client-3") == 3
