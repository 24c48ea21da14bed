"""How does a puppet, client or follower, ask a real broker, one request at a time and with every field of choice?

Sources: ``ReplicaManager.appendRecords``, ``fetchMessages``, ``fetchOffset``; KIP-74, KIP-79, KIP-207.
"""

from dataclasses import dataclass
from typing import Any

from fault_injection.cluster.relay import Address
from fault_injection.puppets.connection import (
    FETCH,
    LIST_OFFSETS,
    OFFSETS_FOR_LEADER_EPOCH,
    PRODUCE,
    WRITE_TXN_MARKERS,
    PuppetConnection,
    Values,
)
from fault_injection.puppets.records import PRODUCER_EPOCH, RECORD_BATCH_MAGIC, TIMESTAMP_MS, Batch
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.wire.codec import epoch_response, fetch_response
from fault_injection.wire.views import NONE, EpochEndOffset, FetchedPartition

# What can be chosen about one FETCH of one partition, whoever sends it?
#
# Sources: the message schema of FETCH; KIP-74 (max bytes), KIP-227 (sessions), KIP-320, KIP-595, KIP-903.


CONSUMER = -1
NO_SESSION_EPOCH = -1
REPLICA_STATE_SINCE = 15
BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class ConsumedFetch:
    """One fetch.

    Attributes:
        offset: the first offset wanted; a follower's log end offset.
        replica_id: the follower's broker id, or -1 for a consumer.
        leader_epoch: the current leader epoch that is claimed (v9+); -1 is not checked.
        last_fetched_epoch: the epoch of the last record (v12+); -1 is not checked.
        max_wait_ms: how long the leader may park a fetch that gets fewer than ``min_bytes``.
        min_bytes: see there.
        max_bytes: of records in the answer (v3+); the first batch comes whole whatever its size.
        partition_max_bytes: likewise of the partition.
        committed: whether a consumer reads committed records only (v4+).
    """

    offset: int
    replica_id: int = CONSUMER
    leader_epoch: int = NONE
    last_fetched_epoch: int = NONE
    max_wait_ms: int = 0
    min_bytes: int = 1
    max_bytes: int = BYTES_MAX
    partition_max_bytes: int = BYTES_MAX
    committed: bool = False

    def values(self, topic: PuppetTopic, version: int) -> Values:
        """Return the fields of the request; from v15 on the replica is named in a part of its own."""
        asked = {
            "partition": 0,
            "current_leader_epoch": self.leader_epoch,
            "fetch_offset": self.offset,
            "last_fetched_epoch": self.last_fetched_epoch,
            "log_start_offset": NONE if self.replica_id == CONSUMER else 0,
            "partition_max_bytes": self.partition_max_bytes,
        }
        values: dict[str, Any] = {
            "max_wait_ms": self.max_wait_ms,
            "min_bytes": self.min_bytes,
            "max_bytes": self.max_bytes,
            "isolation_level": int(self.committed),
            "session_epoch": NO_SESSION_EPOCH,
            "topics": [{"topic": topic.name, "topic_id": topic.id, "partitions": [asked]}],
        }
        if version >= REPLICA_STATE_SINCE:
            return values | {"replica_state": {"replica_id": self.replica_id, "replica_epoch": NONE}}
        return values | {"replica_id": self.replica_id}


def fetched(
    connection: PuppetConnection, topic: PuppetTopic, fetch: ConsumedFetch, version: int | None = None
) -> FetchedPartition:
    """Send one fetch, in the newest common version unless one is chosen, and return what came.

    Raises:
        PuppetError: the broker does not answer.
    """
    chosen = connection.newest_version(FETCH) if version is None else version
    view = fetch_response(connection.ask(FETCH, fetch.values(topic, chosen), chosen))
    return view.partitions[0]


CLIENT_ID = "puppet-client"
LATEST_TIMESTAMP, EARLIEST_TIMESTAMP = -1, -2
BATCHES_SINCE = 3
PRODUCE_VERSION_MAX = 12  # later versions name topics by id
APPEND_TIMEOUT_MS = 1_000


@dataclass(frozen=True, slots=True)
class ListedOffsetAnswer:
    """The answer to ListOffsets: an error code, and the offset; -1 for none."""

    error: int
    offset: int


