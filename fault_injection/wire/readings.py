"""What does a frame say, given all that was said before it on its connection?

Decodes a copy, names sender and topics, completes what an incremental fetch leaves out, and follows the fetch
rounds. Whoever calls ``observed``, ``completed``, ``follow`` or ``passed`` holds the lock of the proxy and calls in
the order of arrival; ``asked`` and ``lighten`` need no lock.
"""

import base64
import re
import struct
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar, cast
from uuid import UUID

from fault_injection.wire.codec import Codec
from fault_injection.wire.controller_views import (
    AlterPartitionView,
    BrokerHeartbeatView,
    BrokerRegistrationView,
    ControlledShutdownView,
    LeaderAndIsrView,
    StopReplicaView,
    UpdateMetadataView,
)
from fault_injection.wire.headers import (
    HeaderError,
    RequestHeader,
    request_body_offset,
    request_header,
    response_correlation_id,
)
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.passage import ConnectionState, Passage
from fault_injection.wire.points import METADATA_TOPIC, METADATA_TOPIC_ID, Direction, ObservedRequest
from fault_injection.wire.produce_reader import is_flexible, read_acks
from fault_injection.wire.rounds import Rounds
from fault_injection.wire.unread import KEPT_BYTES_MAX, Content, SaidRequest, SaidResponse, UnreadFrame
from fault_injection.wire.views import EpochRequestView, FetchRequestView, FetchResponseView

PRODUCE_KEY = 0
UNANSWERED_MAX = 10_000

_REQUEST_START = struct.Struct(">hhi")  # api key, version, correlation id
_RESPONSE_START = struct.Struct(">i")
_LENGTH_BYTES = 4


class Readings:
    """Reads the frames of all connections of one proxy.

    Args:
        codec: decodes them.

    Attributes:
        codec: likewise.
        names: what topic ids stand for.
        rounds: the fetch rounds so far.
    """

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.names = TopicNames()
        self.rounds = Rounds()

    @staticmethod
    def asked(direction: Direction, connection: ConnectionState, frame: bytearray) -> tuple[int, int] | None:
        """Return api and version of a frame that can be read later; None if it must be read now."""
        try:
            if direction == "response":
                return connection.asked.pop(_RESPONSE_START.unpack_from(frame, _LENGTH_BYTES)[0], None)
            api_key, api_version, correlation_id = _REQUEST_START.unpack_from(frame, _LENGTH_BYTES)
        except struct.error:
            return None
        if api_key == PRODUCE_KEY and not _is_answered(frame):
            return None
        if len(connection.asked) >= UNANSWERED_MAX:
            connection.asked.clear()  # their answers are read at once
        connection.asked[correlation_id] = api_key, api_version
        return api_key, api_version

    @staticmethod
    def is_awaited(connection: ConnectionState, begun: memoryview) -> bool:
        """Return whether the first bytes of an answer belong to a request that went on unread."""
        return _RESPONSE_START.unpack_from(begun, _LENGTH_BYTES)[0] in connection.asked

    def lighten(self, unread: UnreadFrame) -> None:
        """Keep of a large frame what it says, in place of its bytes."""
        frame = unread.content
        if unread.size <= KEPT_BYTES_MAX or not isinstance(frame, bytearray):
            return
        if unread.direction == "response":
            view = self.codec.response(*unread.asked, frame)
            unread.content = SaidResponse(response_correlation_id(frame), view)
            return
        with suppress(HeaderError):  # it is counted when it is read
            header = request_header(frame)
            unread.content = SaidRequest(header, self.codec.request(header, frame))

    def passed(self, unread: UnreadFrame) -> Passage:
        """Read a frame that went on unread; its passage tells what was said, or nothing if it has no header."""
        passage = Passage(unread.seq, unread.direction, unread.connection, unread.size, unread.arrived_ns)
        try:
            if unread.direction == "request":
                self._read_request(passage, unread.content)
            else:
                self._read_response(passage, unread.content)
        except HeaderError:
            self.codec.note_undecodable()
        self.follow(passage, unread.arrived_ns)
        return passage

    def _read_request(self, passage: Passage, content: Content) -> None:
        if isinstance(content, SaidRequest):
            header, view = content.header, content.view
        else:
            assert isinstance(content, bytearray), "a request is kept or said"
            header = request_header(content)
            view = self.codec.request(header, content)
        passage.header = header
        passage.request = self.observed(passage.connection, header, view, passage.arrived_ns)

    def _read_response(self, passage: Passage, content: Content) -> None:
        assert not isinstance(content, SaidRequest), "a response is kept or said"
        sent = passage.connection.sent.answered(
            content.correlation_id if isinstance(content, SaidResponse) else response_correlation_id(content)
        )
        if sent is None:
            return
        passage.header, passage.request = header, request = sent
        if isinstance(content, SaidResponse):
            view = content.view
        else:
            view = self.codec.response(header.api_key, header.api_version, content)
        passage.response = self.completed(passage.connection, request, view)

    def observed(
        self, connection: ConnectionState, header: RequestHeader, view: RequestView | None, arrived_ns: int
    ) -> ObservedRequest:
        """Return a request with its sender, the names of its topics and all partitions of its fetch session."""
        if connection.link.source is None:
            named = sender_by_view(view)
            if named is not None or connection.source is None:
                connection.source = named if named is not None else sender(view, header.client_id)
        if isinstance(view, FetchRequestView):
            view = connection.session.complete_request(view)
        self.names.learn_from(view)
        return ObservedRequest(
            connection=connection.number,
            correlation_id=header.correlation_id,
            api_key=header.api_key,
            link_kind=connection.link.kind,
            source=connection.source,
            destination=connection.link.destination,
            view=self.names.named(view) if view is not None else None,
            arrived_ns=arrived_ns,
        )

    def completed(
        self, connection: ConnectionState, request: ObservedRequest, view: ResponseView | None
    ) -> ResponseView | None:
        """Return an answer that has come, with the names of its topics and all partitions of its fetch session."""
        if isinstance(view, FetchResponseView) and isinstance(request.view, FetchRequestView):
            view = connection.session.complete_response(request.view, view)
        answer = self.names.named(view) if view is not None else None
        if isinstance(answer, FetchResponseView):
            self.rounds.on_response_arrived(request, answer)
        return answer

    def follow(self, passage: Passage, now_ns: int) -> None:
        """Note that a frame goes on now."""
        request, response, connection = passage.request, passage.response, passage.connection
        if request is None or passage.header is None:
            return
        if passage.direction == "request":
            connection.sent.sent(request.correlation_id, (passage.header, request))
            self.rounds.on_forwarded(request, now_ns)
        elif isinstance(response, FetchResponseView) and isinstance(request.view, FetchRequestView):
            self.rounds.on_response_forwarded(request, response, passage.arrived_ns, now_ns)
        if connection.is_lost and not connection.is_orphaned:
            self.rounds.connection_lost(connection.number)


