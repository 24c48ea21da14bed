"""A gate on real sockets, and a node behind it: what tests of the proxy have in common."""

import threading
from collections.abc import Iterator

import pytest

from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.wire.stub_node import StubNode


@pytest.fixture
def leader() -> Iterator[StubNode]:
    node = StubNode()
    yield node
    node.close()


@pytest.fixture
def proxy() -> Iterator[GateProxy]:
    with GateProxy() as gate_proxy:
        yield gate_proxy
        assert gate_proxy.failures == ()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("wire-")]
