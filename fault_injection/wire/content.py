"""What must a frame say to be the one a protocol point is about?

A condition names a field of a decoded frame by the name it has in our views, and the value it must have. Fields
of the message itself must have it; fields of its partitions must all have it in one and the same partition.

Choices: a frame that could not be decoded says nothing, so it meets no condition. An ``error`` is looked for at
the top and in the partitions: a top-level error is one of every partition. In-sync replicas are compared as sets.
"""

# ruff: noqa: ANN401 - an entry is a partition of any request or response

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from fault_injection.wire.controller_views import (
    AlterPartitionResponseView,
    AlterPartitionView,
    BrokerHeartbeatResponseView,
    BrokerHeartbeatView,
    BrokerRegistrationResponseView,
    BrokerRegistrationView,
    CommittedIsr,
    ControlledShutdownView,
    ErrorsView,
    LeaderAndIsrView,
    PartitionError,
    PartitionLeadership,
    ProposedIsr,
    StoppedReplica,
    StopReplicaView,
    UpdateMetadataView,
)
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.transaction_views import (
    AddedPartition,
    AddOffsetsToTxnView,
    AddPartitionsToTxnView,
    CommittedOffset,
    EndTxnView,
    InitProducerIdView,
    MarkedPartition,
    ProducerEpochView,
    TxnOffsetCommitView,
    WriteTxnMarkersView,
)
from fault_injection.wire.views import (
    AppendedPartition,
    EpochEndOffset,
    EpochQuery,
    EpochRequestView,
    EpochResponseView,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
    ProducedPartition,
    ProduceRequestView,
    ProduceResponseView,
)


@dataclass(frozen=True, slots=True)
class Content:
    """Conditions on what a frame says; None stands for anything.

    Attributes:
        error: Kafka's error code, at the top or in the partition.
        session_id: fetch session (KIP-227).
        session_epoch: 0 opens a session, -1 has none, others are incremental.
        last_fetched_epoch: epoch of the follower's last record (Fetch v12+).
        high_watermark: the one a fetch answer carries.
        log_start_offset: of the follower in a fetch, of the leader in its answer.
        has_records: whether records are carried.
        record_count: how many, in a Produce request or a fetch answer.
        has_diverging_epoch: whether the leader tells the follower to truncate (Fetch v12+).
        end_offset: where the epoch ends, in an OffsetsForLeaderEpoch answer.
        leader_epoch: of the partition: the current one of a fetch, the one asked for or announced otherwise.
        leader: the leader that the controller announces or confirms.
        isr: the in-sync replicas that are announced, proposed or confirmed, in any order.
        partition_epoch: version of the partition's state; in ZooKeeper mode its node's version.
        controller_epoch: the controller's.
        broker_epoch: the broker's.
        is_deleted: whether StopReplica deletes the replica.
        acks: 0, 1 or -1, in a Produce request.
        base_offset: first offset given to the records, in a Produce answer.
        transactional_id: whose request it is.
        producer_id: of a producer, or in a Produce request of the first batch.
        producer_epoch: likewise.
        base_sequence: of the first batch, in a Produce request.
        commits: whether EndTxn, or a marker, commits.
        want_fence: whether a heartbeat asks to be fenced.
        want_shut_down: whether a heartbeat asks to be let go.
        is_fenced: whether the answer to a heartbeat says that the broker is fenced.
    """

    error: int | None = None
    session_id: int | None = None
    session_epoch: int | None = None
    last_fetched_epoch: int | None = None
    high_watermark: int | None = None
    log_start_offset: int | None = None
    has_records: bool | None = None
    record_count: int | None = None
    has_diverging_epoch: bool | None = None
    end_offset: int | None = None
    leader_epoch: int | None = None
    leader: int | None = None
    isr: frozenset[int] | None = None
    partition_epoch: int | None = None
    controller_epoch: int | None = None
    broker_epoch: int | None = None
    is_deleted: bool | None = None
    acks: int | None = None
    base_offset: int | None = None
    transactional_id: str | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    base_sequence: int | None = None
    commits: bool | None = None
    want_fence: bool | None = None
    want_shut_down: bool | None = None
    is_fenced: bool | None = None

    @property
    def wanted(self) -> dict[str, Any]:
        """Return the conditions by the name of their field."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in named if value is not None}

    @property
    def text(self) -> str:
        """Return the conditions in words, empty if there are none."""
        shown = {**self.wanted, **({"isr": sorted(self.isr)} if self.isr is not None else {})}
        return ", ".join(f"{name} {value}" for name, value in shown.items())


ANYTHING = Content()


def agreeing(
    content: Content, view: RequestView | ResponseView | None, entries: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    """Return the entries of a frame that meet all conditions; None if the frame does not meet them.

    Args:
        content: the conditions.
        view: the frame.
        entries: those of its partitions that are looked at.
    """
    if content == ANYTHING:
        return entries
    if view is None:
        return None
    message: Any = type(view)
    of_message, of_entries = _conditions(content, message)
    if any(not _is(getattr(view, name), value) for name, value in of_message.items()):
        return None
    agreed = tuple(entry for entry in entries if _agrees(entry, of_entries))
    if of_entries and not agreed:
        return None
    return agreed if content.error is None else _with_error(content.error, view, agreed)


@lru_cache(maxsize=256)
def _conditions(content: Content, message: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the conditions on fields of a message and those on its partitions; an error may stand in either."""
    wanted = {name: value for name, value in content.wanted.items() if name != "error"}
    of_message = {name: value for name, value in wanted.items() if hasattr(message, name)}
    return of_message, {name: value for name, value in wanted.items() if name not in of_message}


