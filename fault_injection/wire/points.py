"""Which frames does a protocol point name?

A protocol point is a named predicate on decoded frames. Its fields and ``asked`` are compared with the request,
at a response point with the request that is answered; ``answered`` is compared with the answer itself.

Choices: FETCH is three things. Followers fetch data with their replica id; consumers fetch it with replica id -1;
brokers of KRaft fetch the metadata log, on the controller channel or by its topic. Each has points of its own,
and a fetch of a probe (replica id -2) has none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from fault_injection.wire.content import ANYTHING, REQUEST_FORMS, RESPONSE_FORMS, Content, agreeing, lacking
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.views import FetchRequestView

Direction = Literal["request", "response"]
FetchKind = Literal["data", "metadata", "client", "probe"]
LinkKind = Literal["replication", "controller", "client", "zookeeper"]
"""Which of a node's listeners a link leads to."""

METADATA_TOPIC = "__cluster_metadata"
METADATA_TOPIC_ID = UUID(int=1)
PRODUCE_KEY = 0
FETCH_KEY = 1
CONSUMER_REPLICA_ID = -1


@dataclass(frozen=True, slots=True)
class PointKind:
    """What a point's name fixes: the api, the direction and, for FETCH, which kind of fetch."""

    api_key: int
    direction: Direction
    fetches: FetchKind | None = None


POINTS: Mapping[str, PointKind] = {
    "fetch_request": PointKind(FETCH_KEY, "request", "data"),
    "fetch_response": PointKind(FETCH_KEY, "response", "data"),
    "offsets_for_leader_epoch_request": PointKind(23, "request"),
    "offsets_for_leader_epoch_response": PointKind(23, "response"),
    "leader_and_isr": PointKind(4, "request"),
    "leader_and_isr_response": PointKind(4, "response"),
    "update_metadata": PointKind(6, "request"),
    "update_metadata_response": PointKind(6, "response"),
    "stop_replica": PointKind(5, "request"),
    "stop_replica_response": PointKind(5, "response"),
    "controlled_shutdown_request": PointKind(7, "request"),
    "controlled_shutdown_response": PointKind(7, "response"),
    "alter_partition_request": PointKind(56, "request"),
    "alter_partition_response": PointKind(56, "response"),
    "broker_registration_request": PointKind(62, "request"),
    "broker_registration_response": PointKind(62, "response"),
    "broker_heartbeat_request": PointKind(63, "request"),
    "broker_heartbeat_response": PointKind(63, "response"),
    "controller_fetch_request": PointKind(FETCH_KEY, "request", "metadata"),
    "controller_fetch_response": PointKind(FETCH_KEY, "response", "metadata"),
    "produce_request": PointKind(PRODUCE_KEY, "request"),
    "produce_response": PointKind(PRODUCE_KEY, "response"),
    "client_fetch_request": PointKind(FETCH_KEY, "request", "client"),
    "client_fetch_response": PointKind(FETCH_KEY, "response", "client"),
    "init_producer_id_request": PointKind(22, "request"),
    "init_producer_id_response": PointKind(22, "response"),
    "add_partitions_to_txn_request": PointKind(24, "request"),
    "add_partitions_to_txn_response": PointKind(24, "response"),
    "add_offsets_to_txn_request": PointKind(25, "request"),
    "add_offsets_to_txn_response": PointKind(25, "response"),
    "end_txn_request": PointKind(26, "request"),
    "end_txn_response": PointKind(26, "response"),
    "write_txn_markers_request": PointKind(27, "request"),
    "write_txn_markers_response": PointKind(27, "response"),
    "txn_offset_commit_request": PointKind(28, "request"),
    "txn_offset_commit_response": PointKind(28, "response"),
}


