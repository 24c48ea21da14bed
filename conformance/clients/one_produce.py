"""What does a broker answer to one Produce request, whatever its acks, and whether it leads or not?

Theory of operation: a broker handles the requests of a connection one after the other. With acks=0 the Produce is
followed by ApiVersions on the same connection: if the first answer is the one to ApiVersions, there was none to
Produce, and nothing had to be waited for. A broker that had an error to tell closes the connection instead.

Sources: ``KafkaApis.handleProduceRequest``, ``ReplicaManager.appendRecords``.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Any

from conformance.clients.records import key_of, value_of
from conformance.error_names import error_name
from conformance.probes.connection import BrokerConnection
from conformance.probes.errors import ProbeError
from conformance.probes.messages import MemoryRecordsBuilder, ProduceRequest
from fault_injection.puppets.schema import API_VERSIONS, CLIENT_MESSAGES, PRODUCE, request_frame

CLIENT_ID = "kafka-conformance-produce"
BATCH_BYTES_MAX = 1 << 20
PRODUCE_VERSION_NEWEST = 3
"""The first version that carries message format 2; every later release still speaks it."""
PRODUCE_ID, API_VERSIONS_ID = 1, 2
MARGIN_S = 10.0
_LENGTH = struct.Struct(">i")


@dataclass(frozen=True, slots=True)
class Told:
    """What the producer was told.

    Attributes:
        is_answered: whether the request itself was answered.
        is_closed: whether the broker closed the connection instead.
        error: the error in the answer, by name; None for success or without an answer.
        offset: where the record was appended, as the answer says.
    """

    is_answered: bool
    is_closed: bool = False
    error: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class OneRecord:
    """A record and what its producer asks of the broker.

    Attributes:
        record_id: decides key and value.
        acks: any number.
        timeout_ms: how long the broker may wait for the in-sync replicas.
        timestamp_ms: the record's own.
        value_length: in bytes.
    """

    record_id: int
    acks: int
    timeout_ms: int
    timestamp_ms: int
    value_length: int


def produce_once(address: str, topic: str, record: OneRecord) -> Told:
    """Send one record to partition 0 at a broker, once, and say what came.

    Raises:
        ProbeError: the broker neither answers nor closes the connection.
    """
    version = _version(address)
    host, _, port = address.rpartition(":")
    timeout_s = record.timeout_ms / 1000 + MARGIN_S
    frames = [request_frame(CLIENT_MESSAGES[PRODUCE], version, _values(topic, record, version), PRODUCE_ID, CLIENT_ID)]
    if record.acks == 0:
        frames.append(request_frame(CLIENT_MESSAGES[API_VERSIONS], 0, {}, API_VERSIONS_ID, CLIENT_ID))
    try:
        with socket.create_connection((host, int(port)), timeout_s) as connected:
            connected.sendall(b"".join(frames))
            frame = _frame(connected)
    except (ConnectionResetError, BrokenPipeError):
        return Told(is_answered=False, is_closed=True)
    except OSError as failed:
        raise ProbeError(address, f"no answer to Produce: {str(failed) or type(failed).__name__}") from failed
    (correlation_id,) = _LENGTH.unpack_from(frame)
    if correlation_id != PRODUCE_ID:
        return Told(is_answered=False)
    return _told(CLIENT_MESSAGES[PRODUCE].response.decode(frame, version=version, header=True))


def _version(address: str) -> int:
    with BrokerConnection(address) as connection:
        version = connection.version_of(ProduceRequest, PRODUCE_VERSION_NEWEST)
    if version is None:
        raise ProbeError(address, f"no Produce up to version {PRODUCE_VERSION_NEWEST}")
    return version


def _told(answer: Any) -> Told:  # noqa: ANN401 - kafka-python is untyped
    part = answer.responses[0].partition_responses[0]
    error = error_name(part.error_code) if part.error_code else None
    return Told(is_answered=True, error=error, offset=int(part.base_offset) if error is None else None)


def _values(topic: str, record: OneRecord, version: int) -> dict[str, Any]:
    builder = MemoryRecordsBuilder(2 if version == PRODUCE_VERSION_NEWEST else 1, 0, BATCH_BYTES_MAX)
    builder.append(record.timestamp_ms, key_of(record.record_id), value_of(record.record_id, record.value_length))
    builder.close()
    part = {"index": 0, "records": bytes(builder.buffer())}
    return {
        "transactional_id": None,
        "acks": record.acks,
        "timeout_ms": record.timeout_ms,
        "topic_data": [{"name": topic, "partition_data": [part]}],
    }


def _frame(connected: socket.socket) -> bytes:
    (length,) = _LENGTH.unpack(_received(connected, _LENGTH.size))
    return _received(connected, length)


def _received(connected: socket.socket, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        part = connected.recv(length - len(received))
        if not part:
            raise ConnectionResetError(f"closed after {len(received)} of {length} bytes")
        received += part
    return bytes(received)
