"""Is a broker cut off from the others, behind the gate's relay, and does it come back?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_injection.cluster.backend import Backend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.faults.network import isolate
from fault_injection.releases import jars_of
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.conftest import spec_of
from tests.fault_injection.cluster.topics import await_isr, consume, create_topic, produce

pytestmark = pytest.mark.broker


@pytest.fixture
def gate(backend: Backend) -> Iterator[GateProxy]:
    with GateProxy(backend.host, backend.peers) as gate:
        yield gate


def test_an_isolated_broker_is_unregistered_until_it_is_back(backend: Backend, gate: GateProxy, tmp_path: Path) -> None:
    spec = spec_of("4.3", broker_ids=(1, 2))
    with Cluster.start(spec, jars_of(spec.release), backend, gate, tmp_path) as cluster:
        create_topic(cluster, "replicated", [1, 2])
        produce(cluster, "replicated", b"m0")
        await_isr(cluster, "replicated", {1, 2})
        alone = isolate(gate, 2, by="reset")
        alone.inject(cluster)
        assert cluster.is_alive(2)
        await_unregistered(cluster, 2)
        await_isr(cluster, "replicated", {1})
        produce(cluster, "replicated", b"m1")
        alone.heal(cluster)
        await_registered(cluster, 2)
        await_isr(cluster, "replicated", {1, 2})
        cluster.kill(1)
        await_unregistered(cluster, 1)
        assert consume(cluster, "replicated", 2) == [b"m0", b"m1"]


def test_a_killed_broker_keeps_its_relay_address(backend: Backend, gate: GateProxy, tmp_path: Path) -> None:
    spec = spec_of("0.10.2", broker_ids=(1, 2))
    with Cluster.start(spec, jars_of(spec.release), backend, gate, tmp_path) as cluster:
        create_topic(cluster, "replicated", [1, 2])
        produce(cluster, "replicated", b"m0")
        cluster.kill(2)
        await_unregistered(cluster, 2)
        cluster.start_broker(2)
        await_registered(cluster, 2)
        await_isr(cluster, "replicated", {1, 2})
        cluster.kill(1)
        await_unregistered(cluster, 1)
        assert consume(cluster, "replicated", 1) == [b"m0"]
