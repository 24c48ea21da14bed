"""Which events do the tester's own notes show: what it did to brokers, and what its probes measured?

The notes are ``timeline.ndjson`` and ``observations.ndjson``. A measurement was made somewhere between the
beginning of its step and the moment in which it was written down. The numbers of a broker that is down or
paused are those of its files: its checkpoint may be old, and nobody measured its replica.
"""

from __future__ import annotations

import heapq
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.clients.outcomes import NEVER_SENT
from conformance.interruption import GIVEN_UP
from conformance.observation.errors import TraceUnreadableError
from conformance.record.directory import RunDirectoryError
from conformance.record.ledger import ATTEMPTS_PREFIX, OUTCOMES_PREFIX, ledger_files
from conformance.record.observations import MeasuredNumbers, read_observations
from conformance.record.schedule import read_schedule
from conformance.record.timeline import TIMELINE_FILE, Event, TimelineMark, read_timeline
from conformance.spark_extra import at_first_use
from oracle.steps.topic import Alter, DeleteRecords
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    DeletionRequested,
    MinIsrSet,
    Refused,
    ReplicaMeasured,
    TailLost,
    TopicPartition,
)
from oracle.vocabulary import Acks, BrokerId, Offset, ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.observation.wire_moments import WireMoment
    from conformance.record.directory import RunDirectory
    from conformance.record.observations import Observation
    from oracle.tracing.observed import Event as Told
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")


MIN_ISR = "min.insync.replicas"
PARTITION = 0


class RunEvents:
    """Reads one run's marks and measurements in the order of time."""

    def __init__(self, run: RunDirectory, topic: str) -> None:
        self._run = run
        self._schedule = read_schedule(run)
        self._partition = TopicPartition(topic, PARTITION)
        self._step_began_ns = 0
        self._paused: set[BrokerId] = set()

    def __iter__(self) -> Iterator[Told]:
        """Yield the events.

        Raises:
            TraceUnreadableError: a line cannot be read, or there is no timeline.
        """
        if not self._run.has(TIMELINE_FILE):
            raise TraceUnreadableError(f"{TIMELINE_FILE} is missing: nobody knows what was done to the brokers")
        try:
            marks, measured = read_timeline(self._run), read_observations(self._run)
        except RunDirectoryError as error:
            raise TraceUnreadableError(str(error)) from error
        for note in heapq.merge(in_time(marks), in_time(measured), key=itemgetter(0)):
            yield from self._told(*note)

    def initial_min_isr(self, at: int) -> MinIsrSet:
        """Return the setting that the topic was created with."""
        return MinIsrSet(
            at=at, partition=self._partition, min_insync_replicas=self._schedule.settings.min_insync_replicas
        )

    def _told(self, at: int, note: TimelineMark | Observation) -> Iterator[Told]:
        if isinstance(note, TimelineMark):
            yield from self._done(at, note)
        elif isinstance(note, MeasuredNumbers):
            yield from self._measured(at, note)

    def _measured(self, at: int, seen: MeasuredNumbers) -> Iterator[ReplicaMeasured]:
        for broker, numbers in seen.replicas.items():
            if numbers.alive and broker not in self._paused:
                yield ReplicaMeasured(
                    at=at,
                    since=self._step_began_ns or at,
                    partition=self._partition,
                    broker=BrokerId(broker),
                    log_end_offset=Offset(numbers.log_end_offset),
                    high_watermark=Offset(numbers.high_watermark),
                )

    def _done(self, at: int, mark: TimelineMark) -> Iterator[Told]:
        match mark.event:
            case Event.STEP_STARTED:
                self._step_began_ns = at
                yield from self._asked(at, mark)
            case Event.BROKER_PAUSED:
                self._paused.add(_broker(mark))
            case Event.BROKER_RESUMED:
                self._paused.discard(_broker(mark))
            case Event.BROKER_KILLED | Event.BROKER_STOPPED | Event.BROKER_ENDED | Event.BROKER_STARTED:
                self._paused.discard(_broker(mark))
                yield from broker_events(at, mark)
            case Event.TAIL_LOST:
                yield TailLost(at=at, broker=_broker(mark), partition=self._partition, offset=_lost_from(mark))
            case Event.CHECKPOINT_LOST:
                yield CheckpointLost(at=at, broker=_broker(mark))
            case Event.SETTINGS_CHANGED:
                yield from self._settings_changed(mark)
            case _:
                pass

    def _asked(self, at: int, mark: TimelineMark) -> Iterator[DeletionRequested]:
        """Yield what a broker does as soon as it is asked, and the tester notes when it is answered."""
        match self._schedule.steps[mark.step or 0]:
            case DeleteRecords(offset):
                yield DeletionRequested(at=at, partition=self._partition, offset=Offset(offset))
            case _:
                pass

    def _settings_changed(self, mark: TimelineMark) -> Iterator[MinIsrSet]:
        match self._schedule.steps[mark.step or 0]:
            case Alter(min_insync_replicas=int(value)):
                yield MinIsrSet(at=self._step_began_ns, partition=self._partition, min_insync_replicas=value)
            case _:
                pass


def broker_events(at: int, mark: TimelineMark) -> Iterator[BrokerEnded | BrokerStarted]:
    """Yield what a mark says of a broker's process: that it ended, or was started."""
    if mark.event in (Event.BROKER_KILLED, Event.BROKER_STOPPED, Event.BROKER_ENDED):
        yield BrokerEnded(at=at, broker=_broker(mark), clean=mark.event is not Event.BROKER_KILLED)
    elif mark.event is Event.BROKER_STARTED:
        yield BrokerStarted(at=at, broker=_broker(mark))


