"""Which frames are only Kafka trying again?

A follower repeats a request that was answered with a retriable error after a back-off: an epoch lookup that
came before the leader knew of its election (6), a fetch refused for its epoch (74, 75), an offset not yet
available (78), a session to be opened anew (70, 71). No state of the model changes, so nobody counts it.
"""

from typing import Any

from fault_injection.wire.messages import ResponseView
from fault_injection.wire.points import PRODUCE_KEY, ObservedRequest, Point, identity, matching_partitions

STUTTER_ERRORS = frozenset(
    {
        3,  # UNKNOWN_TOPIC_OR_PARTITION: the destination has not heard of it yet
        5,  # LEADER_NOT_AVAILABLE
        6,  # NOT_LEADER_OR_FOLLOWER
        9,  # REPLICA_NOT_AVAILABLE
        41,  # NOT_CONTROLLER
        70,  # FETCH_SESSION_ID_NOT_FOUND
        71,  # INVALID_FETCH_SESSION_EPOCH
        74,  # FENCED_LEADER_EPOCH
        75,  # UNKNOWN_LEADER_EPOCH
        78,  # OFFSET_NOT_AVAILABLE
        100,  # UNKNOWN_TOPIC_ID
        103,  # INCONSISTENT_TOPIC_ID
        106,  # FETCH_SESSION_TOPIC_ID_ERROR
    }
)

COMPARED = ("leader_epoch", "fetch_offset", "last_fetched_epoch")


def is_stutter(point: Point, request: ObservedRequest, response: ResponseView | None) -> bool:
    """Whether an answer only tells the sender to try again, for all the partitions a point is about.

    A producer is a client: whatever it is told is an outcome, and a retry of its own is another attempt.
    """
    if response is None or request.api_key == PRODUCE_KEY:
        return False
    about = {identity(entry) for entry in matching_partitions(point, request)}
    answers: tuple[Any, ...] = getattr(response, "partitions", ())
    errors = {entry.error for entry in answers if identity(entry) in about}
    return response.error in STUTTER_ERRORS or (bool(errors) and errors <= STUTTER_ERRORS)


class Retries:
    """Remembers, for one point, the last matching request of each connection and whether it has to be repeated.

    A follower has one request in flight on a connection; of pipelined requests the last one counts.
    """

    def __init__(self, point: Point) -> None:
        self._point = point
        self._in_flight: dict[int, ObservedRequest] = {}
        self._refused: dict[int, tuple[Any, ...]] = {}

    def sent(self, request: ObservedRequest) -> None:
        """Remember a request."""
        self._in_flight[request.connection] = request
        self._refused.pop(request.connection, None)

    def answered(self, request: ObservedRequest, response: ResponseView | None) -> bool:
        """Take note of an answer; tell whether its request is remembered."""
        waiting = self._in_flight.get(request.connection)
        if waiting is None or waiting.correlation_id != request.correlation_id:
            return False
        del self._in_flight[request.connection]
        if is_stutter(self._point, request, response):
            self._refused[request.connection] = self._said(request)
        return True

    def is_retry(self, request: ObservedRequest) -> bool:
        """Whether a request repeats what was just refused on its connection."""
        return self._refused.get(request.connection) == self._said(request)

    def connection_lost(self, connection: int) -> int:
        """Forget a connection and give how many remembered requests will never be answered."""
        self._refused.pop(connection, None)
        return 1 if self._in_flight.pop(connection, None) is not None else 0

    def _said(self, request: ObservedRequest) -> tuple[Any, ...]:
        return tuple(
            (identity(entry), *(getattr(entry, field, None) for field in COMPARED))
            for entry in matching_partitions(self._point, request)
        )
