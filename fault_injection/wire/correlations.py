"""Which request does an answer on a connection belong to?"""

from typing import Generic, TypeVar

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
        """Give the requests that no later one was answered after, oldest first."""
        return tuple(self._waiting.values())

    def sent(self, correlation_id: int, request: T) -> None:
        """Remember a request that was let through."""
        self._waiting.pop(correlation_id, None)
        self._waiting[correlation_id] = request
        if len(self._waiting) > CORRELATIONS_MAX:
            del self._waiting[next(iter(self._waiting))]

    def answered(self, correlation_id: int) -> T | None:
        """Give the request of an answer and forget it and all before it; None if there is none."""
        if correlation_id not in self._waiting:
            return None
        while (earlier := next(iter(self._waiting))) != correlation_id:
            del self._waiting[earlier]
        return self._waiting.pop(correlation_id)
