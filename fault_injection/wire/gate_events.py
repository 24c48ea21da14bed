"""What can happen to an armed hold, and what does a held frame show?"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import Direction, ObservedRequest, Point, matching_partitions

Action = Literal["hold", "drop", "close", "delay", "answer"]


class HoldStatus(StrEnum):
    """Where an armed action stands; all but the first three are final.

    A frame is orphaned when its sender's connection has ended and it can still be delivered, late.
    """

    ARMED = "armed"
    CAUGHT = "caught"
    ORPHANED = "orphaned"
    RELEASED = "released"
    DROPPED = "dropped"
    CLOSED = "closed"
    ANSWERED = "answered"
    DISCHARGED = "discharged"
    DISARMED = "disarmed"


HOLDING = (HoldStatus.CAUGHT, HoldStatus.ORPHANED)
"""Where an action has a frame that waits for its word."""
STANDING = (HoldStatus.ARMED, *HOLDING)
"""Where an action has not ended."""


@dataclass(frozen=True, slots=True)
class CaughtFrame:
    """The frame that an armed action caught, as it will travel on if it is released.

    Attributes:
        name: the name it was armed under, with ``#`` and a number if the action may catch several frames.
        direction: whether the request or its answer was caught.
        point: the point that matched.
        request: the request caught or answered.
        response: what the caught answer says, or of a request that was delivered late what it was answered, which
            nobody else hears; else None, as of an undecoded answer.
        caught_ns: when, monotonic.
    """

    name: str
    direction: Direction
    point: Point
    request: ObservedRequest
    response: ResponseView | None
    caught_ns: int

    @property
    def view(self) -> RequestView | ResponseView | None:
        """What the caught frame itself says."""
        return self.request.view if self.direction == "request" else self.response

    @property
    def partition(self) -> Any | None:  # noqa: ANN401 - an entry of any request
        """Return the first entry of the request that the point is about, e.g. a ``FetchPartition``."""
        return next(iter(matching_partitions(self.point, self.request)), None)

    @property
    def fetch_offset(self) -> int | None:
        """Return the fetch offset of that entry: the follower's log end offset when it asked."""
        return getattr(self.partition, "fetch_offset", None)


@dataclass(frozen=True, slots=True)
class GateEvent:
    """Something that happened to an armed action or to a frame it caught, in order of occurrence.

    ``at_ns`` is monotonic. The name is the frame's where the action may catch several.
    """

    name: str
    status: HoldStatus
    point: Point
    action: Action
    at_ns: int
    caught: CaughtFrame | None = None


@dataclass(frozen=True, slots=True)
class FrameDecision:
    """What is to be done with a frame now.

    Attributes:
        action: forward it, hold it until told, drop it, close its connection, delay it, or answer it with an error.
        name: the frame's name: that of the armed action that decided; None for forward.
        until_ns: when a delayed frame may go on, monotonic.
        error: Kafka's error code to answer with.
    """

    action: Literal["forward", "hold", "drop", "close", "delay", "answer"]
    name: str | None = None
    until_ns: int | None = None
    error: int | None = None


FORWARD = FrameDecision("forward")
