"""What is known of a connection, and of one frame on its way through the gate?"""

import os
import select
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from fault_injection.cluster.relay import LinkName
from fault_injection.wire.codec import api_name
from fault_injection.wire.fetch_reader import FetchSession
from fault_injection.wire.gate_events import FORWARD, FrameDecision
from fault_injection.wire.headers import RequestHeader
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import Direction, ObservedRequest
from fault_injection.wire.trace import Outcome, TraceEntry

# When may an answer that the gate makes go, so that the answers of a connection keep the order of its requests?
#
# A broker answers the requests of a connection in their order, and clients rely on it. A request that the gate
# answers never reaches the broker, while requests before it may still wait there. So its answer waits until each
# of those has had its end: passed on, dropped, or answered otherwise. Later requests wait behind it, as they do in a
# broker. Produce requests with acks=0 have no answer and are not waited for.


class AnswerOrder:
    """Tells the thread of the requests of one connection when the thread of its answers has nothing to do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_busy = False
        self._space: ParkingSpace | None = None

    def begin(self) -> None:
        """Note that answers came."""
        self._is_busy = True

    def end(self) -> None:
        """Note that these answers have had their end."""
        self._is_busy = False
        if self._space is not None:  # seen by either thread: one sets it before it looks, the other looks after
            with self._lock:
                if self._space is not None:
                    self._space.tell("forward")
                    self._space = None

    def wait(self, client: socket.socket, is_answered: Callable[[], bool]) -> bool:
        """Wait until every request let through so far is answered; tell whether the client is still there.

        Args:
            client: whose end ends the wait.
            is_answered: whether no request let through waits for its answer.
        """
        is_there = True
        while is_there:
            space = self._space = ParkingSpace()
            try:
                if is_answered() and not self._is_busy:
                    return True
                is_there = space.wait(client, None) == "forward"
            finally:
                with self._lock:
                    self._space = None
                space.close()
        return False


# How does a held frame wait for its word without losing sight of its connection?
#
# The thread that moves a connection's frames waits here for whichever comes first: the word what to do with
# the frame, the end of its delay, or the end of the connection it came from.


Word = Literal["forward", "drop", "close", "answer", "abort"]

_HUNG_UP = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


class ParkingSpace:
    """Where one held frame waits. The word is given once; whoever waits closes the space.

    Attributes:
        word: the word that was given.
        error: Kafka's error code to answer with, if that is the word.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.word: Word | None = None
        self.error: int | None = None

    def tell(self, word: Word, error: int | None = None) -> None:
        """Give the word. Must not be called after ``close``."""
        self.word, self.error = word, error
        os.write(self._write, b"!")

    def wait(self, source: socket.socket, timeout_ms: int | None) -> Word | None:
        """Wait for the word and give it: abort if the source hung up, None if the time passed."""
        poll = select.poll()
        poll.register(self._read, select.POLLIN)
        poll.register(source, getattr(select, "POLLRDHUP", 0))
        ready = dict(poll.poll(timeout_ms))
        if self._read in ready:
            return self.word
        return "abort" if any(flags & _HUNG_UP for flags in ready.values()) else None

    def close(self) -> None:
        """Give the space back."""
        os.close(self._read)
        os.close(self._write)


# How much of a frame that is still arriving has gone on already?
#
# A large answer that nobody can want goes on as it arrives, as it would without a gate, and is complete at its
# receiver no later. Its last piece goes on when the frame is whole and queued to be read.


PIECE_BYTES_MIN = 16 * 1024
"""Fewer bytes are not worth a piece of their own: each wakes the receiver once."""


class CutThrough:
    """The frame under way on one direction of a connection; used by the thread that moves it.

    Args:
        may_begin: says of the first bytes of a frame whether they may go on.
        send: sends bytes on; tells whether the connection goes on.
    """

    def __init__(self, may_begin: Callable[[memoryview], bool], send: Callable[[memoryview], bool]) -> None:
        self._may_begin = may_begin
        self._send = send
        self._gone = 0

    @property
    def has_begun(self) -> bool:
        """Return whether a part of the frame under way has gone on."""
        return self._gone > 0

    def advance(self, begun: memoryview) -> bool:
        """Send on what has arrived of an unfinished frame; tell whether the connection goes on."""
        if len(begun) - self._gone < PIECE_BYTES_MIN or not (self._gone or self._may_begin(begun)):
            return True
        piece, self._gone = begun[self._gone :], len(begun)
        return self._send(piece)

    def rest(self, frame: bytearray) -> memoryview:
        """Return what is left to send of the frame now that it is whole."""
        gone, self._gone = self._gone, 0
        return memoryview(frame)[gone:]


