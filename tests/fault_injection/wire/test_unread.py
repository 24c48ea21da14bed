"""Do frames that go on before they are read tell the same as frames that are read at once, and is none missed?"""

import errno
import json
import os
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fault_injection.cluster.relay import LinkName
from fault_injection.wire import unread
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.passage import ConnectionState
from fault_injection.wire.points import Direction, Point
from fault_injection.wire.proxy import TELLING_REQUESTS, GateProxy
from fault_injection.wire.unread import KEPT_BYTES_MAX
from tests.fault_injection.wire.frames_of import TOPIC_ID, fetch_request, fetch_response, produce_request, record_batch

ELSEWHERE = Point("fetch_request", source=77)
LARGE = record_batch(2, base_offset=0, values=400)


CREATED: list[GateProxy] = []


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    while CREATED:
        CREATED.pop().close()


def new_proxy(unread_max: int = unread.FRAMES_MAX) -> GateProxy:
    CREATED.append(GateProxy(unread_max=unread_max))
    return CREATED[-1]


def known_connection(proxy: GateProxy, number: int = 1) -> ConnectionState:
    connection = proxy.connected(LinkName.replication(number))
    for correlation_id in range(-TELLING_REQUESTS, 0):
        passes(proxy, connection, "request", fetch_request(offset=0, correlation_id=correlation_id))
        passes(proxy, connection, "response", fetch_response(correlation_id=correlation_id))
    return connection


def passes(proxy: GateProxy, connection: ConnectionState, direction: Direction, content: bytes) -> bool:
    """Move one frame as a connection does; tell whether it went on unread."""
    frame = bytearray(content)
    if (late := proxy.unread(direction, connection, frame)) is not None:
        proxy.unread_ended(late, "forwarded")
        return True
    arrived = proxy.request_arrived if direction == "request" else proxy.response_arrived
    passage = arrived(connection, frame)
    assert passage.decision.action == "forward"
    proxy.ended(passage, proxy.departs(passage), "forwarded")
    return False


def traced(proxy: GateProxy, path: Path) -> list[dict[str, Any]]:
    proxy.end_trace()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.endswith("_ns")} for line in lines]


exchanges = st.lists(
    st.tuples(
        st.integers(0, 1),  # connection
        st.integers(0, 50),  # fetch offset
        st.sampled_from([-1, 0, 1, 2]),  # session epoch
        st.sampled_from([b"", record_batch(2, base_offset=5, values=2), LARGE]),
        st.booleans(),  # whether the answer comes at once
    ),
    max_size=12,
)


def played(exchanges: list[tuple[int, int, int, bytes, bool]], path: Path, *, at_once: bool) -> list[dict[str, Any]]:
    proxy = new_proxy()
    connections = [known_connection(proxy, number) for number in (1, 2)]
    if at_once:
        proxy.arm("elsewhere", ELSEWHERE)
    proxy.trace_to(path)
    owed: list[tuple[ConnectionState, bytes]] = []
    for correlation_id, (number, offset, epoch, records, is_prompt) in enumerate(exchanges):
        connection = connections[number]
        request = fetch_request(offset=offset, correlation_id=correlation_id, session_id=9, session_epoch=epoch)
        passes(proxy, connection, "request", request)
        owed.append((connection, fetch_response(correlation_id=correlation_id, records=records, high_watermark=offset)))
        if is_prompt:
            for answered, answer in owed:
                passes(proxy, answered, "response", answer)
            owed.clear()
    lines = traced(proxy, path)
    assert proxy.failures == ()
    assert proxy.undecodable == 0
    return lines


