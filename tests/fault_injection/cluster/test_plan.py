"""Does a cluster lead through the relay what it was asked to, and the rest directly?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.plan import ClusterPlan
from fault_injection.cluster.relay import ZOOKEEPER, Address, DirectRelay, LinkName
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, find_release


class RecordingRelay(DirectRelay):
    """Gives addresses of its own, as a relay does, without a port behind them."""

    def __init__(self) -> None:
        self.opened: dict[LinkName, Address] = {}

    def open(self, link: LinkName, upstream: Address) -> Address:
        self.opened[link] = upstream
        return ("relay", 1 + list(self.opened).index(link))


@pytest.fixture
def relay() -> RecordingRelay:
    return RecordingRelay()


def plan(relay: RecordingRelay, mode: MetadataMode, *, links: bool) -> Iterator[ClusterPlan]:
    release = find_release("3.9")
    spec = ClusterSpec(release, mode, broker_ids=(1, 2), client_links=links, zookeeper_links=links)
    planned = ClusterPlan(spec, Path("nowhere"), ProcessBackend, relay)  # type: ignore[arg-type]  # only its hosts
    yield planned
    planned.close()


@pytest.mark.parametrize("mode", MetadataMode)
def test_clients_and_zookeeper_are_reached_directly_unless_asked_otherwise(
    relay: RecordingRelay, mode: MetadataMode
) -> None:
    for planned in plan(relay, mode, links=False):
        assert {link.kind for link in relay.opened} <= {"replication", "controller"}
        for node in planned.nodes.values():
            assert "RELAYED" not in node.listeners.ports


@pytest.mark.parametrize("mode", MetadataMode)
def test_asked_links_lead_through_the_relay_to_the_nodes_behind_it(relay: RecordingRelay, mode: MetadataMode) -> None:
    for planned in plan(relay, mode, links=True):
        brokers = [node for node in planned.nodes.values() if "RELAYED" in node.listeners.ports]
        assert len(brokers) == len(planned.nodes) - 1
        for broker in brokers:
            link = LinkName.client(broker.node.id)
            assert broker.listeners.advertised["RELAYED"][0] == "relay"
            assert broker.listeners.advertised["CLIENT"][0] == "127.0.0.1"
            assert relay.opened[link] == broker.inbound[link] == ("127.0.0.1", broker.listeners.ports["RELAYED"])
            assert {host for host, _ in broker.listeners.metadata_addresses.values()} == {"relay"}


def test_each_broker_has_a_way_to_zookeeper_of_its_own(relay: RecordingRelay) -> None:
    for planned in plan(relay, MetadataMode.ZOOKEEPER, links=True):
        ways = {link.source: upstream for link, upstream in relay.opened.items() if link.destination == ZOOKEEPER}
        assert ways == dict.fromkeys((100, 1, 2), planned.metadata_address)
        metadata = next(iter(planned.nodes.values()))
        assert {link.source for link in metadata.inbound} == {100, 1, 2}


def test_brokers_reach_each_controller_through_the_relay_and_controllers_each_other_directly(
    relay: RecordingRelay,
) -> None:
    hosts = {101: "127.0.0.2", 102: "127.0.0.3"}
    spec = ClusterSpec(
        find_release("3.9"),
        MetadataMode.KRAFT,
        broker_ids=(1, 2),
        other_controller_ids=(101, 102),
        controller_hosts=hosts,
    )
    planned = ClusterPlan(spec, Path("nowhere"), ProcessBackend, relay)  # type: ignore[arg-type]  # only its hosts
    planned.close()
    first, second, third, *brokers = planned.nodes.values()
    assert [one.listeners.bind_host for one in (first, second, third)] == ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
    direct = first.listeners.metadata_addresses
    assert [host for host, _ in direct.values()] == ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
    for controller in (first, second, third):
        assert controller.listeners.metadata_addresses == direct
        assert controller.inbound == {
            LinkName.controller(controller.node.id, one): direct[controller.node.id] for one in (1, 2)
        }
    for broker in brokers:
        assert broker.listeners.metadata_addresses.keys() == {100, 101, 102}
        assert {host for host, _ in broker.listeners.metadata_addresses.values()} == {"relay"}
