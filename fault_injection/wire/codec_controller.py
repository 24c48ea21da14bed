"""How do the controller's messages become views of ours?

Before LeaderAndIsr v2, UpdateMetadata v5 and StopReplica v1 the partitions are one flat list that names
the topic in each entry; later they are grouped by topic.
"""

from collections.abc import Iterator
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

# ruff: noqa: ANN401 - kafka-python is untyped


def leader_and_isr(message: Any) -> LeaderAndIsrView:
    """View a LeaderAndIsr request."""
    return LeaderAndIsrView(
        message.controller_id, message.controller_epoch, message.broker_epoch, tuple(_leaderships(message))
    )


def update_metadata(message: Any) -> UpdateMetadataView:
    """View an UpdateMetadata request."""
    return UpdateMetadataView(
        controller_id=message.controller_id,
        controller_epoch=message.controller_epoch,
        broker_epoch=message.broker_epoch,
        live_brokers=tuple(broker.id for broker in message.live_brokers),
        partitions=tuple(_leaderships(message)),
    )


def _leaderships(message: Any) -> Iterator[PartitionLeadership]:
    for state in message.ungrouped_partition_states or ():
        yield _leadership(state.topic_name, None, state)
    for topic in message.topic_states or ():
        for state in topic.partition_states:
            yield _leadership(topic.topic_name, topic.topic_id, state)


def _leadership(topic: str, topic_id: Any, state: Any) -> PartitionLeadership:
    fields = type(state).fields
    return PartitionLeadership(
        topic=topic,
        topic_id=topic_id,
        partition=state.partition_index,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=tuple(state.isr),
        replicas=tuple(state.replicas),
        partition_epoch=state.partition_epoch if "partition_epoch" in fields else state.zk_version,
        controller_epoch=state.controller_epoch,
        is_new="is_new" in fields and bool(state.is_new),
    )


def stop_replica(message: Any) -> StopReplicaView:
    """View a StopReplica request."""
    return StopReplicaView(
        message.controller_id, message.controller_epoch, message.broker_epoch, tuple(_stopped(message))
    )


def _stopped(message: Any) -> Iterator[StoppedReplica]:
    for entry in message.ungrouped_partitions or ():
        yield StoppedReplica(entry.topic_name, entry.partition_index, bool(message.delete_partitions))
    for topic in message.topics or ():
        for partition in topic.partition_indexes:
            yield StoppedReplica(topic.name, partition, bool(message.delete_partitions))
    for topic in message.topic_states or ():
        for state in topic.partition_states:
            yield StoppedReplica(
                topic.topic_name, state.partition_index, bool(state.delete_partition), state.leader_epoch
            )


def leader_and_isr_response(message: Any) -> ErrorsView:
    """View a LeaderAndIsr response."""
    flat = [PartitionError(e.topic_name, None, e.partition_index, e.error_code) for e in message.partition_errors or ()]
    grouped = [
        PartitionError(None, topic.topic_id, entry.partition_index, entry.error_code)
        for topic in message.topics or ()
        for entry in topic.partition_errors
    ]
    return ErrorsView(message.error_code, tuple(flat + grouped))


def stop_replica_response(message: Any) -> ErrorsView:
    """View a StopReplica response."""
    errors = (PartitionError(e.topic_name, None, e.partition_index, e.error_code) for e in message.partition_errors)
    return ErrorsView(message.error_code, tuple(errors))


def plain_response(message: Any) -> ErrorsView:
    """View an answer of which only the error matters."""
    return ErrorsView(message.error_code)


def controlled_shutdown(message: Any) -> ControlledShutdownView:
    """View a ControlledShutdown request."""
    return ControlledShutdownView(message.broker_id, message.broker_epoch)


def alter_partition(message: Any) -> AlterPartitionView:
    """View an AlterPartition or AlterIsr request; from v3 the in-sync replicas come with broker epochs."""
    return AlterPartitionView(
        broker_id=message.broker_id,
        broker_epoch=message.broker_epoch,
        partitions=tuple(_proposed(topic, entry) for topic in message.topics for entry in topic.partitions),
    )


def _proposed(topic: Any, entry: Any) -> ProposedIsr:
    with_epochs = tuple(state.broker_id for state in entry.new_isr_with_epochs or ())
    return ProposedIsr(
        topic=topic.topic_name or None,
        topic_id=topic.topic_id,
        partition=entry.partition_index,
        leader_epoch=entry.leader_epoch,
        new_isr=with_epochs or tuple(entry.new_isr or ()),
        partition_epoch=entry.partition_epoch,
        leader_recovery_state=entry.leader_recovery_state,
    )


def alter_partition_response(message: Any) -> AlterPartitionResponseView:
    """View an AlterPartition or AlterIsr response."""
    return AlterPartitionResponseView(
        error=message.error_code,
        throttle_time_ms=message.throttle_time_ms,
        partitions=tuple(_committed(topic, entry) for topic in message.topics for entry in topic.partitions),
    )


def _committed(topic: Any, entry: Any) -> CommittedIsr:
    return CommittedIsr(
        topic=topic.topic_name or None,
        topic_id=topic.topic_id,
        partition=entry.partition_index,
        error=entry.error_code,
        leader=entry.leader_id,
        leader_epoch=entry.leader_epoch,
        isr=tuple(entry.isr),
        partition_epoch=entry.partition_epoch,
    )


def broker_registration(message: Any) -> BrokerRegistrationView:
    """View a BrokerRegistration request."""
    return BrokerRegistrationView(message.broker_id, message.incarnation_id, message.previous_broker_epoch)


def broker_registration_response(message: Any) -> BrokerRegistrationResponseView:
    """View a BrokerRegistration response."""
    return BrokerRegistrationResponseView(message.error_code, message.broker_epoch)


def broker_heartbeat(message: Any) -> BrokerHeartbeatView:
    """View a BrokerHeartbeat request."""
    return BrokerHeartbeatView(
        message.broker_id,
        message.broker_epoch,
        message.current_metadata_offset,
        bool(message.want_fence),
        bool(message.want_shut_down),
    )


def broker_heartbeat_response(message: Any) -> BrokerHeartbeatResponseView:
    """View a BrokerHeartbeat response."""
    return BrokerHeartbeatResponseView(
        message.error_code,
        bool(message.is_caught_up),
        bool(message.is_fenced),
        bool(message.should_shut_down),
    )
