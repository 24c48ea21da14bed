"""Does a leader honour what a Fetch asks for beside the offset? RM-05: wait, minimum and maximum bytes, any release."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, QuestionAnswer, Took, formula_ms
from conformance.clients.one_produce import OneRecord, produce_once
from conformance.clients.questions import Fetched, FetchLimits, Questioner
from conformance.examining.examination_cluster import examination_cluster
from conformance.record.directory import slug
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.waiting import DeadlineExceededError, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from oracle.rules.rule_set import RuleSet

LEADER = 1
RECORDS = 3
VALUE_BYTES = 100
SHORT_MS, LONG_MS = 1_000, 20_000
CLOCK_MS = 10
"""How much earlier than its time a broker's timer may go off: it ticks every millisecond, and rounds."""
PARKED_S = 1.0
MORE_THAN_THERE_IS = 1 << 19
OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"

ALL = "records from offset 0, asking for nothing else"
ONE_BYTE = "records within one byte in all"
ONE_BYTE_OF_PARTITION = "records within one byte of the partition"
TWO_BATCHES = "records within two batches and one byte"
EMPTY = "records at the log end, where none is"
WAITED = "wait at the log end for one byte, at most 1 s"
WAITED_FOR_MORE = "wait at offset 0 for more bytes than there are, at most 1 s"
CAME_ANYWAY = "records at offset 0 after that wait"
NOT_WAITED = "wait at offset 0 for one byte, at most 20 s"
NOTHING_WANTED = "wait at the log end for zero bytes, at most 20 s"
STILL_WAITS = "whether a fetch at the log end for one byte, at most 20 s, waits 1 s, until a record is produced"
WOKEN = "wait from that record to the answer"
WOKEN_WITH = "records after that wait"
BEYOND = "error beyond the log end"


@dataclass(frozen=True, slots=True)
class FetchLimitsKept:
    """One partition with three batches on a live leader, and one Fetch after another."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"create a topic with one replica and produce {RECORDS} records to it, one batch each",
            "fetch from offset 0: everything, within one byte in all or of the partition, within two batches",
            "fetch at the log end and at offset 0, with minimum bytes and a maximum wait, and take the time",
            "fetch at the log end with a long wait, and produce a record 1 s later",
            "fetch beyond the log end",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict what comes and how long it takes."""
        waits, at_once = formula_ms(SHORT_MS - CLOCK_MS, SHORT_MS), formula_ms(0, 0)
        return (
            QuestionAnswer(ALL, RECORDS),
            QuestionAnswer(ONE_BYTE, 1),
            QuestionAnswer(ONE_BYTE_OF_PARTITION, 1),
            QuestionAnswer(TWO_BATCHES, 2),
            QuestionAnswer(EMPTY, 0),
            QuestionAnswer(WAITED, waits),
            QuestionAnswer(WAITED_FOR_MORE, waits),
            QuestionAnswer(CAME_ANYWAY, RECORDS),
            QuestionAnswer(NOT_WAITED, at_once),
            QuestionAnswer(NOTHING_WANTED, at_once),
            QuestionAnswer(STILL_WAITS, value=True),
            QuestionAnswer(WOKEN, at_once),
            QuestionAnswer(WOKEN_WITH, 1),
            QuestionAnswer(BEYOND, OUT_OF_RANGE),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Fetch from a real leader."""
        with one_replica(context) as (address, topic):
            for record_id in range(RECORDS):
                append(address, topic, record_id)
            yield from _sizes(Questioner(address, topic))
            yield from _waits(Questioner(address, topic))
            yield from _woken(address, topic)


@contextmanager
def one_replica(context: ExaminationContext) -> Iterator[tuple[str, str]]:
    """Have a topic with one replica; return its leader's address and its name."""
    topic = slug(context.run.path.name)
    with (
        examination_cluster(context, ClusterSpec(context.release, context.metadata)) as place,
        place.topic(topic, [[LEADER]], {"min.insync.replicas": "1"}),
    ):
        yield place.cluster.client_address(LEADER), topic


def append(address: str, topic: str, record_id: int) -> None:
    """Have the leader append one record as one batch, with the time of day: retention removes what is old."""
    now_ms = int(datetime.now(UTC).timestamp() * 1000)
    told = produce_once(address, topic, OneRecord(record_id, 1, SHORT_MS, now_ms, VALUE_BYTES))
    if told.error is not None:
        raise NotSeenError(f"record {record_id} was refused with {told.error}")


def _sizes(questioner: Questioner) -> Iterator[QuestionAnswer]:
    everything = questioner.fetch(0)
    yield QuestionAnswer(ALL, len(everything.record_ids))
    yield QuestionAnswer(ONE_BYTE, _records(questioner, FetchLimits(max_bytes=1)))
    yield QuestionAnswer(ONE_BYTE_OF_PARTITION, _records(questioner, FetchLimits(partition_max_bytes=1)))
    two_batches = everything.bytes // RECORDS * 2 + 1
    yield QuestionAnswer(TWO_BATCHES, _records(questioner, FetchLimits(partition_max_bytes=two_batches)))
    yield QuestionAnswer(BEYOND, questioner.fetch(RECORDS + 1).error)


def _records(questioner: Questioner, limits: FetchLimits) -> int:
    return len(questioner.fetch(0, limits).record_ids)


def _waits(questioner: Questioner) -> Iterator[QuestionAnswer]:
    fetched, waited = _timed(questioner, RECORDS, FetchLimits(SHORT_MS, 1))
    yield QuestionAnswer(EMPTY, len(fetched.record_ids))
    yield QuestionAnswer(WAITED, waited)
    fetched, waited = _timed(questioner, 0, FetchLimits(SHORT_MS, MORE_THAN_THERE_IS))
    yield QuestionAnswer(WAITED_FOR_MORE, waited)
    yield QuestionAnswer(CAME_ANYWAY, len(fetched.record_ids))
    yield QuestionAnswer(NOT_WAITED, _timed(questioner, 0, FetchLimits(LONG_MS, 1))[1])
    yield QuestionAnswer(NOTHING_WANTED, _timed(questioner, RECORDS, FetchLimits(LONG_MS, 0))[1])


def _woken(address: str, topic: str) -> Iterator[QuestionAnswer]:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_timed, Questioner(address, topic), RECORDS, FetchLimits(LONG_MS, 1))
        with suppress(DeadlineExceededError):
            until(waiting.done, deadline_s=PARKED_S, what="an answer that has no reason to come")
        yield QuestionAnswer(STILL_WAITS, not waiting.done())
        appended_ns = time.monotonic_ns()
        append(address, topic, RECORDS)
        fetched, waited = waiting.result()
    yield QuestionAnswer(WOKEN, Took(appended_ns, waited.to_ns))
    yield QuestionAnswer(WOKEN_WITH, len(fetched.record_ids))


def _timed(questioner: Questioner, offset: int, limits: FetchLimits) -> tuple[Fetched, Took]:
    begun_ns = time.monotonic_ns()
    fetched = questioner.fetch(offset, limits)
    return fetched, Took(begun_ns, time.monotonic_ns())


LIMITS = FetchLimitsKept()