# Which request does an answer on a connection belong to?


T = TypeVar("T")

CORRELATIONS_MAX = 10_000


class Correlator(Generic[T]):
    """Finds the request an answer belongs to, on one connection.

    Brokers answer in the order of the requests, so requests before an answered one have no answer
    (Produce with acks=0). Invariant: at most ``CORRELATIONS_MAX`` requests are remembered.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def waiting(self) -> tuple[T, ...]:
        """Return the requests that no later one was answered after, oldest first."""
        return tuple(self._waiting.values())

    def sent(self, correlation_id: int, request: T) -> None:
        """Remember a request that was let through."""
        self._waiting.pop(correlation_id, None)
        self._waiting[correlation_id] = request
        if len(self._waiting) > CORRELATIONS_MAX:
            del self._waiting[next(iter(self._waiting))]

    def answered(self, correlation_id: int) -> T | None:
        """Return the request of an answer and forget it and all before it; None if there is none."""
        if correlation_id not in self._waiting:
            return None
        while (earlier := next(iter(self._waiting))) != correlation_id:
            del self._waiting[earlier]
        return self._waiting.pop(correlation_id)


Sent = tuple[RequestHeader, ObservedRequest]


@dataclass(slots=True)
class ConnectionState:
    """What is known of one connection; ``source`` is learned from its frames.

    Attributes:
        number: unique in a run.
        link: the endpoint it came through.
        source: who opened it; None while it is not known.
        is_lost: whether it has ended.
        is_orphaned: whether its sender is gone and a frame of it can still be delivered, so that it is not over yet.
        requests: how many requests were decided about; later ones tell nothing new about the source.
        asked: api and version of the requests that went on unread, by correlation id.
        session: what incremental fetches leave out.
        sent: requests that wait for their answer.
    """

    number: int
    link: LinkName
    source: int | None
    is_lost: bool = False
    is_orphaned: bool = False
    requests: int = 0
    asked: dict[int, tuple[int, int]] = field(default_factory=dict)
    session: FetchSession = field(default_factory=FetchSession)
    sent: Correlator[Sent] = field(default_factory=Correlator)


@dataclass(slots=True)
class Passage:
    """One frame on its way through the gate, and what was decided about it.

    ``is_fabricated`` marks an answer that the gate made.
    """

    seq: int
    direction: Direction
    connection: ConnectionState
    size: int
    arrived_ns: int
    header: RequestHeader | None = None
    request: ObservedRequest | None = None
    response: ResponseView | None = None
    decision: FrameDecision = FORWARD
    space: ParkingSpace | None = None
    is_fabricated: bool = False

    @property
    def error(self) -> int:
        """Kafka's error code to answer with, when that is its fate."""
        told = self.space.error if self.space is not None else self.decision.error
        return told or 0

    @property
    def said(self) -> RequestView | ResponseView | None:
        """What the frame says; None if undecoded."""
        if self.direction == "response":
            return self.response
        return self.request.view if self.request is not None else None

    def entry(self, forwarded_ns: int | None, outcome: Outcome) -> TraceEntry:
        """Return the frame's line of the trace, now that its fate is known."""
        header, request, link = self.header, self.request, self.connection.link
        return TraceEntry(
            seq=self.seq,
            arrived_ns=self.arrived_ns,
            forwarded_ns=forwarded_ns,
            connection=self.connection.number,
            link=link.kind,
            source=request.source if request is not None else self.connection.source,
            destination=link.destination,
            direction=self.direction,
            api_key=header.api_key if header is not None else None,
            api=api_name(header.api_key) if header is not None else None,
            api_version=header.api_version if header is not None else None,
            correlation_id=header.correlation_id if header is not None else None,
            client_id=header.client_id if header is not None else None,
            size=self.size,
            decoded=self.said,
            hold=self.decision.name,
            outcome="fabricated" if self.is_fabricated and outcome == "forwarded" else outcome,
        )
