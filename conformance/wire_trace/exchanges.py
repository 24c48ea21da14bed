"""Which answer belongs to which request? The two share the connection and a correlation id."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.record.wire import Frame


class Exchange(NamedTuple):
    """A request and the answer to it; None if none came."""

    request: Frame
    answer: Frame | None


def exchanges(frames: Iterable[Frame]) -> list[Exchange]:
    """Return the requests among some frames with their answers, in the order of the requests."""
    requests, answers = [], {}
    for frame in frames:
        if frame.direction == "request":
            requests.append(frame)
        else:
            answers[frame.connection, frame.correlation_id] = frame
    return [Exchange(request, answers.get((request.connection, request.correlation_id))) for request in requests]
