"""Is the answer to one Produce told from silence and from the end of the connection?"""

from __future__ import annotations

import socket
import struct
from contextlib import closing, suppress
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from conformance.clients import one_produce
from conformance.clients.one_produce import DirectSending, OneRecord, ProduceAnswer, produce_once
from conformance.clients.producer import DeliveryReport
from conformance.probes.connection import ProbeError
from fault_injection.puppets.connection import API_VERSIONS, CLIENT_MESSAGES, PRODUCE, response_frame
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

SPOKEN = {"error_code": 0, "api_keys": [{"api_key": PRODUCE, "min_version": 0, "max_version": 9}]}


def answered(error_code: int) -> dict[str, object]:
    part = {"index": 0, "error_code": error_code, "base_offset": 5, "log_append_time_ms": -1}
    return {"responses": [{"name": "t", "partition_responses": [part]}], "throttle_time_ms": 0}


class LoopbackBroker:
    """A listener that answers ApiVersions, and Produce as it is told to.

    Args:
        produce: what it answers: an error code, None for silence, "closes" for the end of the connection.
    """

    def __init__(self, produce: int | str | None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._produce = produce
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connected, _ = self._listener.accept()
            except OSError:
                return
            with connected, suppress(ConnectionError), connected.makefile("rb") as stream:
                self._converse(connected, stream)

    def _converse(self, connected: socket.socket, stream: BufferedReader) -> None:
        while length := stream.read(4):
            body = stream.read(*struct.unpack(">i", length))
            api_key, version, correlation_id = struct.unpack_from(">hhi", body)
            if api_key == API_VERSIONS:
                connected.sendall(response_frame(CLIENT_MESSAGES[API_VERSIONS], version, SPOKEN, correlation_id))
            elif self._produce == "closes":
                return
            elif isinstance(self._produce, int):
                values = answered(self._produce)
                connected.sendall(response_frame(CLIENT_MESSAGES[PRODUCE], version, values, correlation_id))


@pytest.fixture
def broker(request: pytest.FixtureRequest) -> Iterator[LoopbackBroker]:
    with closing(LoopbackBroker(request.param)) as running:
        yield running


def told(broker: LoopbackBroker, acks: int, timeout_ms: int = 1_000) -> ProduceAnswer:
    return produce_once(broker.address, "t", OneRecord(7, acks, timeout_ms, 1_700_000_000_000, 100))


@pytest.mark.parametrize(
    ("broker", "acks", "expected"),
    [
        (0, 1, ProduceAnswer(is_answered=True, offset=5)),
        (6, -1, ProduceAnswer(is_answered=True, error="NOT_LEADER_OR_FOLLOWER")),
        (21, 7, ProduceAnswer(is_answered=True, error="INVALID_REQUIRED_ACKS")),
        (None, 0, ProduceAnswer(is_answered=False)),
        (0, 0, ProduceAnswer(is_answered=True, offset=5)),
        ("closes", 0, ProduceAnswer(is_answered=False, is_closed=True)),
        ("closes", 1, ProduceAnswer(is_answered=False, is_closed=True)),
    ],
    indirect=["broker"],
)
def test_what_a_producer_is_told(broker: LoopbackBroker, acks: int, expected: ProduceAnswer) -> None:
    assert told(broker, acks) == expected


@pytest.mark.parametrize("broker", [None], indirect=True)
def test_silence_where_an_answer_is_due_is_a_failure_of_the_probe(
    broker: LoopbackBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.clients.one_produce.MARGIN_S", 0.2)
    with pytest.raises(ProbeError, match="no answer to Produce"):
        told(broker, 1, timeout_ms=1)


def sending(broker: LoopbackBroker, acks: int) -> DirectSending:
    return DirectSending(broker.address, "t", OneRecord(7, acks, 1_000, 1_700_000_000_000, 100))


NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"


@pytest.mark.parametrize(
    ("broker", "acks", "is_appended", "expected"),
    [
        (0, 1, False, DeliveryReport(ProduceOutcome.ACKNOWLEDGED, None, 5)),
        (6, -1, False, DeliveryReport(ProduceOutcome.REFUSED, NOT_LEADER, None)),
        (6, -1, True, DeliveryReport(ProduceOutcome.INDETERMINATE, NOT_LEADER, None)),
        (7, -1, True, DeliveryReport(ProduceOutcome.INDETERMINATE, "REQUEST_TIMED_OUT", None)),
        (None, 0, False, DeliveryReport(ProduceOutcome.INDETERMINATE, None, None)),
        ("closes", 1, False, DeliveryReport(ProduceOutcome.INDETERMINATE, None, None)),
    ],
    indirect=["broker"],
)
def test_what_the_producer_of_a_named_broker_knows(
    broker: LoopbackBroker, acks: int, is_appended: bool, expected: DeliveryReport
) -> None:
    with closing(sending(broker, acks)) as under_way:
        if is_appended:
            under_way.appended()
        assert under_way.await_delivery(5) == expected


@pytest.mark.parametrize("broker", [None], indirect=True)
def test_a_record_that_is_given_up_stays_unknown(broker: LoopbackBroker) -> None:
    under_way = sending(broker, 1)
    assert under_way.poll() is None
    under_way.close()
    assert under_way.poll() is None


def test_a_broker_that_nobody_reaches_is_a_failure_of_the_probe() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(ProbeError):
        DirectSending(address, "t", OneRecord(7, 1, 1_000, 1_700_000_000_000, 100))


def test_a_request_that_cannot_be_sent_leaves_no_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    def unreachable(address: tuple[str, int], timeout_s: float) -> socket.socket:
        opened.append(socket.socket())
        opened[0].settimeout(timeout_s)
        opened[0].connect(address)
        opened[0].shutdown(socket.SHUT_WR)
        return opened[0]

    with closing(LoopbackBroker(None)) as broker:
        monkeypatch.setattr(one_produce, "_version", lambda _: 3)
        monkeypatch.setattr(socket, "create_connection", unreachable)
        with pytest.raises(ProbeError, match="no Produce can be sent"):
            DirectSending(broker.address, "t", OneRecord(7, 1, 1_000, 1_700_000_000_000, 100))
    assert [one.fileno() for one in opened] == [-1]
