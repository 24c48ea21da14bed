"""Which frames passed between the nodes, when, and what became of each?

Every frame becomes a line of ``wire.ndjson``, written when its fate is known; a frame that is held has one more
line from the moment it was caught, with the outcome "held". So a reader that keeps the few frames that are
between arrival and fate can bring all lines into the order of time: every number from ``first_seq`` to
``next_seq`` appears. These two are in the last line, which says ``"end": true``; a file without it is cut short.

A thread of its own turns entries into text and writes them, so that the traffic never waits for a disk. A file whose
name ends in ``.zst`` is compressed, see ``fault_injection.wire.compressed_lines``.

What nobody will read can be left out. Its numbers are told in the next line that is written, as ``left_out``.
"""

import json
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import msgspec

from fault_injection.wire.compressed_lines import SUFFIX, CompressedLines
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.metadata_views import MetadataRecord
from fault_injection.wire.points import Direction
from fault_injection.wire.views import FetchRequestView, FetchResponseView, ProduceRequestView, ProduceResponseView

Outcome = Literal["forwarded", "late", "dropped", "closed", "aborted", "held", "answered", "fabricated"]
ALIVE_CHECK_S = 0.2
Json = dict[str, "Json"] | list["Json"] | str | int | bool | None


@dataclass(frozen=True, slots=True)
class TraceTrailer:
    """What the last line of a file says.

    Attributes:
        first_seq: frames from this number on arrived after the file was begun.
        next_seq: frames below it arrived before the file was ended.
        lines: how many lines of frames there are; the writer counts them.
    """

    first_seq: int
    next_seq: int
    lines: int = 0


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One frame as it is written down.

    Attributes:
        seq: order of arrival at the gate, unique in a run.
        arrived_ns: when its last byte arrived, monotonic.
        forwarded_ns: when its first byte went on, monotonic; None if it never did. Of a frame that nobody could
            want it is ``arrived_ns``, also if a part went on while the rest arrived (``cut_through``).
        connection: number of the connection, unique in a run.
        link: kind of the channel.
        source: sender of the request, also in the line of its answer.
        destination: receiver of the request, also in the line of its answer.
        direction: request or response.
        api_key: which api; None for an answer that no request is known for.
        api: its name.
        api_version: version of the request.
        correlation_id: ties answer and request together; None without a readable header.
        client_id: how the sender of the request names itself.
        size: bytes on the wire, the length prefix included.
        decoded: what it says; None if undecoded.
        hold: name of the armed action that caught it.
        outcome: what became of it; "held" in the line of a frame that was caught and waits, "late" of a request that
            went on after its sender's connection had ended, "answered" of a frame that went no further because the gate
            answered, "fabricated" of the answer that the gate made and sent.
    """

    seq: int
    arrived_ns: int
    forwarded_ns: int | None
    connection: int
    link: str
    source: int | None
    destination: int
    direction: Direction
    api_key: int | None
    api: str | None
    api_version: int | None
    correlation_id: int | None
    client_id: str | None
    size: int
    decoded: RequestView | ResponseView | None
    hold: str | None
    outcome: Outcome


def line(entry: TraceEntry, left_out: list[int] | None = None) -> str:
    """Return the entry as one line of JSON without its end of line, with the numbers of those that were left out."""
    columns: dict[str, Any] = {name: getattr(entry, name) for name in _COLUMNS}
    columns["decoded"] = as_json(entry.decoded)
    if left_out:
        columns["left_out"] = left_out
    return _ENCODE(columns)


def line_at_once(entry: TraceEntry, left_out: list[int] | None = None) -> bytes:
    """Return the same as ``line`` and sooner: fields that have their default may be in it, and text is UTF-8."""
    said = entry.decoded
    if left_out or not isinstance(said, _TOLD_AT_ONCE) or (isinstance(said, FetchResponseView) and _has_metadata(said)):
        return line(entry, left_out).encode()
    return _ENCODE_AT_ONCE(entry)


def _has_metadata(said: FetchResponseView) -> bool:
    """Return whether there are records that have to be told by their kind."""
    return any(given.metadata for given in said.partitions)


def as_json(value: Any) -> Json:  # noqa: ANN401 - any view or part of one
    """Return a view as JSON; fields that have their default are left out, topic ids are text."""
    kind = type(value)
    if kind in _PLAIN:
        return value  # type: ignore[no-any-return]
    if kind is tuple:
        return [as_json(item) for item in value]
    if is_dataclass(kind):
        told: dict[str, Json] = {"record": kind.__name__} if issubclass(kind, MetadataRecord) else {}
        for name, default in _fields(kind):
            content = getattr(value, name)
            if content is not default and content != default:
                told[name] = as_json(content)
        return told
    return str(value) if kind is UUID else value


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, object], ...]:
    return tuple((field.name, field.default) for field in fields(kind))


_PLAIN = frozenset((int, str, bool, type(None)))
_COLUMNS = tuple(field.name for field in fields(TraceEntry))
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
_ENCODE_AT_ONCE = msgspec.json.Encoder().encode
_TOLD_AT_ONCE = (FetchRequestView, FetchResponseView, ProduceRequestView, ProduceResponseView)
Keeps = Callable[[TraceEntry], bool]


class Trace:
    """Writes entries to one file at a time; safe to call from any thread."""

    def __init__(self) -> None:
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._is_open = False
        self._first_seq = 0
        self._failure: Exception | None = None
        self._writer = threading.Thread(target=self._write_all, name="wire-trace", daemon=True)
        self._writer.start()

    @property
    def waiting(self) -> int:
        """How many lines are still to be written."""
        return self._orders.qsize()

    def write(self, entry: TraceEntry) -> None:
        """Write down a frame; nothing happens while no file was given."""
        if self._is_open:
            self._orders.put(entry)

    def rotate(self, path: Path, number: Callable[[], int] = int, keeps: Keeps | None = None) -> None:
        """Write to a new file from now on; everything before it is in the old file when this returns.

        The number is drawn when the new file takes entries: a frame above it that is written at once is not lost.

        Args:
            path: the new file.
            number: draws a number that no frame has: those of all frames to come are above it.
            keeps: which frames are worth a line, beside those that an action caught; None for all.

        Raises:
            OSError: the file cannot be created.
            ModuleNotFoundError: it is to be compressed, and pyarrow is not installed.
        """
        self._failure = None
        self._orders.put(_TraceFile(path, keeps))
        self._is_open = True
        self._first_seq = number() + 1
        self.flush()

    def end(self, next_seq: int) -> None:
        """Write the last line of the file and no more; nothing happens while no file was given.

        Args:
            next_seq: a number that no frame has: those of all frames to come are above it.

        Raises:
            OSError: a line could not be written; the file is cut short.
        """
        if self._is_open:
            self._is_open = False
            self._orders.put(TraceTrailer(self._first_seq, next_seq))
        self.flush()

    def flush(self) -> None:
        """Return when everything written so far is in the file.

        Raises:
            OSError: a line could not be written; the file is cut short and no later line is in it.
        """
        done = threading.Event()
        self._orders.put(done)
        while self._writer.is_alive() and not done.wait(ALIVE_CHECK_S):
            pass
        if isinstance(self._failure, OSError):
            raise self._failure
        if self._failure is not None:
            raise OSError(f"a line cannot be told: {self._failure!r}") from self._failure

    def close(self) -> None:
        """Write what is left and end the thread."""
        self._is_open = False
        self._orders.put(None)
        self._writer.join()

    def _write_all(self) -> None:
        file: _TraceFile | None = None
        while (order := self._orders.get()) is not None:
            try:
                file = _carried_out(order, file)
            except Exception as failure:  # noqa: BLE001 - a line that cannot be told must not end the thread in silence
                self._failure = self._failure or failure
                with suppress(OSError):  # what it still holds in memory is lost
                    if file is not None:
                        file.close()
                file = None
            if isinstance(order, threading.Event):
                order.set()
        if file is not None:
            file.close()


def _carried_out(order: "_Order", file: "_TraceFile | None") -> "_TraceFile | None":
    """Write a line, or go over to a new file, or end it, or bring it up to date; return the file that lines go to."""
    if isinstance(order, _TraceFile):
        if file is not None:
            file.close()
        return order
    if file is None:
        return None
    match order:
        case TraceEntry():
            file.write(order)
        case TraceTrailer():
            file.end(order)
            return None
        case _:
            file.flush()
    return file


class _TraceFile:
    """A file that lines are written to."""

    def __init__(self, path: Path, keeps: Keeps | None) -> None:
        self._is_compressed = path.suffix == SUFFIX
        self._file = CompressedLines(path) if self._is_compressed else path.open("wb")
        self._keeps = keeps
        self._left_out: list[int] = []
        self._lines = 0

    def write(self, entry: TraceEntry) -> None:
        """Write a line, or leave it out."""
        if self._keeps is not None and entry.hold is None and not self._keeps(entry):
            self._left_out.append(entry.seq)
            return
        told = line_at_once(entry, self._left_out) if self._is_compressed else line(entry, self._left_out).encode()
        self._file.write(told + b"\n")
        self._lines += 1
        self._left_out = []

    def end(self, trailer: TraceTrailer) -> None:
        """Write the last line, and close the file."""
        columns = {"end": True, **asdict(replace(trailer, lines=self._lines))}
        if self._left_out:
            columns["left_out"] = self._left_out
        self._file.write(json.dumps(columns, separators=(",", ":")).encode() + b"\n")
        self.close()

    def flush(self) -> None:
        """Have everything in the file that was written."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


_Order = TraceEntry | TraceTrailer | _TraceFile | threading.Event | None
