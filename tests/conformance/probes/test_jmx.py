"""A broker's gauges are read as a JVM's are: here it is the reader's own kind of JVM that shows some."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from py4j.java_gateway import find_jar_path

from conformance.probes.errors import ProbeError
from conformance.probes.jmx import GaugeReader
from fault_injection.cluster.jmx import jmx_options
from fault_injection.cluster.ports import PortReservation
from fault_injection.releases import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.cluster.relay import Address

HOST = "127.0.0.1"
THREADS = "java.lang:type=Threading"


@pytest.fixture(scope="module")
def shown() -> Iterator[Address]:
    """A JVM that shows its gauges."""
    ports = PortReservation(HOST)
    address = (HOST, ports.port())
    command = [str(find_java().executable), "-Xmx64m", *jmx_options(HOST, address)]
    server = ["-cp", find_jar_path(), "py4j.GatewayServer", "--die-on-broken-pipe", "0"]
    process = subprocess.Popen([*command, *server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    yield address
    process.stdin.close()
    process.stdout.close()
    process.kill()
    process.wait()
    ports.close()


@pytest.fixture(scope="module")
def reader() -> Iterator[GaugeReader]:
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
