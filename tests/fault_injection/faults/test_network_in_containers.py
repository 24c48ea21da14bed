"""Do links of containers lead through the relay as those of processes do, and can a container leave its network?"""

from collections.abc import Iterator

import pytest

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import CLIENTS
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.fault import FaultError
from fault_injection.faults.network import Disconnect, cut
from fault_injection.releases import MetadataMode
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.conftest import new_docker_backend
from tests.fault_injection.cluster.topics import produce
from tests.fault_injection.faults.relayed_cluster import Client, await_partition, new_topic, relayed_cluster

pytestmark = [pytest.mark.broker, pytest.mark.docker]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, GateProxy]]:
    directory = tmp_path_factory.mktemp("cluster")
    with relayed_cluster("4.3.1", MetadataMode.KRAFT, new_docker_backend, directory) as running:
        yield running


def test_a_container_off_its_network_is_fenced_until_it_is_back(both: tuple[Cluster, GateProxy]) -> None:
    cluster, _ = both
    topic = new_topic(cluster, "alone")
    with FaultAccount(cluster) as account:
        assert Disconnect(1).heal(cluster) is None
        account.inject(Disconnect(1))
        with pytest.raises(FaultError, match="does not answer"):
            Disconnect(1).inject(cluster)
        await_partition(cluster, 2, topic, leader=2, isr={2})
    await_partition(cluster, 1, topic, leader=2, isr={1, 2})
    produce(cluster, topic, b"m0")


def test_clients_of_containers_are_cut_off_at_the_relay(both: tuple[Cluster, GateProxy]) -> None:
    cluster, gate = both
    client = Client(cluster, new_topic(cluster, "client"))
    assert client.outcome(b"heard") == ""
    with FaultAccount(cluster) as account:
        account.inject(cut(gate, CLIENTS, 1, at_heal="reset"))
        assert client.outcome(b"unheard") == "_MSG_TIMED_OUT"
    assert client.outcome(b"heard again") == ""
