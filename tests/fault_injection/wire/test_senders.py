"""Is the sender of a request known from what the request says?"""

import pytest

from fault_injection.wire.controller_views import (
    AlterPartitionView,
    BrokerHeartbeatView,
    ControlledShutdownView,
    LeaderAndIsrView,
    StopReplicaView,
    UpdateMetadataView,
)
from fault_injection.wire.messages import RequestView
from fault_injection.wire.readings import sender
from fault_injection.wire.views import EpochRequestView
from tests.fault_injection.wire.gate_transcript import fetch_of


@pytest.mark.parametrize(
    ("view", "client_id", "named"),
    [
        (fetch_of(follower=3), "ReplicaFetcherThread-0-1", 3),
        (fetch_of(follower=-1), "broker-3-fetcher-12", 3),
        (fetch_of(follower=-1), "consumer-1", None),
        (EpochRequestView(-2, ()), "broker-3-fetcher-0", 3),
        (EpochRequestView(3, ()), None, 3),
        (LeaderAndIsrView(3, 1, -1, ()), "9", 3),
        (UpdateMetadataView(3, 1, -1, (), ()), "9", 3),
        (StopReplicaView(3, 1, -1, ()), "9", 3),
        (AlterPartitionView(3, 1, ()), "9", 3),
        (ControlledShutdownView(3, 1), None, 3),
        (BrokerHeartbeatView(3, 1, 1, want_fence=False, want_shut_down=False), "9", 3),
        (None, "raft-client-3", 3),
        (None, "3", 3),
        (None, "ReplicaFetcherThread-0-3", None),
        (None, "broker-3-fetcher-0-extra", None),
        (None, "", None),
        (None, None, None),
    ],
)
def test_sender(view: RequestView | None, client_id: str | None, named: int | None) -> None:
    assert sender(view, client_id) == named
