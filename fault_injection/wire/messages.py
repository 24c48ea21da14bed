"""Which decoded messages are there?"""

from fault_injection.wire.controller_views import (
    AlterPartitionResponseView,
    AlterPartitionView,
    BrokerHeartbeatResponseView,
    BrokerHeartbeatView,
    BrokerRegistrationResponseView,
    BrokerRegistrationView,
    ControlledShutdownView,
    ErrorsView,
    LeaderAndIsrView,
    StopReplicaView,
    UpdateMetadataView,
)
from fault_injection.wire.transaction_views import (
    AddOffsetsToTxnView,
    AddPartitionsToTxnView,
    EndTxnView,
    InitProducerIdView,
    ProducerEpochView,
    TxnOffsetCommitView,
    WriteTxnMarkersView,
)
from fault_injection.wire.views import (
    EpochRequestView,
    EpochResponseView,
    FetchRequestView,
    FetchResponseView,
    ProduceRequestView,
    ProduceResponseView,
)

RequestView = (
    FetchRequestView
    | EpochRequestView
    | LeaderAndIsrView
    | UpdateMetadataView
    | StopReplicaView
    | ControlledShutdownView
    | AlterPartitionView
    | BrokerRegistrationView
    | BrokerHeartbeatView
    | ProduceRequestView
    | InitProducerIdView
    | AddPartitionsToTxnView
    | AddOffsetsToTxnView
    | EndTxnView
    | WriteTxnMarkersView
    | TxnOffsetCommitView
)
ResponseView = (
    FetchResponseView
    | EpochResponseView
    | ErrorsView
    | AlterPartitionResponseView
    | BrokerRegistrationResponseView
    | BrokerHeartbeatResponseView
    | ProduceResponseView
    | ProducerEpochView
)