def _is_answered(produce: bytearray) -> bool:
    """Return whether a Produce request has an answer, as it is not sent with acks=0; False if it cannot be read."""
    try:
        header = request_header(produce)
        offset = request_body_offset(produce, header, is_flexible=is_flexible(header.api_version))
        return read_acks(produce, offset, header.api_version) != 0
    except (HeaderError, ValueError, IndexError, struct.error):
        return False


# Which broker sent a request?
#
# | request | where it names its sender |
# |---|---|
# | FETCH | replica id (up to v14), ReplicaState (v15+); negative for consumers |
# | OffsetsForLeaderEpoch | replica id (v3+), before that the client id |
# | LeaderAndIsr, UpdateMetadata, StopReplica | controller id |
# | AlterPartition, ControlledShutdown, BrokerRegistration, BrokerHeartbeat | broker id |
# | WriteTxnMarkers | client id ``broker-2-txn-marker-sender`` |
# | AddPartitionsToTxn of leaders | client id ``AddPartitionsManager-client-2`` |
# | any other | client id: ``broker-2-fetcher-0`` (0.11+), ``raft-client-2``, or the bare broker id |
#
# In 0.10.2 the client id of a fetcher is its thread name, which names the leader: it is not read.


_CLIENT_IDS = re.compile(
    r"(?:broker-(\d+)-(?:fetcher-\d+|txn-marker-sender)|AddPartitionsManager-client-(\d+)|raft-client-(\d+)|(\d+))"
)


def sender(view: RequestView | None, client_id: str | None) -> int | None:
    """Return the broker that sent a request, None if nothing in the request tells."""
    named = sender_by_view(view)
    return named if named is not None else sender_by_client_id(client_id)


def sender_by_view(view: RequestView | None) -> int | None:
    """Return the broker that a decoded request names as its sender."""
    match view:
        case FetchRequestView(replica_id=named) | EpochRequestView(replica_id=named):
            return named if named >= 0 else None
        case LeaderAndIsrView() | UpdateMetadataView() | StopReplicaView():
            return view.controller_id
        case AlterPartitionView() | ControlledShutdownView() | BrokerRegistrationView() | BrokerHeartbeatView():
            return view.broker_id
        case _:  # of producers, or nothing in it tells
            return None


def sender_by_client_id(client_id: str | None) -> int | None:
    """Return the broker that a client id names."""
    match = _CLIENT_IDS.fullmatch(client_id or "")
    return int(next(group for group in match.groups() if group is not None)) if match is not None else None


# Which topic does a topic id on the wire stand for?
#
# From Fetch v13 on partitions are named by topic id (KIP-516). Ids are learned from whoever knows them:
# the caller, after it created a topic, and LeaderAndIsr v5+, which carries both.


KAFKA_TEXT_LENGTH = 22

View = TypeVar("View", bound=RequestView | ResponseView)


def topic_uuid(text: str | UUID) -> UUID:
    """Read a topic id as Kafka prints it (22 characters, URL-safe base64) or in the usual UUID form.

    Raises:
        ValueError: the text is neither.
    """
    if isinstance(text, UUID):
        return text
    if len(text) == KAFKA_TEXT_LENGTH:
        return UUID(bytes=base64.urlsafe_b64decode(text + "=="))
    return UUID(text)


class TopicNames:
    """The names of topic ids as far as they were learned."""

    def __init__(self) -> None:
        self._names: dict[UUID, str] = {METADATA_TOPIC_ID: METADATA_TOPIC}

    def learn(self, topic_id: str | UUID, name: str) -> None:
        """Remember the name of a topic id."""
        self._names[topic_uuid(topic_id)] = name

    def learn_from(self, view: RequestView | None) -> None:
        """Remember what a controller's request tells about topics."""
        if isinstance(view, LeaderAndIsrView):
            for state in view.partitions:
                if state.topic is not None and state.topic_id is not None and state.topic_id.int:
                    self._names[state.topic_id] = state.topic

    def named(self, view: View) -> View:
        """Return the view with the names of the topic ids that are known."""
        entries: tuple[Any, ...] = getattr(view, "partitions", ())
        if all(self._name(entry) == entry.topic for entry in entries):
            return view
        named = tuple(replace(entry, topic=self._name(entry)) for entry in entries)
        changed: Any = replace
        return cast("View", changed(view, partitions=named))

    def _name(self, entry: Any) -> str | None:  # noqa: ANN401 - an entry of any view
        if entry.topic is not None:
            return str(entry.topic)
        return self._names.get(entry.topic_id)
