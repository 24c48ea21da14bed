"""A Spark master that cannot be had is known within seconds, and one that Spark alone can judge is left to Spark."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest

from conformance.spark_master import SparkMasterError, check_master

if TYPE_CHECKING:
    from collections.abc import Iterator

QUICKLY_S = 3.0


@pytest.fixture
def open_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port whose queue is full: whoever connects hears nothing, as from behind a firewall."""
    with socket.socket() as server, socket.socket() as first, socket.socket() as second:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


@pytest.mark.parametrize("master", ["local", "local[*]", "local[2]", "local[2,3]", "yarn", "k8s://https://127.0.0.1:1"])
def test_only_a_standalone_master_is_knocked_at(master: str) -> None:
    check_master(master)


def test_a_master_that_listens_is_taken_also_where_another_stands_by(open_port: int, closed_port: int) -> None:
    check_master(f"spark://127.0.0.1:{open_port}")
    check_master(f"spark://127.0.0.1:{closed_port},localhost:{open_port}")


def test_a_port_where_nothing_listens_is_named(closed_port: int) -> None:
    with pytest.raises(SparkMasterError) as refused:
        check_master(f"spark://127.0.0.1:{closed_port}")

    assert str(refused.value).startswith(
        f"--spark-master spark://127.0.0.1:{closed_port}: no Spark master can be reached "
        f"(127.0.0.1:{closed_port}: Connection refused). Start it, "
    )


def test_an_address_that_never_answers_is_given_up_in_time(silent_port: int) -> None:
    began = time.monotonic()
    with pytest.raises(SparkMasterError, match="timed out"):
        check_master(f"spark://127.0.0.1:{silent_port},127.0.0.1:{silent_port}", deadline_s=0.5)

    assert 0.4 < time.monotonic() - began < QUICKLY_S


@pytest.mark.parametrize(
    "master", ["spark://localhost", "spark://:7077", "spark://h:x", "spark://h:0", "spark://h:65536"]
)
def test_an_address_without_host_or_port_is_refused(master: str) -> None:
    with pytest.raises(SparkMasterError, match="is not HOST:PORT, such as"):
        check_master(master)


@pytest.mark.parametrize("master", ["", "local[x]", "localhost:7077", "mesos://h:5050", "spark:/h:1"])
def test_what_is_no_master_of_spark_is_refused(master: str) -> None:
    with pytest.raises(SparkMasterError, match="but no such master"):
        check_master(master)
