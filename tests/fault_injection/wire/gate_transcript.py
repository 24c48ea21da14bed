"""A gate with a follower and a leader on paper: each call is one frame, each answer one word."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from uuid import UUID

from fault_injection.wire.gate import Gate
from fault_injection.wire.gate_events import Action, FrameDecision
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import LinkKind, ObservedRequest, Point
from fault_injection.wire.views import FetchedPartition, FetchPartition, FetchRequestView, FetchResponseView

FETCH_KEY = 1


def asked(
    offset: int, *, topic: str | None = "t", topic_id: UUID | None = None, partition: int = 0, epoch: int = -1
) -> FetchPartition:
    return FetchPartition(topic, topic_id, partition, offset, current_leader_epoch=epoch)


def given(
    error: int = 0, *, topic: str | None = "t", topic_id: UUID | None = None, partition: int = 0
) -> FetchedPartition:
    return FetchedPartition(topic, topic_id, partition, error, high_watermark=0)


def fetch_of(*partitions: FetchPartition, follower: int = 2) -> FetchRequestView:
    return FetchRequestView(follower, -1, 500, 0, -1, partitions)


def answer_of(*partitions: FetchedPartition, error: int = 0) -> FetchResponseView:
    return FetchResponseView(error, 0, 0, partitions)


@dataclass
class Paper:
    """Frames on paper. Times count up by one nanosecond per frame."""

    gate: Gate = field(default_factory=Gate)
    log: list[str] = field(default_factory=list)
    in_flight: dict[int, ObservedRequest] = field(default_factory=dict)
    _times: Iterator[int] = field(default_factory=lambda: count(1))
    _correlations: Iterator[int] = field(default_factory=lambda: count(1))

    def arm(
        self,
        name: str,
        point: Point,
        action: Action = "hold",
        delay_ms: int = 0,
        *,
        error: int | None = None,
        frames_max: int | None = 1,
    ) -> None:
        self.gate.arm(name, point, next(self._times), action, delay_ms, error=error, frames_max=frames_max)

    def fetch(self, offset: int, *, connection: int = 2, epoch: int = -1) -> str:
        """A follower asks the leader 1; its connection has its number. Gives what becomes of the request."""
        return self.request(fetch_of(asked(offset, epoch=epoch), follower=connection), connection=connection)

    def request(
        self,
        view: RequestView | None,
        *,
        connection: int = 2,
        api_key: int = FETCH_KEY,
        link_kind: LinkKind = "replication",
    ) -> str:
        request = ObservedRequest(
            connection, next(self._correlations), api_key, link_kind, connection, 1, view, next(self._times)
        )
        decision = self.gate.on_request(request, next(self._times))
        self.in_flight[connection] = request
        if decision.action == "forward":
            self.gate.on_forwarded(request)
        return word(decision)

    def release(self, name: str, *, connection: int = 2) -> None:
        """Release a held frame; a request goes on to the leader now."""
        self.gate.release(name, next(self._times))
        caught = self.gate.caught(name)
        if caught is not None and caught.direction == "request":
            self.gate.on_forwarded(self.in_flight[connection])

    def answer(self, error: int = 0, *, connection: int = 2) -> str:
        """Return the leader answers. Gives what becomes of the answer."""
        return self.respond(answer_of(given(error)), connection=connection)

    def respond(self, view: ResponseView | None, *, connection: int = 2) -> str:
        return word(self.gate.on_response(self.in_flight[connection], view, next(self._times)))

    def lose(self, connection: int = 2) -> tuple[str, ...]:
        return self.gate.connection_lost(connection, next(self._times))

    def story(self) -> list[str]:
        """What the gate says happened, one line for each event."""
        return [f"{event.name} {event.status}" for event in self.gate.take_events()]


def word(decision: FrameDecision) -> str:
    return decision.action if decision.name is None else f"{decision.action} {decision.name}"
