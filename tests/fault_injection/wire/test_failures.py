"""When the tester itself fails while it moves frames, is that known, and are the frames moved all the same?"""

import gc
import socket
import threading
import warnings
from collections.abc import Iterator

import pytest

from fault_injection.cluster.relay import LinkName
from fault_injection.waiting import until
from fault_injection.wire.gate_events import GateEvent, HoldStatus
from fault_injection.wire.impairments import LinkDelay, LinkDirection
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from fault_injection.wire.proxy_endpoint import Endpoint
from tests.fault_injection.wire.frames_of import fetch_request

DEADLINE_S = 10.0


@pytest.fixture
def destination() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE_S)
        yield listener


def full_disk(_: GateEvent) -> None:
    raise OSError(28, "No space left on device")


def test_a_listener_that_fails_costs_no_connection(destination: socket.socket) -> None:
    with GateProxy(on_event=full_disk) as proxy:
        follower = socket.create_connection(proxy.open(LinkName.replication(1), destination.getsockname()))
        accepted, _ = destination.accept()
        with follower, accepted:
            accepted.settimeout(DEADLINE_S)
            proxy.arm("gap", Point("fetch_request"))
            follower.sendall(fetch_request(offset=0))
            until(lambda: proxy.status("gap") is HoldStatus.CAUGHT, deadline_s=DEADLINE_S, what="a caught frame")
            proxy.release("gap")

            assert accepted.recv(1 << 16) == fetch_request(offset=0)
            assert set(proxy.failures) == {"OSError: [Errno 28] No space left on device"}


def test_a_defect_that_ends_a_connection_is_known(destination: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    def defect(*_: object) -> None:
        raise KeyError("replica")

    monkeypatch.setattr("fault_injection.wire.proxy.Gate.on_request", defect)
    with GateProxy() as proxy:
        with socket.create_connection(proxy.open(LinkName.replication(1), destination.getsockname())) as follower:
            follower.settimeout(DEADLINE_S)
            follower.sendall(fetch_request(offset=0))

            with pytest.raises(ConnectionResetError):
                follower.recv(1)
        assert proxy.failures == ("KeyError: 'replica'",)


def test_a_late_frame_without_a_thread_ends_its_connection(
    destination: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_late_thread(thread: threading.Thread) -> None:
        if thread.name.startswith("wire-late"):
            raise RuntimeError("can't start new thread")
        start(thread)

    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", no_late_thread)
    with GateProxy() as proxy:
        proxy.network.impose("far", LinkDelay((LinkDirection(),), 10))
        with socket.create_connection(proxy.open(LinkName.replication(1), destination.getsockname())) as follower:
            follower.settimeout(DEADLINE_S)
            follower.sendall(fetch_request(offset=0))
            with pytest.raises(ConnectionResetError):
                follower.recv(1)
        until(lambda: not proxy.network.count(LinkDirection()), deadline_s=DEADLINE_S, what="the end of the connection")
        proxy.network.lift("far")
        assert proxy.valve.is_open
        assert proxy.failures == ("RuntimeError: can't start new thread",)


def test_a_defect_that_meets_a_late_frame_is_known(destination: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    def defect(*_: object) -> None:
        raise KeyError("replica")

    monkeypatch.setattr("fault_injection.wire.proxy.Gate.on_forwarded", defect)
    with GateProxy() as proxy:
        proxy.network.impose("far", LinkDelay((LinkDirection(),), 10))
        with socket.create_connection(proxy.open(LinkName.replication(1), destination.getsockname())) as follower:
            follower.settimeout(DEADLINE_S)
            follower.sendall(fetch_request(offset=0))
            with pytest.raises(ConnectionResetError):
                follower.recv(1)
        proxy.network.lift("far")
        assert proxy.failures == ("KeyError: 'replica'",)


def test_a_port_that_is_taken_costs_no_socket(destination: socket.socket) -> None:
    endpoint = Endpoint(destination.getsockname(), lambda *_: None)
    with warnings.catch_warnings(record=True) as leaked:
        warnings.simplefilter("always")
        with pytest.raises(OSError, match="in use"):
            endpoint.listen()
        gc.collect()
    assert [str(warning.message) for warning in leaked] == []


def test_traffic_without_trouble_has_no_failures(destination: socket.socket) -> None:
    with GateProxy() as proxy:
        with socket.create_connection(proxy.open(LinkName.replication(1), destination.getsockname())) as follower:
            accepted, _ = destination.accept()
            with accepted:
                accepted.settimeout(DEADLINE_S)
                follower.sendall(fetch_request(offset=0))
                assert accepted.recv(1 << 16) == fetch_request(offset=0)
        assert proxy.failures == ()
