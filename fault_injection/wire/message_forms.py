"""Of which classes are the message of an api and the partitions in it, so that a field's name can be checked?"""

from collections.abc import Mapping

from fault_injection.wire.client_views import (
    AppendedPartition,
    ProducedPartition,
    ProduceRequestView,
    ProduceResponseView,
)
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
from fault_injection.wire.views import (
    EpochAnswer,
    EpochQuery,
    EpochRequestView,
    EpochResponseView,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
)

Form = tuple[type, ...]
"""The class of a message and, if it has any, of its partitions."""

REQUEST_FORMS: Mapping[int, Form] = {
    0: (ProduceRequestView, ProducedPartition),
    1: (FetchRequestView, FetchPartition),
    4: (LeaderAndIsrView, PartitionLeadership),
    5: (StopReplicaView, StoppedReplica),
    6: (UpdateMetadataView, PartitionLeadership),
    7: (ControlledShutdownView,),
    23: (EpochRequestView, EpochQuery),
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
    23: (EpochResponseView, EpochAnswer),
    56: (AlterPartitionResponseView, CommittedIsr),
    62: (BrokerRegistrationResponseView,),
    63: (BrokerHeartbeatResponseView,),
}


def lacking(form: Form, names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the names that are no field of a message or of its partitions."""
    return tuple(name for name in names if not any(hasattr(part, name) for part in form))
