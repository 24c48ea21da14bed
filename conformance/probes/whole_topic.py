"""What are the numbers of all replicas of a topic, asked by one question a broker?

As ``conformance.probes.replica`` asks for one partition, here for as many as are wanted: the same requests of the
debugging replica id, which go to the brokers directly and count as nobody's fetch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from conformance.probes.checkpoints import HIGH_WATERMARK_FILE, high_watermark_checkpoint
from conformance.probes.connection import (
    BrokerConnection,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ProbeError,
    topic_metadata,
)
from conformance.probes.replica import (
    DEBUGGING_REPLICA_ID,
    FETCH_BYTES_MAX,
    FETCH_VERSION_NEWEST,
    LATEST_TIMESTAMP,
    LIST_OFFSETS_VERSION,
    NO_SESSION,
)
from oracle.error_codes import error_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from types import TracebackType

    from conformance.probes.connection import PartitionMetadata
    from conformance.probes.replica_probe import ProbedCluster

_Listed = ListOffsetsRequest.ListOffsetsTopic
_Fetched = FetchRequest.FetchTopic


class WholeTopic:
    """Asks brokers about every partition of a topic; keeps its connections open until it is closed.

    Args:
        cluster: the brokers.
        topic: the topic's name.
    """

    def __init__(self, cluster: ProbedCluster, topic: str) -> None:
        self._cluster = cluster
        self.topic = topic
        self._connections: dict[int, BrokerConnection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def believed(self, broker: int) -> dict[int, PartitionMetadata]:
        """Ask a broker whom it believes to lead each partition, and whom to be in sync.

        Raises:
            ProbeError: it does not answer, or with an error.
        """
        return topic_metadata(self._connection(broker), self.topic)

    def log_ends(self, broker: int, partitions: Collection[int]) -> dict[int, int]:
        """Ask a broker for the log end offsets of its own replicas, whether it leads them or follows.

        Raises:
            ProbeError: it does not answer, or has not one of these replicas.
        """
        if not partitions:
            return {}
        asked = [
            _Listed.ListOffsetsPartition(partition_index=one, timestamp=LATEST_TIMESTAMP) for one in sorted(partitions)
        ]
        topics = [_Listed(name=self.topic, partitions=asked)]
        request = ListOffsetsRequest(replica_id=DEBUGGING_REPLICA_ID, topics=topics)
        connection = self._connection(broker)
        told = connection.ask(request, ListOffsetsResponse, LIST_OFFSETS_VERSION).topics[0].partitions
        _require_success(connection, "ListOffsets", (one.error_code for one in told))
        return {int(one.partition_index): int(one.offset) for one in told}

    def high_watermarks(self, broker: int, log_ends: Mapping[int, int]) -> dict[int, int]:
        """Ask a broker for the high watermarks of its own replicas.

        Args:
            broker: which.
            log_ends: its log end offset of each partition that is asked about, as just probed.

        Raises:
            ProbeError: it does not answer, has not one of these replicas, or a log is shorter by now.
        """
        if not log_ends:
            return {}
        connection = self._connection(broker)
        version = connection.version_of(FetchRequest, FETCH_VERSION_NEWEST)
        if version is None:
            raise ProbeError(connection.address, f"no Fetch up to version {FETCH_VERSION_NEWEST}")
        answer = connection.ask(_fetch_nothing(self.topic, log_ends), FetchResponse, version)
        told = answer.responses[0].partitions if answer.responses else []
        _require_success(connection, "Fetch", (answer.error_code or 0, *(one.error_code for one in told)))
        return {int(one.partition_index): int(one.high_watermark) for one in told}

    def checkpointed(self, broker: int) -> dict[int, int]:
        """Read the high watermarks that a broker has on disk, by partition; it may be down."""
        if HIGH_WATERMARK_FILE not in self._cluster.files(broker):
            return {}
        content = self._cluster.read_file(broker, HIGH_WATERMARK_FILE)
        return {
            number: offset
            for (topic, number), offset in high_watermark_checkpoint(content).items()
            if topic == self.topic
        }

    def close(self) -> None:
        """Close all connections; a later question opens them again."""
        for connection in self._connections.values():
            connection.close()

    def _connection(self, broker: int) -> BrokerConnection:
        if broker not in self._connections:
            self._connections[broker] = BrokerConnection(self._cluster.client_address(broker))
        return self._connections[broker]


def _fetch_nothing(topic: str, log_ends: Mapping[int, int]) -> Any:  # noqa: ANN401 - kafka-python is untyped
    asked = [
        _Fetched.FetchPartition(partition=one, fetch_offset=end, partition_max_bytes=FETCH_BYTES_MAX)
        for one, end in sorted(log_ends.items())
    ]
    return FetchRequest(
        replica_id=DEBUGGING_REPLICA_ID,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=FETCH_BYTES_MAX,
        session_id=NO_SESSION[0],
        session_epoch=NO_SESSION[1],
        topics=[_Fetched(topic=topic, partitions=asked)],
    )


def _require_success(connection: BrokerConnection, asked: str, codes: Any) -> None:  # noqa: ANN401 - of any answer
    for code in codes:
        if code:
            name = error_name(code)
            raise ProbeError(connection.address, f"{asked} was answered with {name}", name)
