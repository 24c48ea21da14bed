"""What is known of a connection, and of one frame on its way through the gate?"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fault_injection.cluster.relay import LinkName
from fault_injection.wire.answer_order import ParkingSpace
from fault_injection.wire.codec import api_name
from fault_injection.wire.fetch_reader import FetchSession
from fault_injection.wire.gate_events import FORWARD, FrameDecision
from fault_injection.wire.headers import RequestHeader
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import Direction, ObservedRequest
from fault_injection.wire.trace import Outcome, TraceEntry

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
        requests: how many requests were decided about; later ones tell nothing new about the source.
        asked: api and version of the requests that went on unread, by correlation id.
        session: what incremental fetches leave out.
        sent: requests that wait for their answer.
    """

    number: int
    link: LinkName
    source: int | None
    is_lost: bool = False
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
