"""What are the numbers of one live replica, leader or follower, and what would it do with a record?

| number | asked with | why it is that replica's own |
|---|---|---|
| log end offset | ListOffsets v1, timestamp -1, replica id -2 | the debugging id skips the leader check |
| log start offset | ListOffsets v1, timestamp -2, replica id -2 | likewise |
| high watermark | Fetch at the log end offset, replica id -2 | the answer's high watermark is local |

A follower answers such a Fetch up to version 10 only in releases before 2.4 (debugging id), and from
version 11 on in all that have it (KIP-392). A Fetch never carries a real replica id: the leader would take it
for replication. The high watermark is read by Fetch because ListOffsets hides it after an election.

Sources: ``ReplicaManager.fetchMessages`` of 0.10.2 and 2.0 to 4.3, ``Partition.fetchOffsetForTimestamp``.
"""

from enum import StrEnum
from typing import Any

from conformance.probes.connection import (
    BrokerConnection,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MemoryRecordsBuilder,
    ProbeError,
    ProduceRequest,
    ProduceResponse,
)
from conformance.probes.segments import LogRecord, records_of
from oracle.error_codes import error_name

DEBUGGING_REPLICA_ID = -2
LATEST_TIMESTAMP, EARLIEST_TIMESTAMP = -1, -2
LIST_OFFSETS_VERSION = 1
FETCH_VERSION_NEWEST = 12
"""From version 13 on a Fetch names topics by id; every release still speaks an earlier one."""
NO_SESSION = (0, -1)
FETCH_BYTES_MAX = 1
OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
ATTEMPTS_MAX = 3

_Topic = ListOffsetsRequest.ListOffsetsTopic
_Fetch = FetchRequest.FetchTopic


def log_end_offset(connection: BrokerConnection, topic: str, partition: int) -> int:
    """Ask a broker for the log end offset of its own replica.

    Raises:
        ProbeError: it does not answer, or has no such replica.
    """
    return _listed(connection, topic, partition, LATEST_TIMESTAMP)


def log_start_offset(connection: BrokerConnection, topic: str, partition: int) -> int:
    """Ask a broker where the log of its own replica starts.

    Raises:
        ProbeError: it does not answer, or has no such replica.
    """
    return _listed(connection, topic, partition, EARLIEST_TIMESTAMP)


def _listed(connection: BrokerConnection, topic: str, partition: int, timestamp: int) -> int:
    asked = _Topic.ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
    request = ListOffsetsRequest(replica_id=DEBUGGING_REPLICA_ID, topics=[_Topic(name=topic, partitions=[asked])])
    answer = connection.ask(request, ListOffsetsResponse, LIST_OFFSETS_VERSION).topics[0].partitions[0]
    _require_success(connection, "ListOffsets", answer.error_code)
    return int(answer.offset)


def high_watermark(connection: BrokerConnection, topic: str, partition: int, log_end_offset: int) -> int:
    """Ask a broker for the high watermark of its own replica.

    Args:
        connection: to the broker.
        topic: the topic.
        partition: the partition.
        log_end_offset: the replica's log end offset, as just probed.

    Raises:
        ProbeError: it does not answer, has no such replica, or its log is shorter by now
            (``OFFSET_OUT_OF_RANGE``).
    """
    request = _fetch_nothing(topic, partition, log_end_offset)
    version = connection.version_of(FetchRequest, FETCH_VERSION_NEWEST)
    if version is None:
        raise ProbeError(connection.address, f"no Fetch up to version {FETCH_VERSION_NEWEST}")
    answer = connection.ask(request, FetchResponse, version)
    _require_success(connection, "Fetch", answer.error_code or 0)
    replica = answer.responses[0].partitions[0]
    _require_success(connection, "Fetch", replica.error_code)
    return int(replica.high_watermark)


def replica_offsets(connection: BrokerConnection, topic: str, partition: int) -> tuple[int, int]:
    """Ask a broker for the log end offset and the high watermark of its own replica.

    A replica that truncates between the two questions is asked again.

    Raises:
        ProbeError: it does not answer, or has no such replica.
    """
    for attempt in range(1, ATTEMPTS_MAX + 1):
        end = log_end_offset(connection, topic, partition)
        try:
            return end, high_watermark(connection, topic, partition, end)
        except ProbeError as refused:
            if refused.error != OFFSET_OUT_OF_RANGE or attempt == ATTEMPTS_MAX:
                raise
    raise AssertionError("the last attempt returns or raises")


def _fetch_nothing(topic: str, partition: int, offset: int) -> Any:  # noqa: ANN401 - kafka-python is untyped
    asked = _Fetch.FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=FETCH_BYTES_MAX)
    session_id, session_epoch = NO_SESSION
    return FetchRequest(
        replica_id=DEBUGGING_REPLICA_ID,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=FETCH_BYTES_MAX,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[_Fetch(topic=topic, partitions=[asked])],
    )


