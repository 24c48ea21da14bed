"""How does a request arrive late? The gate holds its frame, and everything else goes on.

A producer's request is sent on a connection of its own, so that nothing waits behind it. A coordinator's marker is held
on the coordinator's connection, which is reset then: the coordinator thinks it lost and sends another one. Both are
the very bytes that were sent, delivered when the script says so.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.clients.transactional_requests import WAITS
from fault_injection.cluster.relay import CLIENTS
from fault_injection.waiting import until
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import HOLDING, HoldStatus
from fault_injection.wire.points import POINTS, Point, PointKind
from oracle.error_codes import ErrorCode
from oracle.vocabulary import PointName

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.clients.transactional_requests import ProducerAnswer, ProducerRequest, TransactionalRequests
    from fault_injection.wire.messages import ResponseView
    from fault_injection.wire.proxy import GateProxy

DEADLINE_S = 30.0


@dataclass(slots=True)
class LateRequests:
    """The requests of one script that are under way while it goes on, each held at the gate under its name.

    Attributes:
        requests: sends them.
        gate: all of them pass it.
        topic: the script's.
        waiting: what waits for the answer, by name.
    """

    requests: TransactionalRequests
    gate: GateProxy
    topic: str
    waiting: dict[str, Callable[[], ProducerAnswer]] = field(default_factory=dict)

    def send(self, name: str, request: ProducerRequest) -> None:
        """Send a producer's request, and hold it.

        Raises:
            DeadlineExceededError: it did not come by.
        """
        broker = self.requests.broker_of(request)
        is_asked = PointKind(request.api_key, "request")
        point = next(point for point, kind in POINTS.items() if kind == is_asked)
        self.gate.arm(name, Point(point, CLIENTS, broker))
        answer = self.requests.sent_apart(request)
        self.await_caught(name)

        def told() -> ProducerAnswer:
            self.gate.release(name)
            error, given = answer()
            return (error, given) if error not in WAITS else self.requests.until_told(request)

        self.waiting[name] = told

    def hold_marker(self, name: str, partition: int) -> None:
        """Lie in wait for the next marker of a partition, whichever coordinator has it written."""
        leader = self.requests.leader_of(partition)
        point = Point(PointName.WRITE_TXN_MARKERS_REQUEST, None, leader, self.topic, partition)
        self.gate.arm(name, point, outlives=True)
        self.waiting[name] = lambda: self._late_marker(name, partition)

    def break_off(self, name: str) -> None:
        """Have the coordinator think its marker lost, once it is held.

        Raises:
            DeadlineExceededError: no marker came.
        """
        self.await_caught(name)
        self.gate.lose_sender(name)
        self._await(name, HoldStatus.ORPHANED)

    def await_caught(self, name: str) -> None:
        """Wait until a request is held. Raises DeadlineExceededError if none came."""
        self._await(name, HoldStatus.CAUGHT)

    def deliver(self, name: str) -> ProducerAnswer:
        """Let a request go on, and return its answer; a sender that is told to wait sends it again, as every client.

        Raises:
            DeadlineExceededError: there is none.
            PuppetError: likewise.
        """
        return self.waiting.pop(name)()

    def close(self) -> None:
        """Throw away what is still held, with its connection."""
        for name in self.waiting:
            with suppress(GateError):  # it has ended, or it never came
                if self.gate.status(name) in HOLDING:
                    self.gate.close_connection(name)
                else:
                    self.gate.disarm(name)

    def _await(self, name: str, status: HoldStatus) -> None:
        until(lambda: self.gate.status(name) is status, deadline_s=DEADLINE_S, what=f"{name!r} to be {status.value}")

    def _late_marker(self, name: str, partition: int) -> ProducerAnswer:
        """Deliver a marker, and take from the wire what its leader answers, as nobody else waits for that."""
        self.gate.release_late(name)

        def answered() -> ResponseView | None:
            caught = self.gate.caught(name)
            return caught.response if caught is not None else None

        told = until(answered, deadline_s=DEADLINE_S, what=f"the answer to {name!r}")
        parts = getattr(told, "partitions", ())
        return ErrorCode(next(part.error for part in parts if part.partition == partition)), None
