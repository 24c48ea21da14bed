"""What does a broker answer to one Produce request, whatever its acks, and whether it leads or not?

The request goes to the broker that is named. A client that looks for the leader goes where that broker's metadata
sends it: elsewhere, or nowhere, while the controller's requests to it stand still.

Theory of operation: a broker handles the requests of a connection one after the other. With acks=0 the Produce is
followed by ApiVersions on the same connection: if the first answer is the one to ApiVersions, there was none to
Produce, and nothing had to be waited for. A broker that had an error to tell closes the connection instead.

Sources: ``KafkaApis.handleProduceRequest``, ``ReplicaManager.appendRecords``.
"""

from __future__ import annotations

import socket
import struct
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from conformance.clients.outcomes import outcome_of
from conformance.clients.producer import DeliveryReport
from conformance.clients.records import key_of, value_of
from conformance.probes.connection import BrokerConnection, MemoryRecordsBuilder, ProbeError, ProduceRequest
from fault_injection.puppets.connection import API_VERSIONS, CLIENT_MESSAGES, PRODUCE, request_frame
from fault_injection.waiting import DeadlineExceededError, until
from oracle.error_codes import error_name
from oracle.vocabulary import Acks, ProduceOutcome

CLIENT_ID = "kafka-conformance-produce"
BATCH_BYTES_MAX = 1 << 20
PRODUCE_VERSION_NEWEST = 3
"""The first version that carries message format 2; every later release still speaks it."""
PRODUCE_ID, API_VERSIONS_ID = 1, 2
MARGIN_S = 10.0
CONNECT_S = 10.0
NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
_LENGTH = struct.Struct(">i")


@dataclass(frozen=True, slots=True)
class ProduceAnswer:
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


def produce_once(address: str, topic: str, record: OneRecord) -> ProduceAnswer:
    """Send one record to partition 0 at a broker, once, and say what came.

    Raises:
        ProbeError: the broker neither answers nor closes the connection.
    """
    request = _Request(address, topic, record)
    timeout_s = record.timeout_ms / 1000 + MARGIN_S
    try:
        return until(request.poll, deadline_s=timeout_s, what="an answer to Produce", interval_s=0.005)
    except DeadlineExceededError as late:
        raise ProbeError(address, f"no answer to Produce: {late}") from late
    finally:
        request.close()


class DirectSending:
    """One record on its way to the broker that is named; close it when its delivery is no longer of interest.

    Raises:
        ProbeError: the broker cannot be reached.
    """

    def __init__(self, address: str, topic: str, record: OneRecord) -> None:
        self._request = _Request(address, topic, record)
        self._acks = Acks(record.acks)
        self._is_appended = False

    def poll(self) -> DeliveryReport | None:
        """Return the delivery if it is known; returns at once."""
        told = self._request.poll()
        if told is None:
            return None
        if not told.is_answered:
            return DeliveryReport(ProduceOutcome.INDETERMINATE, None, None)
        is_refused = told.error == NOT_LEADER and not self._is_appended
        outcome = ProduceOutcome.REFUSED if is_refused else outcome_of(self._acks, told.error)
        return DeliveryReport(outcome, told.error, told.offset)

    def appended(self) -> None:
        """Note that the broker has appended the record: an error that comes now does not undo that."""
        self._is_appended = True

    def await_delivery(self, deadline_s: float) -> DeliveryReport:
        """Wait until the delivery is known.

        Raises:
            DeadlineExceededError: it was still unknown after ``deadline_s`` seconds.
        """
        return until(self.poll, deadline_s=deadline_s, what="the producer to know", interval_s=0.005)

    def close(self) -> None:
        """End the connection; a known delivery stays known."""
        self._request.close()


class _Request:
    """A Produce request under way on a connection of its own.

    Raises:
        ProbeError: the broker cannot be reached.
    """

    def __init__(self, address: str, topic: str, record: OneRecord) -> None:
        version = self._version = _version(address)
        produce = request_frame(
            CLIENT_MESSAGES[PRODUCE], version, _values(topic, record, version), PRODUCE_ID, CLIENT_ID
        )
        if record.acks == 0:
            produce += request_frame(CLIENT_MESSAGES[API_VERSIONS], 0, {}, API_VERSIONS_ID, CLIENT_ID)
        host, _, port = address.rpartition(":")
        self._received = bytearray()
        self._told: ProduceAnswer | None = None
        self._is_closed = False
        try:
            with ExitStack() as unless_it_is_sent:
                self._socket = unless_it_is_sent.enter_context(socket.create_connection((host, int(port)), CONNECT_S))
                self._socket.sendall(produce)
                unless_it_is_sent.pop_all()
        except OSError as failed:
            raise ProbeError(address, f"no Produce can be sent: {str(failed) or type(failed).__name__}") from failed
        self._socket.setblocking(False)  # noqa: FBT003 - the standard library's argument has no name

    def poll(self) -> ProduceAnswer | None:
        """Return what the broker has told; None while it has told nothing."""
        if self._told is None and not self._is_closed:
            self._told = self._read()
        return self._told

    def close(self) -> None:
        self._is_closed = True
        self._socket.close()

    def _read(self) -> ProduceAnswer | None:
        try:
            while part := self._socket.recv(BATCH_BYTES_MAX):
                self._received += part
                if (frame := self._frame()) is not None:
                    return self._read_answer(frame)
        except BlockingIOError:
            return None
        except OSError:
            pass  # it ended as a connection does whose other end is gone
        return ProduceAnswer(is_answered=False, is_closed=True)

    def _frame(self) -> bytes | None:
        """Return the first whole answer, or None."""
        if len(self._received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._received)
        end = _LENGTH.size + length
        return bytes(self._received[_LENGTH.size : end]) if len(self._received) >= end else None

    def _read_answer(self, frame: bytes) -> ProduceAnswer:
        (correlation_id,) = _LENGTH.unpack_from(frame)
        if correlation_id != PRODUCE_ID:
            return ProduceAnswer(is_answered=False)
        return _told(CLIENT_MESSAGES[PRODUCE].response.decode(frame, version=self._version, header=True))


def _version(address: str) -> int:
    with BrokerConnection(address) as connection:
        version = connection.version_of(ProduceRequest, PRODUCE_VERSION_NEWEST)
    if version is None:
        raise ProbeError(address, f"no Produce up to version {PRODUCE_VERSION_NEWEST}")
    return version


def _told(answer: Any) -> ProduceAnswer:  # noqa: ANN401 - kafka-python is untyped
    part = answer.responses[0].partition_responses[0]
    error = error_name(part.error_code) if part.error_code else None
    return ProduceAnswer(is_answered=True, error=error, offset=int(part.base_offset) if error is None else None)


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