class ClientPuppet:
    """A producer and consumer of a real broker.

    Args:
        address: of the broker's CLIENT listener.
    """

    def __init__(self, address: Address) -> None:
        self._connection = PuppetConnection(address, CLIENT_ID)

    def append(
        self,
        topic: PuppetTopic,
        *values: bytes,
        acks: int = 1,
        timeout_ms: int = APPEND_TIMEOUT_MS,
        timestamp_ms: int = TIMESTAMP_MS,
        transaction: tuple[int, int] | None = None,
    ) -> tuple[int, int]:
        """Send records as one batch and return the error code and the offset of the first one.

        Args:
            topic: whose partition.
            values: of the records; they have no keys.
            acks: 1 is answered once the leader has appended; -1 once all in-sync replicas have.
            timeout_ms: how long the broker waits for these.
            timestamp_ms: of all of them.
            transaction: the producer id whose transaction they are part of, and the first sequence number.

        Raises:
            PuppetError: the broker does not answer.
        """
        version = min(self._connection.newest_version(PRODUCE), PRODUCE_VERSION_MAX)
        magic = RECORD_BATCH_MAGIC if version >= BATCHES_SINCE else 1
        part = {"index": 0, "records": Batch(0, NONE, values, timestamp_ms, transaction).encoded(magic)}
        request = {
            "transactional_id": None if transaction is None else CLIENT_ID,
            "acks": acks,
            "timeout_ms": timeout_ms,
            "topic_data": [{"name": topic.name, "partition_data": [part]}],
        }
        given = self._connection.ask(PRODUCE, request, version).responses[0].partition_responses[0]
        return int(given.error_code), int(given.base_offset)

    def end_transaction(self, topic: PuppetTopic, producer_id: int, *, commits: bool) -> int:
        """Write the marker that ends a transaction, as its coordinator does (0.11+), and return the error code.

        It is answered once the marker is replicated.

        Raises:
            PuppetError: the broker does not answer.
        """
        marker = {
            "producer_id": producer_id,
            "producer_epoch": PRODUCER_EPOCH,
            "transaction_result": commits,
            "topics": [{"name": topic.name, "partition_indexes": [0]}],
            "coordinator_epoch": 0,
        }
        given = self._connection.ask(WRITE_TXN_MARKERS, {"markers": [marker]})
        return int(given.markers[0].topics[0].partitions[0].error_code)

    def fetch(self, topic: PuppetTopic, fetch: ConsumedFetch, version: int | None = None) -> FetchedPartition:
        """Fetch once, as a consumer unless the fetch names a replica.

        Raises:
            PuppetError: the broker does not answer.
        """
        return fetched(self._connection, topic, fetch, version)

    def list_offset(
        self, topic: PuppetTopic, timestamp: int, version: int | None = None, *, committed: bool = False
    ) -> ListedOffsetAnswer:
        """Ask for the earliest (-2) or latest (-1) offset, or the first one with at least a timestamp (v1+).

        Args:
            topic: whose partition.
            timestamp: see there.
            version: of the request; the newest common one if none is chosen.
            committed: whether the consumer reads committed records only (v2+).

        Raises:
            PuppetError: the broker does not answer.
        """
        asked = {"partition_index": 0, "current_leader_epoch": NONE, "timestamp": timestamp, "max_num_offsets": 1}
        values = {
            "replica_id": NONE,
            "isolation_level": int(committed),
            "topics": [{"name": topic.name, "partitions": [asked]}],
        }
        given = self._connection.ask(LIST_OFFSETS, values, version).topics[0].partitions[0]
        return ListedOffsetAnswer(int(given.error_code), int(given.offset))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


# How does the tester play a follower of a real leader?
#
# A FETCH with a replica id counts as replication: the leader takes its offset for the follower's log end offset.
# Offset, epochs and waiting time are chosen freely, so the puppet can be behind, in another epoch, or have a diverging
# log.
#
# Sources: ``ReplicaManager.fetchMessages``, ``Partition.updateFollowerFetchState``; KIP-101, KIP-320, KIP-595, KIP-903.


class FollowerPuppet:
    """A replica that fetches when and what it is told.

    Args:
        broker: its broker id.
        leader_address: of a listener of the real broker.
    """

    def __init__(self, broker: int, leader_address: Address) -> None:
        self.broker = broker
        self._connection = PuppetConnection(leader_address, f"broker-{broker}-fetcher-0")

    def fetch(
        self,
        topic: PuppetTopic,
        offset: int,
        *,
        leader_epoch: int = NONE,
        last_fetched_epoch: int = NONE,
        max_wait_ms: int = 0,
        version: int | None = None,
    ) -> FetchedPartition:
        """Fetch from the leader once.

        Args:
            topic: whose partition.
            offset: the fetch offset: what the leader takes for this replica's log end offset.
            leader_epoch: the current leader epoch that it claims (v9+); -1 is not checked.
            last_fetched_epoch: the epoch of its last record (v12+); -1 is not checked.
            max_wait_ms: how long the leader may park a fetch that gets no records.
            version: of the request; the newest common one if none is chosen.

        Returns:
            What the leader gave: error, high watermark, epochs of the records, diverging epoch.

        Raises:
            PuppetError: the broker does not answer.
        """
        fetch = ConsumedFetch(
            offset,
            replica_id=self.broker,
            leader_epoch=leader_epoch,
            last_fetched_epoch=last_fetched_epoch,
            max_wait_ms=max_wait_ms,
        )
        return fetched(self._connection, topic, fetch, version)

    def end_of_epoch(
        self, topic: PuppetTopic, leader_epoch: int, *, current_leader_epoch: int = NONE, version: int | None = None
    ) -> EpochEndOffset:
        """Ask the leader where an epoch ends (OffsetsForLeaderEpoch, 0.11+).

        Args:
            topic: whose partition.
            leader_epoch: the epoch asked about.
            current_leader_epoch: the leader epoch that it claims (v2+); -1 is not checked.
            version: of the request; the newest common one if none is chosen.

        Raises:
            PuppetError: the broker does not answer, or has no such request.
        """
        asked = {"partition": 0, "leader_epoch": leader_epoch, "current_leader_epoch": current_leader_epoch}
        values = {"replica_id": self.broker, "topics": [{"topic": topic.name, "partitions": [asked]}]}
        return epoch_response(self._connection.ask(OFFSETS_FOR_LEADER_EPOCH, values, version)).partitions[0]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
