"""Do columns say of many records what an object a record would say?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, Message
from hypothesis import given
from hypothesis import strategies as st

from conformance.clients.ledger_columns import ToldOutcomes, attempts_of
from conformance.clients.ledger_load import LedgerLoad
from conformance.record.directory import RunDirectory
from conformance.record.ledger import (
    NOT_SENT,
    Attempt,
    LedgerWriter,
    attempts_schema,
    outcomes_schema,
    read_attempts,
    read_outcomes,
)
from oracle.vocabulary import Acks, ProduceOutcome

if TYPE_CHECKING:
    from pathlib import Path

BASE = 7 << 32
TIMED_OUT = -192
NOT_TOLD = -1001


def delivered(record_id: int, offset: int = NOT_TOLD) -> Message:
    return Message(topic="t", partition=0, key=record_id.to_bytes(8, "big"), value=b"", offset=offset)


def told_of(acks: Acks) -> tuple[ToldOutcomes, list[object]]:
    failures: list[object] = []
    return ToldOutcomes(acks, failures.append), failures


@given(st.integers(1, 12), st.integers(0, 30), st.integers(1, 40), st.sampled_from(Acks))
def test_attempts_are_those_of_an_object_a_record(partitions: int, first: int, count: int, acks: Acks) -> None:
    load = LedgerLoad("t", partitions, acks, is_idempotent=False, base=BASE, value_length=100)
    chunk = range(BASE + first, BASE + first + count)
    table = attempts_of(chunk, load, 3)
    (now,) = set(table["attempted_ns"].to_pylist())
    rows = [Attempt(one, "", "t", (one - BASE) % partitions, int(acks), 3, 100, now) for one in chunk]
    assert table.equals(pa.Table.from_pylist([asdict(one) for one in rows], attempts_schema()))


def test_outcomes_are_what_the_client_told(tmp_path: Path) -> None:
    told, failures = told_of(Acks.ALL)
    told.on_delivery(None, delivered(BASE, 0))
    told.on_delivery(None, delivered(BASE + 1))
    told.on_delivery(KafkaError(TIMED_OUT), delivered(BASE + 2))
    told.refuse(range(BASE + 3, BASE + 5), NOT_SENT)
    assert len(told) == 5
    table = told.taken()
    assert table.schema.equals(outcomes_schema())
    LedgerWriter(tmp_path / "ledger").append_outcomes(table)
    rows = {one.record_id - BASE: one for one in read_outcomes(RunDirectory(tmp_path))}
    assert {number: (one.outcome, one.error, one.offset) for number, one in rows.items()} == {
        0: (ProduceOutcome.ACKNOWLEDGED, None, 0),
        1: (ProduceOutcome.ACKNOWLEDGED, None, None),
        2: (ProduceOutcome.INDETERMINATE, "_MSG_TIMED_OUT", None),
        3: (ProduceOutcome.REFUSED, NOT_SENT, None),
        4: (ProduceOutcome.REFUSED, NOT_SENT, None),
    }
    assert len(failures) == 1
    assert min(one.completed_ns for one in rows.values()) > 0


def test_who_waits_for_nothing_is_told_nothing() -> None:
    told, _ = told_of(Acks.NONE)
    told.on_delivery(None, delivered(BASE, 0))
    table = told.taken()
    assert table["outcome"].to_pylist() == [ProduceOutcome.INDETERMINATE]
    assert table["offset"].to_pylist() == [None]


def test_outcomes_are_taken_once_and_counted_for_ever() -> None:
    told, _ = told_of(Acks.LEADER)
    for number in range(3):
        told.on_delivery(None, delivered(BASE + number, number))
    assert told.taken()["record_id"].to_pylist() == [BASE, BASE + 1, BASE + 2]
    told.on_delivery(None, delivered(BASE + 3, 3))
    told.refuse([BASE + 4], NOT_SENT)
    assert told.count(ProduceOutcome.ACKNOWLEDGED) == 4
    assert told.count(ProduceOutcome.REFUSED) == 1
    assert told.taken()["record_id"].to_pylist() == [BASE + 3, BASE + 4]
    assert len(told) == 0
    assert told.count(ProduceOutcome.ACKNOWLEDGED) == 4


@pytest.mark.parametrize(("rate", "at_once"), [(None, 50_000), (1, 1), (2_000, 1_000), (1_000_000, 50_000)])
def test_attempts_are_written_half_a_second_at_once(rate: int | None, at_once: int) -> None:
    load = LedgerLoad("t", 1, Acks.ALL, is_idempotent=False, base=BASE, value_length=100, rate=rate)
    assert load.at_once == at_once


def test_many_attempts_take_a_byte_each(tmp_path: Path) -> None:
    load = LedgerLoad("t", 12, Acks.ALL, is_idempotent=False, base=BASE, value_length=100)
    file = LedgerWriter(tmp_path / "ledger").append_attempts(attempts_of(range(BASE, BASE + 50_000), load, 0))
    assert file.stat().st_size < 50_000
    assert [one.record_id for one in read_attempts(RunDirectory(tmp_path))] == list(range(BASE, BASE + 50_000))