def _with_error(error: int, view: Any, entries: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the entries with an error; None if neither they nor the message itself tells it."""
    top = getattr(view, "error", 0)
    agreed = tuple(entry for entry in entries if (top or getattr(entry, "error", 0)) == error)
    return agreed if agreed or (not entries and top == error) else None


def _agrees(entry: Any, wanted: dict[str, Any]) -> bool:
    return all(hasattr(entry, name) and _is(getattr(entry, name), value) for name, value in wanted.items())


def _is(value: Any, wanted: Any) -> bool:
    return frozenset(value) == wanted if isinstance(wanted, frozenset) else bool(value == wanted)


# Of which classes are the message of an api and the partitions in it, so that a field's name can be checked?


Form = tuple[type, ...]
"""The class of a message and, if it has any, of its partitions."""

REQUEST_FORMS: Mapping[int, Form] = {
    0: (ProduceRequestView, ProducedPartition),
    1: (FetchRequestView, FetchPartition),
    4: (LeaderAndIsrView, PartitionLeadership),
    5: (StopReplicaView, StoppedReplica),
    6: (UpdateMetadataView, PartitionLeadership),
    7: (ControlledShutdownView,),
    22: (InitProducerIdView,),
    23: (EpochRequestView, EpochQuery),
    24: (AddPartitionsToTxnView, AddedPartition),
    25: (AddOffsetsToTxnView,),
    26: (EndTxnView,),
    27: (WriteTxnMarkersView, MarkedPartition),
    28: (TxnOffsetCommitView, CommittedOffset),
    56: (AlterPartitionView, ProposedIsr),
    62: (BrokerRegistrationView,),
    63: (BrokerHeartbeatView,),
}
RESPONSE_FORMS: Mapping[int, Form] = {
    0: (ProduceResponseView, AppendedPartition),
    1: (FetchResponseView, FetchedPartition),
    4: (ErrorsView, PartitionError),
    5: (ErrorsView, PartitionError),
    6: (ErrorsView,),
    7: (ErrorsView,),
    22: (ProducerEpochView,),
    23: (EpochResponseView, EpochEndOffset),
    24: (ErrorsView, PartitionError),
    25: (ErrorsView,),
    26: (ProducerEpochView,),
    27: (ErrorsView, PartitionError),
    28: (ErrorsView, PartitionError),
    56: (AlterPartitionResponseView, CommittedIsr),
    62: (BrokerRegistrationResponseView,),
    63: (BrokerHeartbeatResponseView,),
}


def lacking(form: Form, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that are no field of a message or of its partitions."""
    return tuple(name for name in names if not any(hasattr(part, name) for part in form))
