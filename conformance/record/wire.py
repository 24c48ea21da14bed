"""Which frames did a run see, and what became of each? ``wire.ndjson``: one frame a line, the end of the trace last.

One whose name ends in ``.zst`` is compressed, see ``conformance.record.wire_lines``.

A frame that stood in the gate has a line from when it was caught and one from its fate. One that was never let go has
the outcome "held". What each column says is told by ``fault_injection.wire.trace.TraceEntry``, what a frame says by
the views of ``fault_injection.wire``: fields that have their default there are left out of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.directory import RunDirectory

WIRE_FILE = "wire.ndjson"
PRODUCE, FETCH, EPOCH_LOOKUP = "Produce", "Fetch", "OffsetForLeaderEpoch"
ALTER_PARTITION, UPDATE_METADATA = "AlterPartition", "UpdateMetadata"
"""The names of apis in a trace."""
NONE = -1
"""Stands for no epoch, no offset, no leader."""


class EpochRun(msgspec.Struct, frozen=True, gc=False):
    """Offsets of one leader epoch among the records of an answer; None: the batches do not say."""

    leader_epoch: int | None = None
    first_offset: int | None = None
    last_offset: int = NONE


class BatchOfIds(msgspec.Struct, frozen=True, gc=False):
    """The record ids of a batch, or of messages that follow each other; see ``fault_injection.wire.views.IdBatch``."""

    base_offset: int = NONE
    count: int = 0
    first_id: int = NONE
    step: int = NONE


class DivergingEpoch(msgspec.Struct, frozen=True, gc=False):
    """Where the leader's log leaves the follower's: its epoch and that one's end offset (KIP-595)."""

    leader_epoch: int = NONE
    end_offset: int = NONE


class FrameEntry(msgspec.Struct, frozen=True, gc=False):
    """What a frame says of one partition, or one record of the metadata log.

    Fields that a kind of frame does not have keep their default: ``NONE``, None or nothing.

    Attributes:
        record: of a record of the metadata log its kind, such as PartitionRecord; ``offset`` is the record's.
        is_listed: whether the frame of a fetch session names the partition, or the session implies it.
        new_isr: what a leader proposes; ``isr`` what the controller has committed.
        metadata: the records of the metadata log in an answer.
        record_count, producer_id, producer_epoch, base_sequence: what a producer wants appended; the last three are of
            the first batch, and -1 without idempotence.
        base_offset: where a producer's records were appended.
        batches: the ids of records, sent or fetched, where the gate reads them.
        transactional_id: whose transaction a partition is added to.
        commits: what a marker says; ``coordinator_epoch`` is its too.
    """

    topic: str | None = None
    topic_id: str | None = None
    partition: int = NONE
    error: int = 0
    record: str | None = None
    offset: int = NONE
    fetch_offset: int = NONE
    current_leader_epoch: int = NONE
    last_fetched_epoch: int = NONE
    leader_epoch: int = NONE
    high_watermark: int = NONE
    last_stable_offset: int = NONE
    log_start_offset: int = NONE
    end_offset: int = NONE
    record_bytes: int = 0
    is_listed: bool = True
    epochs: tuple[EpochRun, ...] = ()
    diverging_epoch: DivergingEpoch | None = None
    leader: int | None = None
    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    new_isr: tuple[int, ...] = ()
    partition_epoch: int = NONE
    is_deleted: bool = False
    metadata: tuple[FrameEntry, ...] = ()
    api_key: int | None = None
    version: int | None = None
    record_count: int = 0
    producer_id: int = NONE
    producer_epoch: int = NONE
    base_sequence: int = NONE
    base_offset: int = NONE
    batches: tuple[BatchOfIds, ...] = ()
    transactional_id: str | None = None
    commits: bool | None = None
    coordinator_epoch: int = NONE


