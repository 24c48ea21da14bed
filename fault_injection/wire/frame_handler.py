"""What does a connection ask about the frames that it moves?

``GateProxy`` answers. A connection knows no more of it than this, so that bytes and decisions stay apart.
"""

from typing import Protocol

from fault_injection.cluster.relay import LinkName
from fault_injection.wire.channel import Valve
from fault_injection.wire.passage import ConnectionState, Passage
from fault_injection.wire.points import Direction
from fault_injection.wire.trace import Outcome
from fault_injection.wire.unread import UnreadFrame


class FrameHandler(Protocol):
    """Decides about every frame of a proxy; every method may be called from any thread."""

    @property
    def valve(self) -> Valve:
        """What is imposed on the network."""
        ...

    def connected(self, link: LinkName) -> ConnectionState:
        """Return what is known of a new connection."""
        ...

    def connection_lost(self, connection: ConnectionState) -> None:
        """Discharge what a connection held; further frames on it are turned away."""
        ...

    def sender_lost(self, connection: ConnectionState) -> bool:
        """Discharge what a connection held when its sender is gone; return whether a frame outlives that."""
        ...

    def may_begin(self, connection: ConnectionState, begun: memoryview) -> bool:
        """Return whether the first bytes of an answer may go on, because nobody can want the frame."""
        ...

    def unread(
        self, direction: Direction, connection: ConnectionState, frame: bytearray, *, has_begun: bool = False
    ) -> UnreadFrame | None:
        """Return the frame if it may go on before it is read, because nobody can want it; ``unread_ended`` follows."""
        ...

    def unread_ended(self, unread: UnreadFrame, outcome: Outcome) -> None:
        """Note what became of a frame that went on unread."""
        ...

    def request_arrived(self, connection: ConnectionState, frame: bytearray) -> Passage:
        """Decide about a request."""
        ...

    def response_arrived(self, connection: ConnectionState, frame: bytearray) -> Passage:
        """Decide about a response."""
        ...

    def malformed(self) -> None:
        """Note bytes that are no frame."""
        ...

    def is_answered(self, connection: ConnectionState) -> bool:
        """Return whether no request that was let through on a connection waits for its answer."""
        ...

    def fabricated(self, passage: Passage) -> tuple[Passage, bytearray]:
        """Return the answer that the gate makes. Raises CannotAnswerError if the request was not understood."""
        ...

    def departs(self, passage: Passage) -> int:
        """Note that a frame goes on now and return the time; to be called before its first byte goes."""
        ...

    def release(self, name: str) -> None:
        """Let a held frame go on. Raises GateError unless a frame is held under that name."""
        ...

    def ended(self, passage: Passage, forwarded_ns: int | None, outcome: Outcome) -> None:
        """Write down what became of a frame."""
        ...

    def failed(self, defect: Exception) -> None:
        """Note a failure of the tester's own: frames may have been lost by it."""
        ...
