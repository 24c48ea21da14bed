"""How is a message of a chosen version written down, when each version has other fields?

Messages are given as nested plain values with the names that kafka-python derives from Kafka's schemas. What
a version does not have is left out, so that one description serves all versions of an api.
"""

import struct
import warnings
from collections.abc import Mapping
from typing import Any

from fault_injection.wire.codec_schemas import SHIPPED, Message

with warnings.catch_warnings():
    # kafka-python reads its own schemas through a deprecated function of importlib.resources.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.protocol.consumer.offsets import ListOffsetsRequest, ListOffsetsResponse
    from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse
    from kafka.protocol.producer import ProduceRequest, ProduceResponse
    from kafka.protocol.producer.transaction import WriteTxnMarkersRequest, WriteTxnMarkersResponse

# ruff: noqa: ANN401 - kafka-python is untyped

PRODUCE, FETCH, LIST_OFFSETS = 0, 1, 2
LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA = 4, 5, 6
API_VERSIONS, OFFSETS_FOR_LEADER_EPOCH, WRITE_TXN_MARKERS, ALTER_PARTITION = 18, 23, 27, 56

CLIENT_MESSAGES: Mapping[int, Message] = {
    **SHIPPED,
    PRODUCE: Message(ProduceRequest, ProduceResponse),
    LIST_OFFSETS: Message(ListOffsetsRequest, ListOffsetsResponse),
    WRITE_TXN_MARKERS: Message(WriteTxnMarkersRequest, WriteTxnMarkersResponse),
    API_VERSIONS: Message(ApiVersionsRequest, ApiVersionsResponse),
}
"""The messages that kafka-python ships and puppets speak, by api key."""

NO_TAGGED_FIELDS = b"\0"

Values = Mapping[str, Any]


def built(message_type: Any, version: int, values: Values) -> Any:
    """Build a message or a part of one, without the fields that the version does not have.

    Raises:
        KeyError: no version has such a field.
    """
    fields = {}
    for name, value in values.items():
        field = message_type.fields[name]
        if field.for_version_q(version):
            fields[name] = _part(field, version, value)
    return message_type(version=version, **fields)


def _part(field: Any, version: int, value: Any) -> Any:
    if value is None:
        return None
    if field.is_struct_array():
        return [built(field.data_class, version, item) for item in value]
    return built(field.data_class, version, value) if field.is_struct() else value


def request_frame(message: Message, version: int, values: Values, correlation_id: int, client_id: str) -> bytes:
    """Encode a whole request frame, length prefix and header included.

    The header is written here: kafka-python cannot for requests that have a field named ``type``.
    """
    name = client_id.encode()
    start = struct.pack(f">hhih{len(name)}s", int(message.request.API_KEY), version, correlation_id, len(name), name)
    return _framed(start, message.request, version, values)


def response_frame(message: Message, version: int, values: Values, correlation_id: int) -> bytes:
    """Encode a whole response frame, length prefix and header included; that of ApiVersions is never flexible."""
    start = struct.pack(">i", correlation_id)
    return _framed(start, message.response, version, values)


def _framed(start: bytes, message_type: Any, version: int, values: Values) -> bytes:
    has_tags = message_type.flexible_version_q(version) and message_type.name != "ApiVersionsResponse"
    body = bytes(built(message_type, version, values).encode(version=version))
    content = start + (NO_TAGGED_FIELDS if has_tags else b"") + body
    return struct.pack(">i", len(content)) + content