def _broker(mark: TimelineMark) -> BrokerId:
    return BrokerId(int(mark.subject))


def _lost_from(mark: TimelineMark) -> Offset:
    if mark.offset is None:
        raise TraceUnreadableError(f"{TIMELINE_FILE} does not tell from which offset on a tail was lost: {mark}")
    return Offset(mark.offset)


Note = TypeVar("Note", bound="TimelineMark | Observation")


def in_time(notes: Iterable[Note]) -> Iterator[tuple[int, Note]]:
    """Yield each note with when it was made; a clock that went back stands still."""
    last_ns = 0
    for note in notes:
        last_ns = max(last_ns, note.t_ns)
        yield last_ns, note


# When did a broker that was started again begin to live?
#
# The tester notes a start when the broker has registered, which is after its first frames. A frame from or to
# a broker that had ended shows that it lives, if its connection was made after the end.


class BrokerLives:
    """Follows which brokers run, in the order of time."""

    def __init__(self) -> None:
        self._ended: dict[int, int] = {}
        self._made_at: dict[int, int] = {}

    def ended(self, event: BrokerEnded) -> bool:
        """Note an end; False if the broker had ended before."""
        is_news = event.broker not in self._ended
        self._ended.setdefault(event.broker, event.at)
        return is_news

    def started(self, event: BrokerStarted) -> bool:
        """Note a start; False if frames have shown it already."""
        return self._ended.pop(event.broker, None) is not None

    def shown_by(self, moment: WireMoment) -> BrokerStarted | None:
        """Return the start of a broker that a frame shows to live again."""
        connection = moment.frame.connection
        if connection not in self._made_at:
            self._made_at[connection] = moment.at
        if not self._ended:
            return None
        for node in (moment.frame.source, moment.frame.destination):
            if node in self._ended and self._ended[node] < self._made_at[connection]:
                del self._ended[node]
                return BrokerStarted(at=moment.at, broker=BrokerId(node))
        return None

    def is_stale(self, moment: WireMoment) -> bool:
        """Return whether a frame was sent by a broker that has ended since."""
        if not self._ended:
            return False
        frame = moment.frame
        sender = frame.source if frame.direction == "request" else frame.destination
        return not moment.is_delivery and sender in self._ended


# What were the producers told, and when? The ledger as events, in the order of time.
#
# A producer may have been told a little before its outcome was written down, never after.
#
# Attempts and outcomes are read side by side, so that only records without outcome are kept. An outcome that no
# broker gave (a client's own error, silence) shows nothing of the brokers and is passed over.


ROWS_AT_ONCE = 10_000
CLIENTS_OWN = "_"
"""How the names of librdkafka's own errors begin."""

Row = dict[str, Any]


class LedgerEvents:
    """Reads one run's ledger in the order in which outcomes came.

    Args:
        directory: the run's ledger.
        topic: whose records count.
    """

    def __init__(self, directory: Path, topic: str) -> None:
        self._directory = directory
        self._topic = topic
        self._attempts = _rows(directory, ATTEMPTS_PREFIX)
        self._open: dict[int, Row] = {}

    def __iter__(self) -> Iterator[Acknowledged | Refused]:
        """Yield the events.

        Raises:
            TraceUnreadableError: the ledger cannot be read, or an outcome has no attempt.
        """
        last_ns = 0
        for outcome in _rows(self._directory, OUTCOMES_PREFIX):
            last_ns = outcome["completed_ns"] = max(last_ns, outcome["completed_ns"])
            attempt = self._attempt(outcome["record_id"])
            if attempt["topic"] == self._topic:
                event = _event(attempt, outcome)
                if event is not None:
                    yield event

    def _attempt(self, record_id: int) -> Row:
        while record_id not in self._open:
            attempt = next(self._attempts, None)
            if attempt is None:
                raise TraceUnreadableError(f"the ledger has an outcome of record {record_id} and no attempt")
            self._open[attempt["record_id"]] = attempt
        return self._open.pop(record_id)


def _event(attempt: Row, outcome: Row) -> Acknowledged | Refused | None:
    if attempt["acks"] not in tuple(Acks):
        return None
    partition = TopicPartition(attempt["topic"], attempt["partition"])
    acks, at, error = Acks(attempt["acks"]), outcome["completed_ns"], outcome["error"]
    if outcome["outcome"] == ProduceOutcome.ACKNOWLEDGED:
        offset = None if outcome["offset"] is None else Offset(outcome["offset"])
        return Acknowledged(
            at=at,
            partition=partition,
            acks=acks,
            sent_at=attempt["attempted_ns"],
            base_offset=offset,
            last_offset=offset,
        )
    if error is None or error == GIVEN_UP or error in NEVER_SENT or error.startswith(CLIENTS_OWN):
        return None
    return Refused(at=at, partition=partition, acks=acks, error=error, sent_at=attempt["attempted_ns"])


def _rows(directory: Path, prefix: str) -> Iterator[Row]:
    for path in ledger_files(directory, prefix):
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
                    yield from batch.to_pylist()
        except (pa.ArrowInvalid, OSError) as broken:
            raise TraceUnreadableError(f"ledger/{path.name} cannot be read: {broken}") from broken