def _require_success(connection: BrokerConnection, asked: str, error_code: int) -> None:
    if error_code:
        name = error_name(error_code)
        raise ProbeError(connection.address, f"{asked} was answered with {name}", name)


# Which records does a broker serve to a consumer? Asked by plain fetches, each record decoded.


CONSUMER_REPLICA_ID = -1
BYTES_MAX = 16 * 1024 * 1024

_ServedFetch = FetchRequest.FetchTopic


def served_records(connection: BrokerConnection, topic: str, partition: int, offset: int = 0) -> tuple[LogRecord, ...]:
    """Fetch everything that a partition's leader serves from an offset on, up to its high watermark.

    Raises:
        ProbeError: the broker does not answer, or with an error.
    """
    served: list[LogRecord] = []
    while batch := _fetched(connection, topic, partition, offset):
        served += [record for record in batch if record.offset >= offset]
        offset = batch[-1].offset + 1
    return tuple(served)


def _fetched(connection: BrokerConnection, topic: str, partition: int, offset: int) -> tuple[LogRecord, ...]:
    version = connection.version_of(FetchRequest, FETCH_VERSION_NEWEST)
    if version is None:
        raise ProbeError(connection.address, f"no Fetch up to version {FETCH_VERSION_NEWEST}")
    asked = _ServedFetch.FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=BYTES_MAX)
    request = FetchRequest(
        replica_id=CONSUMER_REPLICA_ID,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=BYTES_MAX,
        session_id=NO_SESSION[0],
        session_epoch=NO_SESSION[1],
        topics=[_ServedFetch(topic=topic, partitions=[asked])],
    )
    answer = connection.ask(request, FetchResponse, version).responses[0].partitions[0]
    if answer.error_code:
        name = error_name(answer.error_code)
        raise ProbeError(connection.address, f"Fetch was answered with {name}", name)
    return records_of(bytes(answer.records or b""))


# Would this broker, right now, append a record that is sent with acks=all?
#
# A KRaft broker shows new metadata just before its replicas obey it, and a ZooKeeper-era controller commits a
# state before the leader hears of it; so neither metadata nor the committed state proves what a produce request
# will meet. The probe asks the partition itself: it sends a batch with a false checksum. A leader looks at its
# own leadership first, then at its in-sync replicas, then at the checksum, and never appends such a batch.
#
# Sources: ``Partition.appendRecordsToLeader``, ``Log.analyzeAndValidateRecords``, ``ReplicaManager``'s
# ``BrokerMetadataPublisher`` (KRaft publishes the metadata cache first).


PRODUCE_VERSION_NEWEST = 3
"""The first version that carries message format 2; every later release still speaks it."""
ACKS_ALL = -1
TIMEOUT_MS = 1_000
BATCH_BYTES_MAX = 1_024
CHECKSUM_POSITION = {1: 12, 2: 17}
"""Where the checksum of a batch begins in message formats 1 and 2."""

_Produced = ProduceRequest.TopicProduceData


class Admission(StrEnum):
    """What a record with acks=all would meet."""

    ADMITTED = "admitted"
    TOO_FEW_IN_SYNC = "too few in-sync replicas"
    NOT_LEADER = "not the leader"


_ANSWERS = {
    "CORRUPT_MESSAGE": Admission.ADMITTED,
    "NOT_ENOUGH_REPLICAS": Admission.TOO_FEW_IN_SYNC,
    "NOT_LEADER_OR_FOLLOWER": Admission.NOT_LEADER,
    "UNKNOWN_TOPIC_OR_PARTITION": Admission.NOT_LEADER,
}


def admission(connection: BrokerConnection, topic: str, partition: int) -> Admission:
    """Ask a broker whether it would append a record sent with acks=all.

    Raises:
        ProbeError: it does not answer, or with an unexpected error.
    """
    version = connection.version_of(ProduceRequest, PRODUCE_VERSION_NEWEST)
    if version is None:
        raise ProbeError(connection.address, f"no Produce up to version {PRODUCE_VERSION_NEWEST}")
    records = _batch_with_false_checksum(magic=2 if version == PRODUCE_VERSION_NEWEST else 1)
    asked = _Produced.PartitionProduceData(index=partition, records=records)
    request = ProduceRequest(
        transactional_id=None,
        acks=ACKS_ALL,
        timeout_ms=TIMEOUT_MS,
        topic_data=[_Produced(name=topic, partition_data=[asked])],
    )
    answer = connection.ask(request, ProduceResponse, version).responses[0].partition_responses[0]
    name = error_name(answer.error_code)
    if name not in _ANSWERS:
        raise ProbeError(connection.address, f"Produce was answered with {name}", name)
    return _ANSWERS[name]


def _batch_with_false_checksum(magic: int) -> bytes:
    builder = MemoryRecordsBuilder(magic, 0, BATCH_BYTES_MAX)
    builder.append(0, b"", b"")
    builder.close()
    batch = bytearray(builder.buffer())
    batch[CHECKSUM_POSITION[magic]] ^= 0xFF
    return bytes(batch)
