"""A broker's gauges are read as a JVM's are: here it is the reader's own kind of JVM that shows some."""

from __future__ import annotations

import socket
import subprocess
from typing import TYPE_CHECKING, Self

import pytest
from py4j.java_gateway import find_jar_path
from pyspark.errors.exceptions.captured import install_exception_handler

from conformance.probes.connection import ProbeError
from conformance.probes.jmx import GaugeReader
from fault_injection.cluster.launches import jmx_options
from fault_injection.cluster.plan import PortReservation
from fault_injection.releases import find_java
from fault_injection.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.cluster.relay import Address

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]
"""It takes a Java; no broker is started."""
HOST = "127.0.0.1"
DEADLINE_S = 30.0
THREADS = "java.lang:type=Threading"


class ShownJvm:
    """A JVM that shows its gauges; a context manager that ends it."""

    def __init__(self, address: Address) -> None:
        command = [str(find_java().executable), "-Xmx64m", *jmx_options(HOST, address)]
        server = ["-cp", find_jar_path(), "py4j.GatewayServer", "--die-on-broken-pipe", "0"]
        self._process = subprocess.Popen([*command, *server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._address = address

    def __enter__(self) -> Self:
        until(self._listens, deadline_s=DEADLINE_S, what="a JVM that shows its gauges")
        return self

    def _listens(self) -> bool:
        try:
            socket.create_connection(self._address, timeout=1).close()
        except OSError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    """Where a JVM may show its gauges."""
    ports = PortReservation(HOST)
    yield HOST, ports.port()
    ports.close()


@pytest.fixture(scope="module")
def shown(address: Address, reader: GaugeReader) -> Iterator[Address]:
    """A JVM that shows its gauges."""
    with ShownJvm(address):
        await_gauges(reader, address)
        yield address


def await_gauges(reader: GaugeReader, address: Address) -> None:
    """Wait until a JVM's gauges can be read: it listens a moment earlier."""

    def are_read() -> bool:
        try:
            return reader.number(address, THREADS, "ThreadCount") is not None
        except ProbeError:
            return False

    until(are_read, deadline_s=DEADLINE_S, what="gauges that can be read")


@pytest.fixture(scope="module")
def reader() -> Iterator[GaugeReader]:
    """A reader in a process that has used Spark, which puts its own exceptions in the place of every gateway's."""
    install_exception_handler()
    with GaugeReader() as reader:
        yield reader


def test_a_gauge_is_read_as_often_as_one_likes(reader: GaugeReader, shown: Address) -> None:
    started = [reader.number(shown, THREADS, "TotalStartedThreadCount") for _ in range(3)]

    assert all(number is not None and number > 0 for number in started)


def test_a_gauge_that_is_not_there_is_none(reader: GaugeReader, shown: Address) -> None:
    assert reader.number(shown, "kafka.server:type=FetcherLagMetrics,name=ConsumerLag") is None


def test_what_is_no_number_is_a_failure(reader: GaugeReader, shown: Address) -> None:
    with pytest.raises(ProbeError, match="was not read"):
        reader.number(shown, "java.lang:type=Runtime", "VmName")


def test_where_nobody_listens_nothing_is_read(reader: GaugeReader) -> None:
    ports = PortReservation(HOST)
    nowhere = (HOST, ports.port())
    ports.close()

    with pytest.raises(ProbeError, match="was not read"):
        reader.number(nowhere, THREADS, "ThreadCount")


def test_a_broker_that_was_started_again_is_read_again(reader: GaugeReader) -> None:
    ports = PortReservation(HOST)
    restarted = HOST, ports.port()
    with ShownJvm(restarted):
        await_gauges(reader, restarted)
    with pytest.raises(ProbeError, match="was not read"):
        reader.number(restarted, THREADS, "ThreadCount")

    with ShownJvm(restarted):
        await_gauges(reader, restarted)
    ports.close()
