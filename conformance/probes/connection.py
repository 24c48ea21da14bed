"""How does a probe ask one broker one question and get the answer to it?

One plain socket per broker, kept open between probes. The versions a broker speaks are asked once per
connection. When the connection turns out to be dead, because its broker was restarted since, the question
is asked once more on a new one; probes change nothing, so asking twice is harmless.
"""

import itertools
import socket
import struct
import warnings
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from oracle.error_codes import error_name

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.errors import CorruptRecordError
    from kafka.protocol.admin import (
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse,
        AlterReplicaLogDirsRequest,
        AlterReplicaLogDirsResponse,
        DescribeLogDirsRequest,
        DescribeLogDirsResponse,
        DescribeTopicPartitionsRequest,
        DescribeTopicPartitionsResponse,
        ElectLeadersRequest,
        ElectLeadersResponse,
        IncrementalAlterConfigsRequest,
        IncrementalAlterConfigsResponse,
    )
    from kafka.protocol.consumer import FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse
    from kafka.protocol.metadata import (
        ApiVersionsRequest,
        ApiVersionsResponse,
        MetadataRequest,
        MetadataResponse,
    )
    from kafka.protocol.producer import ProduceRequest, ProduceResponse
    from kafka.record import MemoryRecords, MemoryRecordsBuilder

__all__ = [
    "AlterPartitionReassignmentsRequest",
    "AlterPartitionReassignmentsResponse",
    "AlterReplicaLogDirsRequest",
    "AlterReplicaLogDirsResponse",
    "ApiVersionsRequest",
    "ApiVersionsResponse",
    "CorruptRecordError",
    "DescribeLogDirsRequest",
    "DescribeLogDirsResponse",
    "DescribeTopicPartitionsRequest",
    "DescribeTopicPartitionsResponse",
    "ElectLeadersRequest",
    "ElectLeadersResponse",
    "FetchRequest",
    "FetchResponse",
    "IncrementalAlterConfigsRequest",
    "IncrementalAlterConfigsResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "MemoryRecords",
    "MemoryRecordsBuilder",
    "MetadataRequest",
    "MetadataResponse",
    "ProduceRequest",
    "ProduceResponse",
]


# What can keep a probe from its answer?


class ProbeError(Exception):
    """A broker did not answer a probe, or answered with an error.

    Attributes:
        address: the ``host:port`` that was asked.
        error: the broker's error, such as ``NOT_LEADER_OR_FOLLOWER``; None when it did not answer.
    """

    def __init__(self, address: str, message: str, error: str | None = None) -> None:
        super().__init__(f"{address}: {message}")
        self.address = address
        self.error = error


CLIENT_ID = "kafka-conformance-probe"
TIMEOUT_S_DEFAULT = 5.0
API_VERSIONS_VERSION = 0
FRAME_BYTES_MAX = 64 * 1024 * 1024
_LENGTH = struct.Struct(">i")


class BrokerConnection:
    """Asks one broker; connects when first needed and again after the broker was restarted."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S_DEFAULT) -> None:
        self.address = address
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._versions: dict[int, tuple[int, int]] = {}
        self._correlation_ids = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def version_of(self, request: Any, newest: int, oldest: int = 0) -> int | None:  # noqa: ANN401 - untyped
        """Return the newest version of a request, within bounds, that the broker speaks; None if there is none.

        Raises:
            ProbeError: the broker does not answer.
        """
        self._connected()
        versions = self._versions.get(request.API_KEY)
        if versions is None:
            return None
        version = min(versions[1], newest)
        return version if version >= max(versions[0], oldest) else None

    def ask(self, request: Any, response: Any, version: int) -> Any:  # noqa: ANN401 - kafka-python is untyped
        """Send a request and return the decoded response.

        Raises:
            ProbeError: the broker does not answer in time, or the connection fails twice.
        """
        is_fresh = self._socket is None
        try:
            return self._exchange(self._connected(), request, response, version)
        except OSError as failed:
            self.close()
            if is_fresh or isinstance(failed, TimeoutError):
                raise self._unanswered(failed) from failed
        try:
            return self._exchange(self._connected(), request, response, version)
        except OSError as failed:
            self.close()
            raise self._unanswered(failed) from failed

    def close(self) -> None:
        """Close the connection; the next question opens a new one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connected(self) -> socket.socket:
        if self._socket is None:
            host, _, port = self.address.rpartition(":")
            try:
                self._socket = socket.create_connection((host, int(port)), self._timeout_s)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._versions = self._spoken_versions(self._socket)
            except OSError as failed:
                self.close()
                raise self._unanswered(failed) from failed
        return self._socket

    def _spoken_versions(self, connected: socket.socket) -> dict[int, tuple[int, int]]:
        answer = self._exchange(connected, ApiVersionsRequest(), ApiVersionsResponse, API_VERSIONS_VERSION)
        if answer.error_code:
            name = error_name(answer.error_code)
            raise ProbeError(self.address, f"ApiVersions was answered with {name}", name)
        return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}

    def _exchange(self, connected: socket.socket, request: Any, response: Any, version: int) -> Any:  # noqa: ANN401
        correlation_id = next(self._correlation_ids)
        request.API_VERSION = version
        request.with_header(correlation_id=correlation_id, client_id=CLIENT_ID)
        connected.sendall(request.encode(version=version, header=True, framed=True))
        frame = self._frame(connected)
        try:
            answer = response.decode(frame, version=version, header=True)
        except (ValueError, IndexError, struct.error) as malformed:
            self.close()
            raise ProbeError(self.address, f"{len(frame)} bytes are no {response.name} v{version}") from malformed
        if answer.header.correlation_id != correlation_id:
            raise ConnectionError(f"answer {answer.header.correlation_id} to question {correlation_id}")
        return answer

    def _frame(self, connected: socket.socket) -> bytes:
        (length,) = _LENGTH.unpack(_received(connected, _LENGTH.size))
        if not 0 < length <= FRAME_BYTES_MAX:
            raise ConnectionError(f"a frame of {length} bytes")
        return _received(connected, length)

    def _unanswered(self, failed: OSError) -> ProbeError:
        return ProbeError(self.address, f"no answer: {str(failed) or type(failed).__name__}")


