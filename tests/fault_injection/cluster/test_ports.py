"""Is a reserved port the broker's alone, dead or alive?"""

import socket
from collections.abc import Iterator

import pytest

from fault_injection.cluster.plan import PortReservation


@pytest.fixture
def reservation() -> Iterator[PortReservation]:
    reserved = PortReservation()
    yield reserved
    reserved.close()


def listening(port: int) -> socket.socket:
    """Listen as Java does: with SO_REUSEADDR."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen()
    return server


def test_ports_differ(reservation: PortReservation) -> None:
    assert len({reservation.port() for _ in range(20)}) == 20


def test_a_broker_can_listen_die_and_listen_again(reservation: PortReservation) -> None:
    port = reservation.port()
    for _ in range(2):
        with listening(port), socket.create_connection(("127.0.0.1", port), timeout=2):
            pass


def test_a_dead_brokers_port_refuses_and_nobody_else_gets_it(reservation: PortReservation) -> None:
    port = reservation.port()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=2)
    with socket.socket() as foreign, pytest.raises(OSError, match="in use"):
        foreign.bind(("127.0.0.1", port))


def test_closing_gives_the_ports_back() -> None:
    reservation = PortReservation()
    port = reservation.port()
    reservation.close()
    with socket.socket() as anybody:
        anybody.bind(("127.0.0.1", port))
