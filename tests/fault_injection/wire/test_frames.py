"""Are frames cut out of a byte stream unchanged, however the bytes arrive, and in bounded memory?"""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fault_injection.wire.frames import Frame, FrameEvent, FrameParser, Malformed, Unframed

CHUNK_BYTES = 32
contents = st.lists(st.binary(max_size=5 * CHUNK_BYTES), max_size=6)
splits = st.lists(st.integers(min_value=1, max_value=3 * CHUNK_BYTES), max_size=40)

impossible = st.integers(-(2**31), -1) | st.integers(1001, 2**31 - 1)


def framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def fed(parser: FrameParser, stream: bytes, sizes: list[int]) -> list[FrameEvent]:
    """Write a stream into the parser's own memory, in reads of the given sizes."""
    events: list[FrameEvent] = []
    rest = list(sizes)
    while stream:
        into = parser.writable()
        count = min(len(into), len(stream), rest.pop(0) if rest else len(stream))
        into[:count] = stream[:count]
        stream = stream[count:]
        events += parser.received(count)
    return events


@given(contents=contents, sizes=splits)
def test_frames_do_not_depend_on_how_bytes_arrive(contents: list[bytes], sizes: list[int]) -> None:
    parser = FrameParser(chunk_bytes=CHUNK_BYTES)
    events = fed(parser, b"".join(framed(content) for content in contents), sizes)
    assert [bytes(event.content) for event in events if isinstance(event, Frame)] == [
        framed(content) for content in contents
    ]
    assert len(events) == len(contents)
    assert parser.pending_bytes == 0


@given(
    contents=contents, length=st.integers(-(2**31), -1) | st.integers(1001, 2**31 - 1), tail=st.binary(), sizes=splits
)
def test_after_a_length_no_frame_has_all_bytes_come_out_unframed(
    contents: list[bytes], length: int, tail: bytes, sizes: list[int]
) -> None:
    parser = FrameParser(frame_bytes_max=1000, chunk_bytes=CHUNK_BYTES)
    stream = b"".join(framed(content) for content in contents) + struct.pack(">i", length) + tail
    events = fed(parser, stream, sizes)
    assert [event.length for event in events if isinstance(event, Malformed)] == [length]
    passed_on = b"".join(bytes(event.content) for event in events if not isinstance(event, Malformed))
    assert passed_on == stream
    assert isinstance(events[len(contents)], Malformed)
    assert all(isinstance(event, Unframed) for event in events[len(contents) + 1 :])


@given(content=st.binary(min_size=1, max_size=200), kept=st.integers(0, 203))
def test_only_the_unfinished_frame_is_kept(content: bytes, kept: int) -> None:
    parser = FrameParser(chunk_bytes=CHUNK_BYTES)
    kept = min(kept, len(framed(content)) - 1)
    assert fed(parser, framed(content)[:kept], []) == []
    assert parser.pending_bytes == kept


def test_the_rest_of_a_large_frame_is_received_into_the_frame_itself() -> None:
    parser = FrameParser(chunk_bytes=CHUNK_BYTES)
    content = bytes(range(200))
    assert fed(parser, framed(content)[:20], []) == []
    into = parser.writable()
    assert len(into) == len(framed(content)) - 20
    into[:] = framed(content)[20:]
    (event,) = parser.received(len(into))
    assert isinstance(event, Frame)
    assert bytes(event.content) == framed(content)


def test_feed_takes_bytes_of_any_length() -> None:
    parser = FrameParser(chunk_bytes=CHUNK_BYTES)
    events = parser.feed(framed(bytes(100)) * 2)
    assert [len(event.content) for event in events if isinstance(event, Frame)] == [104, 104]


@pytest.mark.parametrize("length", [0, 1000])
def test_the_shortest_and_the_longest_frame_are_frames(length: int) -> None:
    (event,) = FrameParser(frame_bytes_max=1000).feed(framed(bytes(length)))
    assert isinstance(event, Frame)
