"""Whatever a frame contains: does reading it end, without an error, and without touching it?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fault_injection.releases import schema_jar
from fault_injection.wire.codec import Codec, load_schemas
from fault_injection.wire.codec import fetch_response as read_by_kafka_python
from fault_injection.wire.codec_schemas import SHIPPED
from fault_injection.wire.fetch_reader import VERSION_MAX, read_fetch_response
from fault_injection.wire.headers import HeaderError, request_header, response_body_offset
from tests.fault_injection.wire.frames_of import fetch_response, record_batch
from tests.fault_injection.wire.raw_frames import CORPUS, RawFrame, load

APIS = (0, 1, 4, 5, 6, 7, 18, 23, 56, 62, 63)
FLEXIBLE_SINCE, HINTS_SINCE = 12, 12
REAL = [frame for path in sorted(CORPUS.glob("*.xz")) for frame in load(path)]

numbers = st.integers(-(2**31), 2**31 - 1).map(lambda number: number.to_bytes(4, "big", signed=True))
noise = st.tuples(st.integers(0, 4_000), st.binary(min_size=1, max_size=9) | numbers)


@pytest.fixture(scope="module")
def codec() -> Codec:
    return Codec(load_schemas(schema_jar()))


def read(codec: Codec, direction: str, api_key: int, api_version: int, content: bytes) -> None:
    frame = bytearray(content)
    if direction == "response":
        codec.response(api_key, api_version, frame)
    else:
        try:
            header = request_header(frame)
        except HeaderError:
            return
        codec.request(header, frame)
    assert frame == content


@given(frame=st.sampled_from(REAL), changes=st.lists(noise, max_size=4), end=st.integers(0, 4_000))
def test_a_damaged_frame_is_read_or_counted(
    codec: Codec, frame: RawFrame, changes: list[tuple[int, bytes]], end: int
) -> None:
    damaged = bytearray(frame.content)
    for position, content in changes:
        at = position % len(damaged)
        damaged[at : at + len(content)] = content
    read(codec, frame.direction, frame.api_key, frame.api_version, bytes(damaged[: max(end, 4)]))


@given(
    direction=st.sampled_from(["request", "response"]),
    api_key=st.sampled_from(APIS),
    api_version=st.integers(-1, 20),
    content=st.binary(max_size=300),
)
def test_bytes_of_any_kind_are_read_or_counted(
    codec: Codec, direction: str, api_key: int, api_version: int, content: bytes
) -> None:
    start = api_key.to_bytes(2, "big") + api_version.to_bytes(2, "big", signed=True) if direction == "request" else b""
    read(codec, direction, api_key, api_version, len(content).to_bytes(4, "big") + start + content)


@pytest.mark.parametrize("version", range(VERSION_MAX + 1))
@given(
    high_watermark=st.integers(-1, 2**63 - 1),
    error=st.integers(-1, 120),
    session_id=st.integers(0, 2**31 - 1),
    cut=st.integers(0, 40),
    batches=st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.integers(1, 3), st.integers(0, 9)), max_size=4),
    hints=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 2**40)),
)
def test_fetch_answers_are_read_as_kafka_python_reads_them(
    version: int,
    high_watermark: int,
    error: int,
    session_id: int,
    cut: int,
    batches: list[tuple[int, int, int]],
    hints: tuple[int, int] | None,
) -> None:
    records = b"".join(
        record_batch(magic, base_offset=10 * index, values=values, leader_epoch=epoch)
        for index, (magic, values, epoch) in enumerate(batches)
    )
    frame = fetch_response(
        version=version,
        high_watermark=high_watermark,
        error=error,
        session_id=session_id,
        records=records[: len(records) - cut] if cut < len(records) else None,
        diverging=hints,
        current_leader=(3, 4) if hints is not None and version >= HINTS_SINCE else None,
    )
    offset = response_body_offset(frame, 1, is_flexible=version >= FLEXIBLE_SINCE)
    expected = read_by_kafka_python(SHIPPED[1].response.decode(memoryview(frame)[offset:], version=version))
    assert read_fetch_response(frame, offset, version) == expected


@pytest.mark.parametrize("version", [-1, VERSION_MAX + 1])
def test_a_fetch_version_that_does_not_exist_is_refused(version: int) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        read_fetch_response(b"", 0, version)


def test_a_length_that_leads_out_of_a_fetch_answer_is_refused() -> None:
    frame = bytearray(fetch_response(version=11, records=b"12345678"))
    at = frame.index(b"12345678") - 4
    frame[at : at + 4] = (1000).to_bytes(4, "big")
    with pytest.raises(ValueError, match="1000 bytes at"):
        read_fetch_response(frame, 8, 11)


def test_an_endless_varint_is_refused_at_once() -> None:
    frame = b"\x00\x00\x00\x00" * 4 + b"\x00\x00" + b"\xff" * 1_000_000
    with pytest.raises(ValueError, match="more than five bytes"):
        read_fetch_response(frame, 8, 13)
