"""What do the headers of a request and of a response say, and where does the body begin?

Client ids stay old-style strings in flexible headers; ApiVersions answers keep the first header version;
ControlledShutdown v0 has a header without a client id.

Sources: Kafka protocol guide ("Request and Response Headers"), KIP-482 (tagged fields), KIP-511.
"""

import struct
from dataclasses import dataclass

Buffer = bytes | bytearray | memoryview

CONTROLLED_SHUTDOWN_KEY = 7
API_VERSIONS_KEY = 18
VARINT_BYTES_MAX = 5
CONTINUATION_BIT = 0x80

_REQUEST_START = struct.Struct(">ihhi")
_INT16 = struct.Struct(">h")
_RESPONSE_START = struct.Struct(">ii")


class HeaderError(Exception):
    """The bytes of a frame are no Kafka header."""


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """The header of a request.

    Attributes:
        api_key: which api is called.
        api_version: its version.
        correlation_id: what the answer repeats.
        client_id: how the sender names itself; None when null or, in ControlledShutdown v0, absent.
        end: offset in the frame behind the client id, where a flexible header's tagged fields begin.
    """

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    end: int


def request_header(frame: Buffer) -> RequestHeader:
    """Read the header of a whole request frame.

    ControlledShutdown v0 is the one request without a client id.

    Raises:
        HeaderError: the frame is too short for its header.
    """
    try:
        _, api_key, api_version, correlation_id = _REQUEST_START.unpack_from(frame)
        end = _REQUEST_START.size
        if (api_key, api_version) == (CONTROLLED_SHUTDOWN_KEY, 0):
            return RequestHeader(api_key, api_version, correlation_id, None, end)
        (length,) = _INT16.unpack_from(frame, end)
    except struct.error as error:
        raise HeaderError(f"a request frame of {len(frame)} bytes") from error
    end += _INT16.size
    if length < 0:
        return RequestHeader(api_key, api_version, correlation_id, None, end)
    if end + length > len(frame):
        raise HeaderError(f"a client id of {length} bytes in a frame of {len(frame)}")
    client_id = bytes(frame[end : end + length]).decode(errors="replace")
    return RequestHeader(api_key, api_version, correlation_id, client_id, end + length)


def response_correlation_id(frame: Buffer) -> int:
    """Read which request a whole response frame answers.

    Raises:
        HeaderError: the frame is too short for its header.
    """
    try:
        _, correlation_id = _RESPONSE_START.unpack_from(frame)
    except struct.error as error:
        raise HeaderError(f"a response frame of {len(frame)} bytes") from error
    return int(correlation_id)


def request_body_offset(frame: Buffer, header: RequestHeader, *, is_flexible: bool) -> int:
    """Return where the body of a request begins. Raises HeaderError on broken tagged fields (KIP-482)."""
    return skip_tagged_fields(frame, header.end) if is_flexible else header.end


def response_body_offset(frame: Buffer, api_key: int, *, is_flexible: bool) -> int:
    """Return where the body of a response begins; ApiVersions answers never have a flexible header.

    Raises:
        HeaderError: the tagged fields are broken (KIP-482).
    """
    start = _RESPONSE_START.size
    return skip_tagged_fields(frame, start) if is_flexible and api_key != API_VERSIONS_KEY else start


def skip_tagged_fields(frame: Buffer, offset: int) -> int:
    """Return the offset behind a section of tagged fields. Raises HeaderError when it runs out of bytes."""
    count, offset = _unsigned_varint(frame, offset)
    for _ in range(count):
        _, offset = _unsigned_varint(frame, offset)
        size, offset = _unsigned_varint(frame, offset)
        offset += size
        if offset > len(frame):
            raise HeaderError("a tagged field is longer than its frame")
    return offset


def _unsigned_varint(frame: Buffer, offset: int) -> tuple[int, int]:
    value = 0
    for position in range(VARINT_BYTES_MAX):
        if offset + position >= len(frame):
            raise HeaderError("a varint runs past the end of the frame")
        byte = frame[offset + position]
        value |= (byte % CONTINUATION_BIT) << (7 * position)
        if byte < CONTINUATION_BIT:
            return value, offset + position + 1
    raise HeaderError("a varint of more than five bytes")
