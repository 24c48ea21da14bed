"""Does a broker that is absent, silent or babbling end a probe with an error that says so?"""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from conformance.probes.connection import BrokerConnection, ProbeError, partition_metadata


@contextmanager
def server(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Accept one connection after the other, each served in turn, until the test is over."""
    listening = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                accepted, _ = listening.accept()
            except OSError:
                return
            with accepted:
                serve(accepted)

    thread = threading.Thread(target=accept)
    thread.start()
    host, port = listening.getsockname()
    try:
        yield f"{host}:{port}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def ask_metadata(address: str, timeout_s: float = 2) -> None:
    with BrokerConnection(address, timeout_s) as connection:
        partition_metadata(connection, "t", 0)


def test_nobody_listens() -> None:
    with pytest.raises(ProbeError, match=r"127\.0\.0\.1:1: no answer: .*refused") as failed:
        ask_metadata("127.0.0.1:1")
    assert (failed.value.address, failed.value.error) == ("127.0.0.1:1", None)


def test_a_broker_that_is_silent() -> None:
    with server(_read_all) as address, pytest.raises(ProbeError, match="timed out"):
        ask_metadata(address, timeout_s=0.2)


def test_a_broker_that_hangs_up() -> None:
    with server(lambda _: None) as address, pytest.raises(ProbeError, match="no answer"):
        ask_metadata(address)


def test_a_frame_that_no_broker_sends() -> None:
    with (
        server(lambda accepted: accepted.sendall(struct.pack(">i", -5))) as address,
        pytest.raises(ProbeError, match="a frame of -5 bytes"),
    ):
        ask_metadata(address)


def test_an_answer_to_another_question() -> None:
    frame = struct.pack(">iihi", 10, 99, 0, 0)
    with (
        server(lambda accepted: accepted.sendall(frame)) as address,
        pytest.raises(ProbeError, match="answer 99 to question 1"),
    ):
        ask_metadata(address)


def test_an_answer_that_cannot_be_decoded() -> None:
    frame = struct.pack(">iihi", 10, 1, 0, 1000)
    with (
        server(lambda accepted: accepted.sendall(frame)) as address,
        pytest.raises(ProbeError, match="10 bytes are no ApiVersionsResponse v0"),
    ):
        ask_metadata(address)


def test_a_refused_question_has_the_brokers_error() -> None:
    frame = struct.pack(">iihi", 10, 1, 29, 0)
    with (
        server(lambda accepted: accepted.sendall(frame)) as address,
        pytest.raises(ProbeError, match="TOPIC_AUTHORIZATION_FAILED") as failed,
    ):
        ask_metadata(address)
    assert failed.value.error == "TOPIC_AUTHORIZATION_FAILED"


def test_a_broker_without_the_question() -> None:
    with (
        server(lambda accepted: _answer_once(accepted, struct.pack(">iihi", 10, 1, 0, 0))) as address,
        pytest.raises(ProbeError, match="no Metadata"),
    ):
        ask_metadata(address)


def _read_all(accepted: socket.socket) -> None:
    while accepted.recv(1024):
        pass


def _answer_once(accepted: socket.socket, frame: bytes) -> None:
    accepted.recv(1024)
    accepted.sendall(frame)
    _read_all(accepted)