@settings(max_examples=60)
@given(exchanges=exchanges)
def test_reading_later_tells_the_same(
    exchanges: list[tuple[int, int, int, bytes, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("traces")
    late = played(exchanges, directory / "late.ndjson", at_once=False)
    at_once = played(exchanges, directory / "at_once.ndjson", at_once=True)
    assert late == at_once


def test_nothing_goes_on_unread_before_the_sender_is_known() -> None:
    proxy = new_proxy()
    connection = proxy.connected(LinkName.replication(1))
    gone = [passes(proxy, connection, "request", fetch_request(offset=0, correlation_id=number)) for number in range(6)]
    assert gone == [False] * TELLING_REQUESTS + [True, True]


@pytest.mark.parametrize("version", [2, 3, 8, 9, 13])
def test_a_produce_request_goes_on_unread_unless_nobody_answers_it(version: int, tmp_path: Path) -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    proxy.trace_to(tmp_path / "wire.ndjson")
    for correlation_id, acks in enumerate((-1, 0, 1)):
        request = produce_request(version=version, records=LARGE, acks=acks, correlation_id=correlation_id)
        assert passes(proxy, connection, "request", request) == (acks != 0)
    told = [line["decoded"] for line in traced(proxy, tmp_path / "wire.ndjson") if "decoded" in line]
    assert [(one["acks"], one["partitions"][0]["record_count"]) for one in told] == [(-1, 400), (0, 400), (1, 400)]
    assert proxy.undecodable == 0


def test_a_produce_request_that_cannot_be_read_is_read_at_once() -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    request = produce_request(records=LARGE)
    for length in (5, 14, 20, 25):
        frame = (length - 4).to_bytes(4, "big") + request[4:length]
        assert proxy.unread("request", connection, bytearray(frame)) is None


def test_whoever_asks_has_everything_read_first() -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    assert passes(proxy, connection, "request", fetch_request(offset=7, correlation_id=1))
    assert proxy.last_forwarded_fetch_offset(2, 1, "t", 0) == 7
    assert [one.correlation_id for one in proxy.rounds.in_flight()] == [1]
    assert passes(proxy, connection, "response", fetch_response(correlation_id=1, records=LARGE, high_watermark=9))
    (finished,) = (one for one in proxy.rounds_since(0) if one.fetch_offset == 7)
    assert (finished.high_watermark, finished.record_bytes) == (9, len(LARGE))
    assert len(LARGE) > KEPT_BYTES_MAX


def test_what_is_armed_before_a_frame_arrives_catches_it() -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    assert passes(proxy, connection, "request", fetch_request(offset=3, correlation_id=1))
    proxy.arm("next", Point("fetch_request", source=2, destination=1))
    frame = bytearray(fetch_request(offset=4, correlation_id=2))
    assert proxy.unread("request", connection, frame) is None
    assert proxy.request_arrived(connection, frame).decision.name == "next"
    assert proxy.status("next") is HoldStatus.CAUGHT


def test_the_answer_to_a_request_that_went_on_before_arming_is_not_caught() -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    assert passes(proxy, connection, "request", fetch_request(offset=3, correlation_id=1))
    proxy.arm("answer", Point("fetch_response"))
    assert not passes(proxy, connection, "response", fetch_response(correlation_id=1))
    assert proxy.status("answer") is HoldStatus.ARMED
    passes(proxy, connection, "request", fetch_request(offset=4, correlation_id=2))
    caught = proxy.response_arrived(connection, bytearray(fetch_response(correlation_id=2)))
    assert caught.decision.name == "answer"


def test_frames_go_on_unread_again_when_nothing_waits_any_more() -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    proxy.arm("elsewhere", ELSEWHERE)
    assert not passes(proxy, connection, "request", fetch_request(offset=3, correlation_id=1))
    proxy.disarm("elsewhere")
    assert passes(proxy, connection, "request", fetch_request(offset=3, correlation_id=2))
    assert not passes(proxy, connection, "response", fetch_response(correlation_id=1))
    assert passes(proxy, connection, "response", fetch_response(correlation_id=2))


def test_a_frame_that_is_still_being_sent_is_written_when_it_was(tmp_path: Path) -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    proxy.trace_to(tmp_path / "wire.ndjson")
    late = proxy.unread("request", connection, bytearray(fetch_request(offset=3, correlation_id=1)))
    assert late is not None
    proxy.trace.flush()
    assert (tmp_path / "wire.ndjson").read_text() == ""
    proxy.unread_ended(late, "aborted")
    (line, end) = traced(proxy, tmp_path / "wire.ndjson")
    assert (line["outcome"], line["seq"], end["lines"]) == ("aborted", late.seq, 1)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_frame_whose_receiver_does_not_read_is_told_before_its_fate(
    at_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    proxy.trace_to(tmp_path / "wire.ndjson")
    frame = bytearray(fetch_request(offset=3, correlation_id=1))
    if at_once:
        proxy.arm("elsewhere", ELSEWHERE)
        passage = proxy.request_arrived(connection, frame)
        ended = partial(proxy.ended, passage, proxy.departs(passage), "forwarded")
    else:
        late = proxy.unread("request", connection, frame)
        assert late is not None
        proxy.read()
        ended = partial(proxy.unread_ended, late, "forwarded")
    proxy.read()
    monkeypatch.setattr("fault_injection.wire.proxy.STUCK_NS", 0)
    proxy.read()
    proxy.read()
    ended()
    proxy.read()
    *lines, _ = traced(proxy, tmp_path / "wire.ndjson")
    assert [line["outcome"] for line in lines] == ["held", "forwarded"]
    assert len({line["seq"] for line in lines}) == 1


def test_memory_is_bounded_while_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread.UnreadFrames, "_start", lambda _: None)
    proxy = new_proxy(unread_max=50)
    connection = known_connection(proxy)
    lengths = []
    for number in range(300):
        passes(proxy, connection, "request", fetch_request(offset=number, correlation_id=number))
        if random.Random(number).random() < 0.9:  # some are never answered
            passes(proxy, connection, "response", fetch_response(correlation_id=number, records=LARGE))
        lengths.append(len(proxy._unread))
    assert max(lengths) <= 51
    assert all(
        not isinstance(one.content, bytearray) or len(one.content) <= KEPT_BYTES_MAX for one in proxy._unread._frames
    )


def test_a_lost_connection_has_nothing_in_flight() -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    assert passes(proxy, connection, "request", fetch_request(offset=3, correlation_id=1))
    proxy.connection_lost(connection)
    assert proxy.rounds.in_flight() == ()
    assert proxy.unread("response", connection, bytearray(fetch_response(correlation_id=1))) is None


def test_no_answer_is_awaited_to_a_request_whose_connection_was_lost_before_it_went_on() -> None:
    proxy = new_proxy()
    lost, other = known_connection(proxy, 1), known_connection(proxy, 1)
    proxy.arm("answer", Point("fetch_response"))
    passage = proxy.request_arrived(lost, bytearray(fetch_request(offset=3, correlation_id=1)))
    proxy.connection_lost(lost)
    proxy.departs(passage)
    assert not passes(proxy, other, "request", fetch_request(offset=3, correlation_id=1))
    caught = proxy.response_arrived(other, bytearray(fetch_response(correlation_id=1)))
    assert caught.decision.name == "answer"


def test_a_connection_ends_when_no_pipe_was_left_for_what_it_held(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    proxy.arm("gap", Point("fetch_request"))
    monkeypatch.setattr(os, "pipe", exhausted_pipes)
    with pytest.raises(OSError, match="Too many open files"):
        proxy.request_arrived(connection, bytearray(fetch_request(offset=3, correlation_id=1)))
    proxy.connection_lost(connection)
    assert proxy.status("gap") is HoldStatus.DISCHARGED


def exhausted_pipes() -> None:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_names_learned_meanwhile_are_used() -> None:
    proxy = new_proxy()
    connection = known_connection(proxy)
    assert passes(proxy, connection, "request", fetch_request(offset=3, correlation_id=1, version=17))
    proxy.learn_topic(TOPIC_ID, "named")
    assert proxy.last_forwarded_fetch_offset(2, 1, "named", 0) == 3
