"""What can be chosen about one FETCH of one partition, whoever sends it?

Sources: the message schema of FETCH; KIP-74 (max bytes), KIP-227 (sessions), KIP-320, KIP-595, KIP-903.
"""

from dataclasses import dataclass
from typing import Any

from fault_injection.puppets.connection import PuppetConnection
from fault_injection.puppets.schema import FETCH, Values
from fault_injection.puppets.topic import PuppetTopic
from fault_injection.wire.codec_replication import fetch_response
from fault_injection.wire.views import NONE, FetchedPartition

CONSUMER = -1
NO_SESSION_EPOCH = -1
REPLICA_STATE_SINCE = 15
BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Fetch:
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
        """Give the fields of the request; from v15 on the replica is named in a part of its own."""
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
    connection: PuppetConnection, topic: PuppetTopic, fetch: Fetch, version: int | None = None
) -> FetchedPartition:
    """Send one fetch, in the newest common version unless one is chosen, and give what came.

    Raises:
        PuppetError: the broker does not answer.
    """
    chosen = connection.newest_version(FETCH) if version is None else version
    view = fetch_response(connection.ask(FETCH, fetch.values(topic, chosen), chosen))
    return view.partitions[0]
