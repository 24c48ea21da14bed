"""Which words does the model use? The identifiers and enumerations every other module shares."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import NewType

BrokerId = NewType("BrokerId", int)
Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)
Leadership = NewType("Leadership", int)
Label = NewType("Label", str)


ELIGIBLE_LEADER_REPLICAS = "eligible-leader-replicas"
"""The rule of clusters that have them (KIP-966), as predictions name it."""


class Acks(IntEnum):
    """What a producer waits for (KIP-1 of the produce API: 0, 1 or all)."""

    NONE = 0
    LEADER = 1
    ALL = -1

    @property
    def word(self) -> str:
        """Return it as producers are configured: ``all``, ``1`` or ``0``."""
        return "all" if self is Acks.ALL else str(int(self))


class ProduceOutcome(StrEnum):
    """What a producer learned about one record: three-valued, because silence is not refusal."""

    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"
    INDETERMINATE = "indeterminate"


class Expectation(StrEnum):
    """What a produce step assumes about its records' outcome when the step ends."""

    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"
    INDETERMINATE = "indeterminate"
    PENDING = "pending"
    ANY = "any"


class Fate(StrEnum):
    """What becomes of a record once the schedule has ended.

    PRESENT: readable below the high watermark. LOST: was committed and is gone. ABSENT: never committed and not
    readable. DELETED: was committed, and an operator had it deleted. UNDETERMINED: the model allows more than one end.
    """

    PRESENT = "present"
    LOST = "lost"
    ABSENT = "absent"
    DELETED = "deleted"
    UNDETERMINED = "undetermined"


class RangeFate(StrEnum):
    """What became of a range of records: the log at rest has them, has them not, or nothing that was seen tells."""

    PRESENT = "present"
    LOST = "lost"
    EITHER = "either"


