"""A gate on real sockets between a stub of a leader and a connected follower."""

import socket
import threading
from collections.abc import Iterator

import pytest

from fault_injection.wire.gate_events import GateEvent
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.proxy.stub_leader import DEADLINE_S, LINK, Leader


@pytest.fixture
def leader() -> Iterator[Leader]:
    stub = Leader()
    yield stub
    stub.close()


@pytest.fixture
def events() -> list[GateEvent]:
    return []


@pytest.fixture
def proxy(events: list[GateEvent]) -> Iterator[GateProxy]:
    before = threading.active_count()
    with GateProxy(on_event=events.append) as gate_proxy:
        yield gate_proxy
    leaked = [thread.name for thread in threading.enumerate() if thread.name.startswith("wire-")]
    assert not leaked, f"{leaked} of {before}"


@pytest.fixture
def follower(proxy: GateProxy, leader: Leader) -> Iterator[socket.socket]:
    address = proxy.open(LINK, leader.address)
    with socket.create_connection(address, timeout=DEADLINE_S) as connected:
        yield connected
