"""Do clients elsewhere reach brokers where they are advertised, and nothing else there?"""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fault_injection.cluster.hosts import advertised_host
from fault_injection.cluster.readiness import brokers_known_to
from fault_injection.releases import UsageError
from tests.fault_injection.cluster.conftest import running_cluster, spec_of
from tests.fault_injection.cluster.namespaces import another_machine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fault_injection.cluster.lifecycle import Cluster
    from tests.fault_injection.cluster.conftest import NewBackend

pytestmark = [pytest.mark.broker, pytest.mark.timeout(300)]
BROKERS = (1, 2)
ASKING = """
from fault_injection.cluster.readiness import brokers_known_to
import socket, sys

def is_open(host, port):
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True

host, clients, others = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(",")
known = [sorted(brokers_known_to(f"{host}:{one}") or ()) for one in clients]
print(known, [one for one in others if is_open(host, one)])
"""


@pytest.fixture(scope="module", params=["0.10.2", "4.3"])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def elsewhere(version: str, new_backend: NewBackend, tmp_path: Path) -> Iterator[Cluster]:
    spec = replace(spec_of(version, BROKERS), advertised=advertised_host("127.0.0.2"), client_links=True)
    with running_cluster(spec, new_backend, tmp_path) as cluster:
        yield cluster


def is_open(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


def ports(cluster: Cluster) -> tuple[list[int], list[int]]:
    """Return the ports of CLIENT listeners, and those of all others."""
    each = [(name, port) for plan in cluster.plans for name, port in plan.listeners.ports.items()]
    return [port for name, port in each if name == "CLIENT"], [port for name, port in each if name != "CLIENT"]


def test_brokers_are_where_they_are_advertised_and_nothing_else_is(elsewhere: Cluster) -> None:
    known = {brokers_known_to(elsewhere.client_address(broker)) for broker in BROKERS}
    assert known == {frozenset(node.id for node in elsewhere.spec.broker_nodes)}
    clients, others = ports(elsewhere)
    assert {elsewhere.client_address(broker) for broker in BROKERS} <= {f"127.0.0.2:{port}" for port in clients}
    assert not [port for port in clients if is_open("127.0.0.1", port)]
    assert not [port for port in others if is_open("127.0.0.2", port)]
    assert [port for port in others if is_open(elsewhere.backend.host, port)] == others


@pytest.mark.parametrize("of_brokers", ["4.3"])
def test_another_machine_reaches_them_and_nothing_else(
    of_brokers: str, new_backend: NewBackend, tmp_path: Path
) -> None:
    with another_machine() as there:
        with pytest.raises(UsageError, match="no address of this machine"):
            advertised_host(there.own_address)
        spec = replace(spec_of(of_brokers, BROKERS), advertised=advertised_host(there.our_address), client_links=True)
        with running_cluster(spec, new_backend, tmp_path) as cluster:
            clients, others = ports(cluster)
            told = there.run(ASKING, there.our_address, ",".join(map(str, clients)), ",".join(map(str, others)))
        assert told == f"{[sorted(node.id for node in spec.broker_nodes)] * len(clients)} []"