@dataclass(frozen=True, slots=True)
class Point:
    """A protocol point; None stands for any.

    Attributes:
        name: one of ``POINTS``.
        source: id of the broker that sends the request; -1 for clients.
        destination: id of the broker that receives it.
        topic: name of a topic the request is about.
        partition: a partition of it.
        fetch_offset: the offset the request fetches from; only FETCH has one.
        leader_epoch: the current leader epoch in the request (FETCH v9+); for OffsetsForLeaderEpoch the
            epoch asked about.
        nth: which of the matching frames, counted from 1.
        asked: what else the request must say.
        answered: what the answer must say; only of a response point.

    Raises:
        ValueError: there is no point of that name, ``nth`` is below 1, or a condition is on a field that no frame
            at this point has.
    """

    name: str
    source: int | None = None
    destination: int | None = None
    topic: str | None = None
    partition: int | None = None
    fetch_offset: int | None = None
    leader_epoch: int | None = None
    nth: int = 1
    asked: Content = ANYTHING
    answered: Content = ANYTHING

    def __post_init__(self) -> None:
        if self.name not in POINTS:
            raise ValueError(f"no protocol point is named {self.name!r}; there are {', '.join(POINTS)}")
        if self.nth < 1:
            raise ValueError(f"nth counts from 1, not {self.nth}")
        if self.kind.direction == "request" and self.answered != ANYTHING:
            raise ValueError(f"{self.name} is a request: its answer is not known when it passes")
        unknown = [
            *lacking(REQUEST_FORMS[self.kind.api_key], tuple(self.asked.wanted)),
            *lacking(RESPONSE_FORMS[self.kind.api_key], tuple(self.answered.wanted)),
        ]
        if unknown:
            raise ValueError(f"no frame at {self.name} has a field {unknown[0]!r} to compare")

    @property
    def kind(self) -> PointKind:
        """What the name fixes."""
        return POINTS[self.name]

    @property
    def text(self) -> str:
        """Return the point in words."""
        fields = ("source", "destination", "topic", "partition", "fetch_offset", "leader_epoch")
        named = [f"{name} {getattr(self, name)}" for name in fields if getattr(self, name) is not None]
        nth = [f"the {self.nth}. of them"] if self.nth > 1 else []
        asked = [self.asked.text] if self.asked != ANYTHING else []
        answered = [f"answered with {self.answered.text}"] if self.answered != ANYTHING else []
        return ", ".join([self.name, *named, *asked, *answered, *nth])


@dataclass(frozen=True, slots=True)
class ObservedRequest:
    """A request as the gate saw it arrive.

    Attributes:
        connection: number of the connection, unique in a run.
        correlation_id: what its answer repeats.
        api_key: which api.
        link_kind: which channel it came through.
        source: the sender, -1 for clients; None while it is not known.
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
        """Return the partitions the request is about; empty if it names none or is undecoded."""
        return tuple(getattr(self.view, "partitions", ()))


def fetch_kind(request: ObservedRequest) -> FetchKind:
    """Return who fetches what with a FETCH; without its content the channel tells."""
    if is_metadata_fetch(request):
        return "metadata"
    if not isinstance(request.view, FetchRequestView):
        return "client" if request.link_kind == "client" else "data"
    if request.view.replica_id >= 0:
        return "data"
    return "client" if request.view.replica_id == CONSUMER_REPLICA_ID else "probe"


def is_metadata_fetch(request: ObservedRequest) -> bool:
    """Return whether a FETCH replicates the metadata log of KRaft."""
    return request.link_kind == "controller" or any(
        entry.topic == METADATA_TOPIC or entry.topic_id == METADATA_TOPIC_ID for entry in request.partitions
    )


def is_on_link(point: Point, request: ObservedRequest) -> bool:
    """Return whether a request is of the point's kind and between its brokers, whatever it says."""
    kind = point.kind
    if request.api_key != kind.api_key:
        return False
    if point.source not in (None, request.source) or point.destination not in (None, request.destination):
        return False
    return kind.fetches is None or fetch_kind(request) == kind.fetches


def matches(point: Point, request: ObservedRequest) -> bool:
    """Return whether a request, or the request of a response, is the one a point names; ``nth`` is not counted."""
    if not is_on_link(point, request):
        return False
    about = _about(point, request)
    return about is not None and (bool(about) or not _names_partition(point))


def matching_partitions(point: Point, request: ObservedRequest) -> tuple[Any, ...]:
    """Return the entries of a request that a point is about."""
    return _about(point, request) or ()


def matches_answer(point: Point, request: ObservedRequest, response: ResponseView | None) -> bool:
    """Return whether the answer to a matching request says what a point wants it to say."""
    if point.answered == ANYTHING:
        return True
    entries = tuple(getattr(response, "partitions", ()))
    if request.partitions:
        about = {identity(entry) for entry in matching_partitions(point, request)}
        entries = tuple(entry for entry in entries if identity(entry) in about)
    return agreeing(point.answered, response, entries) is not None


def identity(entry: Any) -> tuple[Any, int]:  # noqa: ANN401 - an entry of any message
    """Return what names a partition in a message: the topic's id if it has one, else its name, and the index."""
    return getattr(entry, "topic_id", None) or entry.topic, entry.partition


def _about(point: Point, request: ObservedRequest) -> tuple[Any, ...] | None:
    entries = tuple(entry for entry in request.partitions if _is_about(point, entry))
    return agreeing(point.asked, request.view, entries)


def _names_partition(point: Point) -> bool:
    return (point.topic, point.partition, point.fetch_offset, point.leader_epoch) != (None,) * 4


def _is_about(point: Point, entry: Any) -> bool:  # noqa: ANN401 - an entry of any request
    return (
        point.topic in (None, entry.topic)
        and point.partition in (None, entry.partition)
        and point.fetch_offset in (None, getattr(entry, "fetch_offset", None))
        and point.leader_epoch in (None, getattr(entry, "leader_epoch", None))
    )
