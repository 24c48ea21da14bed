"""Which request does an answer belong to?

Kept are requests that may still be answered; those whose answers never come are forgotten when too many
newer ones are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from oracle.tracing.observed import RequestKey

if TYPE_CHECKING:
    from collections.abc import Mapping

IN_FLIGHT_MAX = 20_000

Asked = TypeVar("Asked")


class InFlight(Generic[Asked]):
    """What was asked in each request, by its key."""

    def __init__(self) -> None:
        self._asked: dict[RequestKey, Asked] = {}

    def sent(self, key: RequestKey, asked: Asked) -> None:
        """Keep what a request asks."""
        if len(self._asked) >= IN_FLIGHT_MAX:
            self._asked.pop(next(iter(self._asked)))
        self._asked[key] = asked

    def asked(self, key: RequestKey) -> Asked | None:
        """Give what a request asked; None if it was sent before the trace began."""
        return self._asked.get(key)

    def delivered(self, key: RequestKey) -> Asked | None:
        """Give what a request asked whose answer was delivered, and forget it."""
        return self._asked.pop(key, None)


def request_key(frame: Mapping[str, Any]) -> RequestKey:
    """Give the key that a request and its answer share."""
    return RequestKey(frame["connection"], frame["correlation_id"])