class MetadataMode(StrEnum):
    """Who keeps the cluster's metadata."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"


class ReplicaRole(StrEnum):
    """What a replica believes it is."""

    LEADER = "leader"
    FOLLOWER = "follower"
    NONE = "none"


class Timing(StrEnum):
    """Who removes a silent replica from the ISR: the controller (session) or the leader (lag)."""

    SESSION = "session"
    LAG = "lag"


class HighWatermarkCheckpoint(StrEnum):
    """When a broker writes replication-offset-checkpoint: within 100 ms, or not while it runs."""

    PROMPT = "prompt"
    NEVER = "never"


class ElectionKind(StrEnum):
    """Which leader election an operator asks for: of the first assigned replica, or of one outside the ISR."""

    PREFERRED = "preferred"
    UNCLEAN = "unclean"


class OffsetSpec(StrEnum):
    """Which offset ListOffsets is asked for (OffsetSpec of Kafka's Admin)."""

    EARLIEST = "earliest"
    LATEST = "latest"
    TIMESTAMP = "timestamp"


class ClientRequest(StrEnum):
    """A request that a client may send to a broker."""

    FETCH = "Fetch"
    LIST_OFFSETS = "ListOffsets"
    OFFSETS_FOR_LEADER_EPOCH = "OffsetsForLeaderEpoch"


class PointName(StrEnum):
    """The protocol points a schedule can hold a frame at."""

    FETCH_REQUEST = "fetch_request"
    FETCH_RESPONSE = "fetch_response"
    OFFSETS_FOR_LEADER_EPOCH_REQUEST = "offsets_for_leader_epoch_request"
    OFFSETS_FOR_LEADER_EPOCH_RESPONSE = "offsets_for_leader_epoch_response"
    LEADER_AND_ISR = "leader_and_isr"
    LEADER_AND_ISR_RESPONSE = "leader_and_isr_response"
    UPDATE_METADATA = "update_metadata"
    UPDATE_METADATA_RESPONSE = "update_metadata_response"
    STOP_REPLICA = "stop_replica"
    STOP_REPLICA_RESPONSE = "stop_replica_response"
    CONTROLLED_SHUTDOWN_REQUEST = "controlled_shutdown_request"
    CONTROLLED_SHUTDOWN_RESPONSE = "controlled_shutdown_response"
    ALTER_PARTITION_REQUEST = "alter_partition_request"
    ALTER_PARTITION_RESPONSE = "alter_partition_response"
    BROKER_REGISTRATION_REQUEST = "broker_registration_request"
    BROKER_REGISTRATION_RESPONSE = "broker_registration_response"
    BROKER_HEARTBEAT_REQUEST = "broker_heartbeat_request"
    BROKER_HEARTBEAT_RESPONSE = "broker_heartbeat_response"
    CONTROLLER_FETCH_REQUEST = "controller_fetch_request"
    CONTROLLER_FETCH_RESPONSE = "controller_fetch_response"
    PRODUCE_REQUEST = "produce_request"
    PRODUCE_RESPONSE = "produce_response"
    CLIENT_FETCH_REQUEST = "client_fetch_request"
    CLIENT_FETCH_RESPONSE = "client_fetch_response"
    INIT_PRODUCER_ID_REQUEST = "init_producer_id_request"
    INIT_PRODUCER_ID_RESPONSE = "init_producer_id_response"
    ADD_PARTITIONS_TO_TXN_REQUEST = "add_partitions_to_txn_request"
    ADD_PARTITIONS_TO_TXN_RESPONSE = "add_partitions_to_txn_response"
    ADD_OFFSETS_TO_TXN_REQUEST = "add_offsets_to_txn_request"
    ADD_OFFSETS_TO_TXN_RESPONSE = "add_offsets_to_txn_response"
    END_TXN_REQUEST = "end_txn_request"
    END_TXN_RESPONSE = "end_txn_response"
    WRITE_TXN_MARKERS_REQUEST = "write_txn_markers_request"
    WRITE_TXN_MARKERS_RESPONSE = "write_txn_markers_response"
    TXN_OFFSET_COMMIT_REQUEST = "txn_offset_commit_request"
    TXN_OFFSET_COMMIT_RESPONSE = "txn_offset_commit_response"


LOOKUPS = (PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST, PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE)
"""Points at which a follower asks where an epoch ends: by epoch, not by offset."""

REQUESTS_OF_CONTROLLER = (
    PointName.LEADER_AND_ISR,
    PointName.LEADER_AND_ISR_RESPONSE,
    PointName.STOP_REPLICA,
    PointName.UPDATE_METADATA,
)
"""Points at which a ZooKeeper-era controller's requests to a broker, one under way at a time, stand still."""

FROM_CONTROLLER = (
    *REQUESTS_OF_CONTROLLER,
    PointName.CONTROLLER_FETCH_REQUEST,
    PointName.CONTROLLER_FETCH_RESPONSE,
)
"""Points on the channel by which a broker hears the controller's decisions."""

TELLING_WHO_LEADS = (
    PointName.LEADER_AND_ISR,
    PointName.CONTROLLER_FETCH_REQUEST,
    PointName.CONTROLLER_FETCH_RESPONSE,
)
"""Points at which a held frame keeps a broker from hearing who leads."""

TO_CONTROLLER = (PointName.ALTER_PARTITION_REQUEST, PointName.ALTER_PARTITION_RESPONSE)
"""Points on the channel by which a leader asks the controller to change the ISR."""

CONSUMER_OFFSETS, TRANSACTION_STATE = "__consumer_offsets", "__transaction_state"
"""Topics of Kafka's own: whoever leads a partition of one of them coordinates groups, or transactional ids."""

AREAS = {
    "HW": "High watermark and log end offset",
    "TR": "Truncation, loss and divergence",
    "LE": "Leader epochs",
    "IS": "In-sync replicas",
    "AC": "The produce path",
    "EL": "Elections and the settings that allow them",
    "RM": "What the controller asks of a broker",
    "FE": "Fetcher threads",
    "RC": "Reconciliation of every record",
    "TX": "Transactions",
}
"""Titles of the areas of requirements by the letters of their ids, in the order of the table."""


def frame_words(point: str, fetch_offset: object = None) -> str:
    """Return which frame a protocol point stands for, such as ``FETCH(2) response``."""
    if point.startswith("fetch_"):
        offset = "" if fetch_offset is None else f"({fetch_offset})"
        return f"FETCH{offset} {point.removeprefix('fetch_')}"
    if point.startswith("controller_fetch_"):
        return f"metadata FETCH {point.removeprefix('controller_fetch_')}"
    head, _, direction = point.rpartition("_")
    named = head if direction in {"request", "response"} else point
    camel = "".join(word.capitalize() for word in named.split("_"))
    return f"{camel} {direction}" if named == head else camel
