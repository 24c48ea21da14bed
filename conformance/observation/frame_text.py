"""What is a frame, in one line for a person? Who sends what to whom, what it says of the topic, what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.observation.event_text import event_text
from conformance.stalls import NS_PER_MS
from oracle.tracing.observed import FetchDelivered, FetchReceived, IsrDelivered, LookupDelivered, LookupReceived

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.tracing.observed import Event

ARRIVALS = (FetchReceived, FetchDelivered, LookupReceived, LookupDelivered, IsrDelivered)
"""They say no more than that the frame went on, and its fate says so too."""


def frame_text(frame: dict[str, Any], shown: Sequence[Event]) -> str:
    """Say what a frame is and which events it shows.

    Args:
        frame: a line of the wire trace.
        shown: the events that it shows, when it was sent or when it was delivered.
    """
    is_request = frame["direction"] == "request"
    sender, receiver = (
        (frame["source"], frame["destination"]) if is_request else (frame["destination"], frame["source"])
    )
    kind = frame["api"] if is_request else f"answer to {frame['api']}"
    said = "; ".join(dict.fromkeys(event_text(event).strip() for event in shown if not isinstance(event, ARRIVALS)))
    return f"{_node(sender)} to {_node(receiver)}, {kind} v{frame['api_version']}{_fate(frame)}: {said}"


def _node(node: int | None) -> str:
    return "somebody" if node is None else f"node {node}"


def _fate(frame: dict[str, Any]) -> str:
    name = f" ({frame['hold']!r})" if frame["hold"] is not None else ""
    if frame["outcome"] != "forwarded":
        return f" [{frame['outcome']}{name}]"
    waited_ms = (frame["forwarded_ns"] - frame["arrived_ns"]) // NS_PER_MS
    return f" [held for {waited_ms} ms{name}]" if name else ""
