"""Do links of containers lead through the relay as those of processes do, and can a container leave its network?"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import docker
import pytest

from fault_injection.cluster.backends.container_image import present_jre
from fault_injection.cluster.backends.container_shell import OWNER_LABEL, owner_of_this_process
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import CLIENTS, LinkName
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.network import cut
from fault_injection.releases import MetadataMode
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.conftest import new_docker_backend
from tests.fault_injection.faults.relayed_cluster import Client, new_topic, relayed_cluster

ANSWERED = b"\x00\x00\x00\x07"
"""The correlation id of the request that is answered."""

pytestmark = [pytest.mark.broker, pytest.mark.docker]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, GateProxy]]:
    directory = tmp_path_factory.mktemp("cluster")
    with relayed_cluster("4.3.1", MetadataMode.KRAFT, new_docker_backend, directory) as running:
        yield running


def test_clients_of_containers_are_cut_off_at_the_relay(both: tuple[Cluster, GateProxy]) -> None:
    cluster, gate = both
    client = Client(cluster, new_topic(cluster, "client"))
    assert client.outcome(b"heard") == ""
    with FaultAccount(cluster) as account:
        account.inject(cut(gate, CLIENTS, 1, at_heal="reset"))
        assert client.outcome(b"unheard") == "_MSG_TIMED_OUT"
    assert client.outcome(b"heard again") == ""


def test_the_relay_of_containers_serves_no_container_of_another_network(both: tuple[Cluster, GateProxy]) -> None:
    """A request of a container on Docker's own bridge is answered by nobody, one from the nodes' network by the broker.

    Negative control: a relay that takes everybody's connections lets the foreign container through to the broker.
    """
    cluster, gate = both
    plan = next(plan for plan in cluster.plans if LinkName.client(1) in plan.inbound)
    behind = plan.inbound[LinkName.client(1)]
    before = gate.strangers
    with closing(docker.from_env()) as client, GateProxy(behind[0], ["0.0.0.0/0"]) as open_to_all:
        nodes = client.containers.list(filters={"label": f"{OWNER_LABEL}={owner_of_this_process()}"})
        (own,) = nodes[0].attrs["NetworkSettings"]["Networks"]
        relayed = plan.listeners.advertised["RELAYED"]
        assert _answer_to(client, own, relayed) == ANSWERED
        assert gate.strangers == before
        assert _answer_to(client, "bridge", relayed) == b""
        assert gate.strangers == before + 1
        assert _answer_to(client, "bridge", open_to_all.open(LinkName.client(1), behind)) == ANSWERED


def _answer_to(client: Any, network: str, address: tuple[str, int]) -> bytes:  # noqa: ANN401 - untyped library
    """Return the head of what a container on a network is answered to an ApiVersions request with correlation id 7."""
    request = r"\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x07\xff\xff"
    talk = f"exec 3<>/dev/tcp/{address[0]}/{address[1]}; printf '{request}' >&3; head -c 8 <&3 | tail -c 4"
    caller = client.containers.run(
        present_jre(client, None), ["-c", talk], entrypoint="bash", network=network, detach=True
    )
    try:
        caller.wait()
        return bytes(caller.logs(stdout=True, stderr=False))
    finally:
        caller.remove(force=True)
