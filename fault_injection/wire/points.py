"""Which frames does a protocol point name?

A protocol point is a named predicate on decoded frames. A response point is told by the request that is
answered: its fields are compared with that request.

Choices: a metadata fetch of KRaft is FETCH as well; it only ever matches the ``controller_fetch`` points,
because it travels on a link of the controller channel or asks for the metadata topic.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from fault_injection.wire.messages import RequestView
from fault_injection.wire.views import FetchPartition

Direction = Literal["request", "response"]
LinkKind = Literal["replication", "controller", "client", "zookeeper"]

METADATA_TOPIC = "__cluster_metadata"
METADATA_TOPIC_ID = UUID(int=1)
FETCH_KEY = 1


@dataclass(frozen=True, slots=True)
class PointKind:
    """What a point's name fixes: the api, the direction and, for FETCH, which kind of fetch."""

    api_key: int
    direction: Direction
    fetches: Literal["data", "metadata"] | None = None


POINTS: Mapping[str, PointKind] = {
    "fetch_request": PointKind(FETCH_KEY, "request", "data"),
    "fetch_response": PointKind(FETCH_KEY, "response", "data"),
    "offsets_for_leader_epoch_request": PointKind(23, "request"),
    "offsets_for_leader_epoch_response": PointKind(23, "response"),
    "leader_and_isr": PointKind(4, "request"),
    "update_metadata": PointKind(6, "request"),
    "stop_replica": PointKind(5, "request"),
    "alter_partition_request": PointKind(56, "request"),
    "alter_partition_response": PointKind(56, "response"),
    "controller_fetch_request": PointKind(FETCH_KEY, "request", "metadata"),
    "controller_fetch_response": PointKind(FETCH_KEY, "response", "metadata"),
}


@dataclass(frozen=True, slots=True)
class Point:
    """A protocol point; None stands for any.

    Attributes:
        name: one of ``POINTS``.
        source: id of the broker that sends the request.
        destination: id of the broker that receives it.
        topic: name of a topic the request is about.
        partition: a partition of it.
        fetch_offset: the offset the request fetches from; only FETCH has one.
        leader_epoch: the current leader epoch in the request (FETCH v9+); for OffsetsForLeaderEpoch the
            epoch asked about.
        nth: which of the matching frames, counted from 1.

    Raises:
        ValueError: there is no point of that name, or ``nth`` is below 1.
    """

    name: str
    source: int | None = None
    destination: int | None = None
    topic: str | None = None
    partition: int | None = None
    fetch_offset: int | None = None
    leader_epoch: int | None = None
    nth: int = 1

    def __post_init__(self) -> None:
        if self.name not in POINTS:
            raise ValueError(f"no protocol point is named {self.name!r}; there are {', '.join(POINTS)}")
        if self.nth < 1:
            raise ValueError(f"nth counts from 1, not {self.nth}")

    @property
    def kind(self) -> PointKind:
        """What the name fixes."""
        return POINTS[self.name]


@dataclass(frozen=True, slots=True)
class ObservedRequest:
    """A request as the gate saw it arrive.

    Attributes:
        connection: number of the connection, unique in a run.
        correlation_id: what its answer repeats.
        api_key: which api.
        link_kind: which channel it came through.
        source: the sender; None while it is not known.
        destination: the node it is for.
        view: what it says; None if undecoded.
        arrived_ns: when its last byte arrived, monotonic.
    """

    connection: int
    correlation_id: int
    api_key: int
    link_kind: LinkKind
    source: int | None
    destination: int
    view: RequestView | None
    arrived_ns: int

    @property
    def partitions(self) -> tuple[Any, ...]:
        """The partitions the request is about; empty if it names none or is undecoded."""
        return tuple(getattr(self.view, "partitions", ()))


def is_metadata_fetch(request: ObservedRequest) -> bool:
    """Whether a FETCH replicates the metadata log of KRaft."""
    return request.link_kind == "controller" or any(
        entry.topic == METADATA_TOPIC or entry.topic_id == METADATA_TOPIC_ID for entry in request.partitions
    )


def matches(point: Point, request: ObservedRequest) -> bool:
    """Whether a request, or the request of a response, is the one a point names; ``nth`` is not counted."""
    kind = point.kind
    if request.api_key != kind.api_key:
        return False
    if kind.fetches is not None and is_metadata_fetch(request) != (kind.fetches == "metadata"):
        return False
    if point.source not in (None, request.source) or point.destination not in (None, request.destination):
        return False
    return not _names_partition(point) or bool(matching_partitions(point, request))


def matching_partitions(point: Point, request: ObservedRequest) -> tuple[Any, ...]:
    """Give the entries of a request that a point is about."""
    return tuple(entry for entry in request.partitions if _is_about(point, entry))


def _names_partition(point: Point) -> bool:
    return (point.topic, point.partition, point.fetch_offset, point.leader_epoch) != (None,) * 4


def _is_about(point: Point, entry: Any) -> bool:  # noqa: ANN401 - an entry of any request
    fetch_offset = entry.fetch_offset if isinstance(entry, FetchPartition) else None
    return (
        point.topic in (None, entry.topic)
        and point.partition in (None, entry.partition)
        and point.fetch_offset in (None, fetch_offset)
        and point.leader_epoch in (None, entry.leader_epoch)
    )