class Said(msgspec.Struct, frozen=True, gc=False):
    """What a decoded frame says beside its partitions; fields that its kind does not have keep their default.

    Attributes:
        acks: what a Produce request wants; None of other frames, as -1 says that all in-sync replicas are waited for.
        transactional_id: of a producer's request; ``commits`` is what its EndTxn says.
    """

    error: int = 0
    acks: int | None = None
    replica_id: int = NONE
    replica_epoch: int = NONE
    session_epoch: int = NONE
    max_wait_ms: int = 0
    broker_id: int = NONE
    controller_epoch: int = NONE
    transactional_id: str | None = None
    producer_id: int = NONE
    producer_epoch: int = NONE
    commits: bool | None = None
    partitions: tuple[FrameEntry, ...] | None = None

    @property
    def entries(self) -> tuple[FrameEntry, ...]:
        """What it says of partitions; nothing if its kind says nothing of any."""
        return self.partitions or ()


class TracedFrame(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One frame.

    Attributes:
        arrived_ns: when it reached the gate, monotonic nanoseconds.
        forwarded_ns: when it left the gate; None if it never did.
        source: who sent the request, also in the line of its answer.
        decoded: what it says; None if it was not decoded.
        left_out: the numbers of frames that arrived before and have no line, as nobody reads them.
    """

    seq: int
    arrived_ns: int
    forwarded_ns: int | None
    connection: int
    link: str
    source: int | None
    destination: int
    direction: str
    api_key: int | None
    api: str | None
    api_version: int | None
    correlation_id: int | None
    decoded: Said | None
    hold: str | None
    outcome: str
    client_id: str | None = None
    left_out: tuple[int, ...] = ()

    @property
    def said(self) -> Said:
        """What it says; of a frame that was not decoded nothing."""
        return self.decoded or _NOTHING

    def is_request(self, api: str) -> bool:
        """Return whether it is a request of an api."""
        return (self.api, self.direction) == (api, "request")

    def is_answer(self, api: str) -> bool:
        """Return whether it is the answer to a request of an api."""
        return (self.api, self.direction) == (api, "response")

    def is_between(self, source: int, destination: int) -> bool:
        """Return whether it is a request of one node to another one, or the answer to such a request."""
        return (self.source, self.destination) == (source, destination)

    def entries(self) -> Iterator[FrameEntry]:
        """Yield what it says of partitions: itself, and as records of the metadata log."""
        for entry in self.said.entries:
            yield entry
            yield from entry.metadata


class FrameFate(msgspec.Struct, frozen=True, gc=False):
    """What a line of a frame says of where the frame was, and when; columns as in ``TracedFrame``."""

    seq: int
    arrived_ns: int
    forwarded_ns: int | None
    outcome: str


class TraceEnd(msgspec.Struct, frozen=True, gc=False):
    """The last line: which frames the file says it holds.

    Attributes:
        first_seq: frames from this number on arrived after the file was begun.
        next_seq: frames below it arrived before it was ended.
        lines: lines of frames.
        left_out: the numbers of the last frames that have no line.
    """

    end: bool
    first_seq: int
    next_seq: int
    lines: int
    left_out: tuple[int, ...] = ()


_NOTHING = Said()
_FRAME, _END = msgspec.json.Decoder(TracedFrame), msgspec.json.Decoder(TraceEnd)
_FATE = msgspec.json.Decoder(FrameFate)
_ENDS = b'"end":'


def frame_of(line: bytes) -> TracedFrame | None:
    """Return the frame of a line; None of the line that ends the trace.

    Raises:
        ValueError: it is neither.
    """
    return None if _ENDS in line and _is_end(line) else _FRAME.decode(line)


def fate_of(line: bytes) -> FrameFate:
    """Return when the frame of a line was where; what it says is passed over.

    Raises:
        ValueError: it is no line of a frame.
    """
    return _FATE.decode(line)


def trace_end_of(line: bytes) -> TraceEnd:
    """Return what the last line says.

    Raises:
        ValueError: it is no last line.
    """
    return _END.decode(line)


def _is_end(line: bytes) -> bool:
    try:
        return _END.decode(line).end
    except ValueError:
        return False


def frames_of(run: RunDirectory) -> list[TracedFrame]:
    """Return the frames of a run in the order of their arrival, each once, with its fate.

    Raises:
        RunDirectoryError: a line cannot be read.
    """
    fates = {frame.seq: frame for frame in run.lines(WIRE_FILE, frame_of) if frame is not None}
    return sorted(fates.values(), key=lambda frame: (frame.arrived_ns, frame.seq))
