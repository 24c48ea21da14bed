"""Are headers read as Kafka writes them, and is everything else refused instead of guessed?"""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fault_injection.wire.headers import (
    HeaderError,
    RequestHeader,
    request_body_offset,
    request_header,
    response_body_offset,
    response_correlation_id,
    skip_tagged_fields,
)
from tests.fault_injection.wire.frames_of import fetch_request, fetch_response, framed


@given(
    api_key=st.integers(0, 100),
    version=st.integers(1, 20),
    correlation_id=st.integers(-(2**31), 2**31 - 1),
    client_id=st.none() | st.text(max_size=40),
    body=st.binary(max_size=20),
)
def test_request_header(api_key: int, version: int, correlation_id: int, client_id: str | None, body: bytes) -> None:
    encoded = client_id.encode() if client_id is not None else b""
    length = len(encoded) if client_id is not None else -1
    frame = framed(struct.pack(">hhih", api_key, version, correlation_id, length) + encoded + body)
    header = request_header(frame)
    assert header == RequestHeader(api_key, version, correlation_id, client_id, len(frame) - len(body))


def test_controlled_shutdown_v0_has_no_client_id() -> None:
    frame = framed(struct.pack(">hhii", 7, 0, 5, 1))
    assert request_header(frame) == RequestHeader(7, 0, 5, None, 12)
    assert request_header(framed(struct.pack(">hhihi", 7, 1, 5, -1, 1))).end == 14


@pytest.mark.parametrize("content", [b"", bytes(7), bytes(8), bytes(9), struct.pack(">hhih", 1, 0, 0, 3) + b"ab"])
def test_a_request_too_short_for_its_header_is_refused(content: bytes) -> None:
    with pytest.raises(HeaderError):
        request_header(framed(content))


def test_a_response_too_short_for_its_header_is_refused() -> None:
    with pytest.raises(HeaderError):
        response_correlation_id(framed(bytes(3)))
    assert response_correlation_id(framed(struct.pack(">i", -7))) == -7


def test_bodies_begin_behind_flexible_headers() -> None:
    request = fetch_request(offset=1, version=12)
    header = request_header(request)
    assert request_body_offset(request, header, is_flexible=True) == header.end + 1
    assert request_body_offset(request, header, is_flexible=False) == header.end
    response = fetch_response(version=12)
    assert response_body_offset(response, 1, is_flexible=True) == 9
    assert response_body_offset(response, 1, is_flexible=False) == 8


def test_api_versions_answers_never_have_a_flexible_header() -> None:
    assert response_body_offset(framed(bytes(20)), 18, is_flexible=True) == 8


@given(
    fields=st.lists(st.tuples(st.integers(0, 2**20), st.binary(max_size=200)), max_size=5), tail=st.binary(max_size=5)
)
def test_tagged_fields_are_skipped(fields: list[tuple[int, bytes]], tail: bytes) -> None:
    section = varint(len(fields)) + b"".join(varint(tag) + varint(len(content)) + content for tag, content in fields)
    assert skip_tagged_fields(b"??" + section + tail, 2) == 2 + len(section)
    for cut in range(len(section)):
        with pytest.raises(HeaderError):
            skip_tagged_fields(section[:cut], 0)


def test_a_varint_without_end_is_refused() -> None:
    with pytest.raises(HeaderError, match="five"):
        skip_tagged_fields(b"\xff" * 6, 0)


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 128:
        encoded.append(value % 128 + 128)
        value //= 128
    return bytes([*encoded, value])
