"""Which broker sent a request?

| request | where it names its sender |
|---|---|
| FETCH | replica id (up to v14), ReplicaState (v15+); negative for consumers |
| OffsetsForLeaderEpoch | replica id (v3+), before that the client id |
| LeaderAndIsr, UpdateMetadata, StopReplica | controller id |
| AlterPartition, ControlledShutdown, BrokerRegistration, BrokerHeartbeat | broker id |
| any other | client id: ``broker-2-fetcher-0`` (0.11+), ``raft-client-2``, or the bare broker id |

In 0.10.2 the client id of a fetcher is its thread name, which names the leader: it is not read.
"""

import re

from fault_injection.wire.client_views import ProduceRequestView
from fault_injection.wire.controller_views import (
    AlterPartitionView,
    BrokerHeartbeatView,
    BrokerRegistrationView,
    ControlledShutdownView,
    LeaderAndIsrView,
    StopReplicaView,
    UpdateMetadataView,
)
from fault_injection.wire.messages import RequestView
from fault_injection.wire.views import EpochRequestView, FetchRequestView

_CLIENT_IDS = re.compile(r"(?:broker-(\d+)-fetcher-\d+|raft-client-(\d+)|(\d+))")


def sender(view: RequestView | None, client_id: str | None) -> int | None:
    """Give the broker that sent a request, None if nothing in the request tells."""
    named = sender_by_view(view)
    return named if named is not None else sender_by_client_id(client_id)


def sender_by_view(view: RequestView | None) -> int | None:
    """Give the broker a decoded request names as its sender."""
    match view:
        case FetchRequestView(replica_id=named) | EpochRequestView(replica_id=named):
            return named if named >= 0 else None
        case LeaderAndIsrView() | UpdateMetadataView() | StopReplicaView():
            return view.controller_id
        case AlterPartitionView() | ControlledShutdownView() | BrokerRegistrationView() | BrokerHeartbeatView():
            return view.broker_id
        case ProduceRequestView() | None:
            return None


def sender_by_client_id(client_id: str | None) -> int | None:
    """Give the broker a client id names."""
    match = _CLIENT_IDS.fullmatch(client_id or "")
    return int(next(group for group in match.groups() if group is not None)) if match is not None else None
