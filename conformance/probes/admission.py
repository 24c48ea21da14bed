"""Would this broker, right now, append a record that is sent with acks=all?

A KRaft broker shows new metadata just before its replicas obey it, and a ZooKeeper-era controller commits a
state before the leader hears of it; so neither metadata nor the committed state proves what a produce request
will meet. The probe asks the partition itself: it sends a batch with a false checksum. A leader looks at its
own leadership first, then at its in-sync replicas, then at the checksum, and never appends such a batch.

Sources: ``Partition.appendRecordsToLeader``, ``Log.analyzeAndValidateRecords``, ``ReplicaManager``'s
``BrokerMetadataPublisher`` (KRaft publishes the metadata cache first).
"""

from enum import StrEnum

from conformance.probes.connection import (
    BrokerConnection,
    MemoryRecordsBuilder,
    ProbeError,
    ProduceRequest,
    ProduceResponse,
)
from oracle.error_codes import error_name

PRODUCE_VERSION_NEWEST = 3
"""The first version that carries message format 2; every later release still speaks it."""
ACKS_ALL = -1
TIMEOUT_MS = 1_000
BATCH_BYTES_MAX = 1_024
CHECKSUM_POSITION = {1: 12, 2: 17}
"""Where the checksum of a batch begins in message formats 1 and 2."""

_Topic = ProduceRequest.TopicProduceData


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
    asked = _Topic.PartitionProduceData(index=partition, records=records)
    request = ProduceRequest(
        transactional_id=None,
        acks=ACKS_ALL,
        timeout_ms=TIMEOUT_MS,
        topic_data=[_Topic(name=topic, partition_data=[asked])],
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
