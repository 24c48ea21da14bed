"""Does a puppet speak in versions that the other side has, and say so where there is none?"""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from fault_injection.puppets.connection import (
    API_VERSIONS,
    CLIENT_MESSAGES,
    FETCH,
    PRODUCE,
    PuppetConnection,
    PuppetError,
)
from fault_injection.puppets.leader import LeaderPuppet
from fault_injection.puppets.server import UNSUPPORTED_VERSION, PuppetServer


def test_the_newest_common_version_is_spoken(leader: LeaderPuppet) -> None:
    connection = PuppetConnection(leader.address, "1")

    assert connection.newest_version(FETCH) == CLIENT_MESSAGES[FETCH].request.max_version
    with pytest.raises(PuppetError, match="ProduceRequest: none that the tester has"):
        connection.newest_version(PRODUCE)
    connection.close()


def test_a_port_that_refuses_is_an_error_with_a_name() -> None:
    leader = LeaderPuppet(2)
    connection = PuppetConnection(leader.address, "1")
    leader.die()

    with pytest.raises(PuppetError, match=f"127.0.0.1:{leader.address[1]}: no answer to ApiVersionsRequest v0"):
        connection.newest_version(FETCH)
    leader.close()


def test_an_answer_that_does_not_come_is_not_awaited_forever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connection = PuppetConnection(silent.getsockname(), "1", timeout_s=0.05)
        with pytest.raises(PuppetError, match="timed out"):
            connection.ask(API_VERSIONS, {}, version=0)


def test_a_connection_that_was_closed_while_it_was_idle_is_opened_again() -> None:
    answer = bytes(4) + bytes(2) + bytes(4)  # correlation id, no error, no versions
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        connection = PuppetConnection(server.getsockname(), "1")
        with ThreadPoolExecutor(1) as other:
            for _ in range(2):
                asked = other.submit(connection.ask, API_VERSIONS, {}, version=0)
                broker, _ = server.accept()
                with broker:
                    broker.recv(4096)
                    broker.sendall(len(answer).to_bytes(4, "big") + answer)
                    assert asked.result(5).error_code == 0
        connection.close()


def test_a_newer_question_about_versions_is_answered_in_the_oldest(leader: LeaderPuppet) -> None:
    beyond = int(CLIENT_MESSAGES[API_VERSIONS].request.max_version) + 1
    header = API_VERSIONS.to_bytes(2, "big") + beyond.to_bytes(2, "big") + (9).to_bytes(4, "big") + b"\xff\xff"
    with socket.create_connection(leader.address, 5) as connected:
        connected.sendall(len(header).to_bytes(4, "big") + header)
        answer = connected.recv(4096)

    assert answer[4:8] == (9).to_bytes(4, "big")
    assert int.from_bytes(answer[8:10], "big") == UNSUPPORTED_VERSION


def test_a_puppet_that_fails_says_so() -> None:
    def fail(_asked: object) -> dict[str, object]:
        raise ZeroDivisionError("a defect")

    server = PuppetServer({FETCH: fail}, CLIENT_MESSAGES)
    server.listen()
    connection = PuppetConnection(server.address, "1")
    with pytest.raises(PuppetError):
        connection.ask(FETCH, {"topics": []}, version=4)
    connection.close()
    server.close()

    assert server.failures == ["ZeroDivisionError: a defect"]
    assert not [thread for thread in threading.enumerate() if thread.name == f"puppet-{server.address[1]}"]


def test_what_a_puppet_does_not_serve_is_named(leader: LeaderPuppet) -> None:
    connection = PuppetConnection(leader.address, "1")
    with pytest.raises(PuppetError):
        connection.ask(PRODUCE, {"topic_data": []}, version=3)
    connection.close()
    leader.die()

    assert leader.server.failures == ["NotServedError: Produce was asked, which this puppet does not serve"]
    leader.server.failures.clear()