def _received(connected: socket.socket, length: int) -> bytes:
    received = bytearray(length)
    view, position = memoryview(received), 0
    while position < length:
        count = connected.recv_into(view[position:])
        if count == 0:
            raise ConnectionError("the broker closed the connection")
        position += count
    return bytes(received)


# Whom does one broker itself believe to lead a partition, and whom to be in sync?
#
# A broker answers Metadata from its own cache, so the answer is that broker's belief and may lag behind the
# controller's: by a push in ZooKeeper mode, by the metadata log in KRaft mode.


METADATA_VERSION_NEWEST = 12
WITHOUT_AUTO_CREATION = 4
"""From this version on a request can ask that an unknown topic is not created."""
WITH_LEADER_EPOCH = 7
WITH_TOPIC_ID = 10
NOBODY = -1
UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
NOT_KNOWN_YET = frozenset({UNKNOWN_TOPIC_OR_PARTITION, "LEADER_NOT_AVAILABLE"})
"""What a broker says of a topic that it has not heard of: the second one up to 2.x, of a topic of Kafka's own."""


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """What one broker believes about a partition.

    Attributes:
        leader: the leader's broker id; None when the broker knows of no live leader.
        leader_epoch: None where Metadata does not tell it (before 2.1).
        isr: the in-sync replicas, in ascending order.
        replicas: the assigned replicas, preferred leader first.
        topic_id: None where the topic has none or Metadata does not tell it (before 2.8).
    """

    leader: int | None
    leader_epoch: int | None
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    topic_id: UUID | None


def partition_metadata(connection: BrokerConnection, topic: str, partition: int) -> PartitionMetadata | None:
    """Ask a broker what it believes about a partition; None when it knows no such partition.

    Raises:
        ProbeError: it does not answer, or with an unexpected error.
    """
    return topic_metadata(connection, topic).get(partition)


def topic_metadata(connection: BrokerConnection, topic: str) -> dict[int, PartitionMetadata]:
    """Ask a broker what it believes about every partition of a topic; nothing when it knows no such topic.

    Raises:
        ProbeError: it does not answer, or with an unexpected error.
    """
    version = connection.version_of(MetadataRequest, METADATA_VERSION_NEWEST)
    if version is None:
        raise ProbeError(connection.address, f"no Metadata up to version {METADATA_VERSION_NEWEST}")
    answer = connection.ask(_request(topic, version), MetadataResponse, version)
    described = next((it for it in answer.topics if it.name == topic), None)
    if described is None or _is_unknown(connection, described.error_code):
        return {}
    return {int(it.partition_index): _metadata(described, it, version) for it in described.partitions}


def _request(topic: str, version: int) -> Any:  # noqa: ANN401 - kafka-python is untyped
    if version < WITHOUT_AUTO_CREATION:
        return MetadataRequest(topics=MetadataRequest.ALL_TOPICS)
    return MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)


def _is_unknown(connection: BrokerConnection, error_code: int) -> bool:
    name = error_name(error_code) if error_code else None
    if name is not None and name not in NOT_KNOWN_YET:
        raise ProbeError(connection.address, f"Metadata was answered with {name}", name)
    return name is not None


def _metadata(topic: Any, partition: Any, version: int) -> PartitionMetadata:  # noqa: ANN401
    topic_id = topic.topic_id if version >= WITH_TOPIC_ID else None
    return PartitionMetadata(
        leader=None if partition.leader_id == NOBODY else int(partition.leader_id),
        leader_epoch=int(partition.leader_epoch) if version >= WITH_LEADER_EPOCH else None,
        isr=tuple(sorted(map(int, partition.isr_nodes))),
        replicas=tuple(map(int, partition.replica_nodes)),
        topic_id=topic_id if topic_id and topic_id.int else None,
    )
