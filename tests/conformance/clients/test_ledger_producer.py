"""What becomes of a ledger whose producer fails for good? Another producer goes on; if none can write, it says so."""

from __future__ import annotations

import ctypes
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, ClassVar

import confluent_kafka
import pytest

from conformance.clients import ledger_producer
from conformance.clients.ledger_load import ATTEMPTS_AT_ONCE, QUEUED_MAX, LedgerLoad
from conformance.clients.ledger_producer import LedgerProducer, ProducersFailError
from conformance.record.directory import RunDirectory
from conformance.record.ledger import NOT_SENT, read_attempts, read_outcomes
from fault_injection.waiting import until
from oracle.vocabulary import Acks, ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

LOAD = LedgerLoad("t", 2, Acks.ALL, is_idempotent=True, base=7 << 32, value_length=100, rate=200)
NOWHERE = {"bootstrap.servers": "127.0.0.1:1"}
OUT_OF_ORDER_SEQUENCE_NUMBER = 45


class Known(confluent_kafka.Producer):
    """A producer that the test finds again."""

    made: ClassVar[list[Known]] = []

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self.has_failed = self._is_to_fail = False
        self.made.append(self)

    def fail_for_good(self) -> None:
        """Fail when the sender polls next: it alone knows that the producer has not been closed meanwhile."""
        self.has_failed = self._is_to_fail = True

    def poll(self, timeout: float = -1) -> int:  # type: ignore[explicit-override]  # from Python 3.12 on
        """Fail if it is to, and serve events."""
        if self._is_to_fail:
            self._is_to_fail = False
            self._fail()
        return super().poll(timeout)

    def _fail(self) -> None:
        """Fail as librdkafka's own tests have it: the producer's handle is the first field after Python's two."""
        (library,) = (Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs").glob("librdkafka*.so*")
        test_fatal_error = ctypes.CDLL(str(library)).rd_kafka_test_fatal_error
        test_fatal_error.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
        handle = ctypes.c_void_p.from_address(id(self) + object.__basicsize__)
        assert test_fatal_error(handle, OUT_OF_ORDER_SEQUENCE_NUMBER, b"as a test has it") == 0


@pytest.fixture(autouse=True)
def known_producers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_producer, "Producer", Known)
    monkeypatch.setattr(Known, "made", [])


def sent_until(
    path: Path, is_enough: Callable[[LedgerProducer], bool], load: LedgerLoad = LOAD
) -> tuple[LedgerProducer, list[BaseException]]:
    """Send beside the test until it is enough; return the producer and what ended it."""
    producer, stop, ended = LedgerProducer(NOWHERE, load, path / "ledger"), Event(), list[BaseException]()

    def send() -> None:
        try:
            producer.send(stop)
        except BaseException as failure:  # noqa: BLE001 - the test looks at it
            ended.append(failure)

    thread = Thread(target=send)
    thread.start()
    try:
        until(lambda: bool(ended) or is_enough(producer), deadline_s=20, what="enough", interval_s=0.05)
    finally:
        producer.hurry()
        stop.set()
        thread.join()
    return producer, ended


def test_a_producer_that_fails_for_good_is_followed_by_another(tmp_path: Path) -> None:
    def fails_once(producer: LedgerProducer) -> bool:
        if len(Known.made) == 1 and producer.progress.sent > 20 and not Known.made[0].has_failed:
            Known.made[0].fail_for_good()
        return len(Known.made) > 1 and producer.progress.sent > 200

    producer, ended = sent_until(tmp_path, fails_once)
    assert ended == []
    assert len(producer.senders) == 1
    run = RunDirectory(tmp_path)
    ids = [one.record_id for one in read_attempts(run)]
    assert ids == list(range(LOAD.base, LOAD.base + len(ids)))
    told = {one.record_id: one.outcome for one in read_outcomes(run)}
    assert set(told) <= set(ids)
    of_the_first = [told.get(one) for one in range(LOAD.base, producer.senders[0])]
    assert set(of_the_first) == {ProduceOutcome.INDETERMINATE, ProduceOutcome.REFUSED}
    assert of_the_first.count(ProduceOutcome.INDETERMINATE) > 20


def test_producers_that_all_fail_for_good_end_the_ledger(tmp_path: Path) -> None:
    def fails(producer: LedgerProducer) -> bool:
        if producer.progress.sent > 10 * len(Known.made) and not Known.made[-1].has_failed:
            Known.made[-1].fail_for_good()
        return False

    producer, ended = sent_until(tmp_path, fails)
    assert [type(one) for one in ended] == [ProducersFailError]
    assert "as a test has it" in str(ended[0])
    assert len(producer.senders) == ledger_producer.IN_VAIN_MAX - 1
    run = RunDirectory(tmp_path)
    assert {one.record_id for one in read_outcomes(run)} == {one.record_id for one in read_attempts(run)}


def test_what_the_client_has_no_room_for_waits_and_is_refused_once_it_is_told_to_stop(tmp_path: Path) -> None:
    load = replace(LOAD, rate=None, partitions=3)
    producer, ended = sent_until(tmp_path, lambda one: one.progress.sent == QUEUED_MAX, load)
    assert ended == []
    run = RunDirectory(tmp_path)
    attempts, outcomes = read_attempts(run), read_outcomes(run)
    assert {one.record_id for one in attempts} == set(range(LOAD.base, LOAD.base + ATTEMPTS_AT_ONCE))
    assert Counter(one.record_id for one in outcomes) == Counter(one.record_id for one in attempts)
    not_sent = {one.record_id for one in outcomes if one.error == NOT_SENT}
    assert len(not_sent) == ATTEMPTS_AT_ONCE - QUEUED_MAX == len(attempts) - producer.progress.sent
    for number in range(3):
        ids = [one.record_id for one in attempts if one.partition == number]
        first = next(at for at, one in enumerate(ids) if one in not_sent)
        assert set(ids[first:]) <= not_sent, "records of a partition are handed over in their order"


def test_records_that_are_too_large_are_refused(tmp_path: Path) -> None:
    load = replace(LOAD, value_length=2_000_000, records=3)
    producer, _ = sent_until(tmp_path, lambda _: bool(list((tmp_path / "ledger").glob("outcomes-*"))), load)
    told = {(one.outcome, one.error) for one in read_outcomes(RunDirectory(tmp_path))}
    assert told == {(ProduceOutcome.REFUSED, "MESSAGE_TOO_LARGE")}
    assert (producer.progress.sent, producer.progress.unknown) == (0, 0)


def test_a_rate_is_kept(tmp_path: Path) -> None:
    load = replace(LOAD, rate=4_000, records=8_000)
    began = time.monotonic()
    sent_until(tmp_path, lambda one: one.progress.sent == 8_000, load)
    assert time.monotonic() - began >= 1.9
