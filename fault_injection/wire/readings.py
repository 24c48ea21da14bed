"""What does a frame say, given all that was said before it on its connection?

Decodes a copy, names sender and topics, completes what an incremental fetch leaves out, and follows the fetch
rounds. Whoever calls ``observed``, ``completed``, ``follow`` or ``passed`` holds the lock of ``Traffic`` and calls in
the order of arrival; ``asked`` and ``lighten`` need no lock.
"""

import struct
from contextlib import suppress

from fault_injection.wire.codec import Codec
from fault_injection.wire.headers import HeaderError, RequestHeader, request_header, response_correlation_id
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.passage import ConnectionState, Passage
from fault_injection.wire.points import Direction, ObservedRequest
from fault_injection.wire.rounds import Rounds
from fault_injection.wire.senders import sender, sender_by_view
from fault_injection.wire.topic_names import TopicNames
from fault_injection.wire.unread import KEPT_BYTES_MAX, Content, SaidRequest, SaidResponse, UnreadFrame
from fault_injection.wire.views import FetchRequestView, FetchResponseView

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
        """Give api and version of a frame that can be read later; None if it must be read now."""
        try:
            if direction == "response":
                return connection.asked.pop(_RESPONSE_START.unpack_from(frame, _LENGTH_BYTES)[0], None)
            api_key, api_version, correlation_id = _REQUEST_START.unpack_from(frame, _LENGTH_BYTES)
        except struct.error:
            return None
        if api_key == PRODUCE_KEY:
            return None  # whether it is answered at all stands in its body
        if len(connection.asked) >= UNANSWERED_MAX:
            connection.asked.clear()  # their answers are read at once
        connection.asked[correlation_id] = api_key, api_version
        return api_key, api_version

    @staticmethod
    def is_awaited(connection: ConnectionState, begun: memoryview) -> bool:
        """Whether the first bytes of an answer belong to a request that went on unread."""
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
        """Give a request with its sender, the names of its topics and all partitions of its fetch session."""
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
        """Give an answer that has come, with the names of its topics and all partitions of its fetch session."""
        if isinstance(view, FetchResponseView) and isinstance(request.view, FetchRequestView):
            view = connection.session.complete_response(request.view, view)
        answer = self.names.named(view) if view is not None else None
        if isinstance(answer, FetchResponseView):
            self.rounds.on_response_arrived(request, answer)
        return answer

    def follow(self, passage: Passage, now_ns: int) -> None:
        """Take note that a frame goes on now."""
        request, response, connection = passage.request, passage.response, passage.connection
        if request is None or passage.header is None:
            return
        if passage.direction == "request":
            connection.sent.sent(request.correlation_id, (passage.header, request))
            self.rounds.on_forwarded(request, now_ns)
        elif isinstance(response, FetchResponseView) and isinstance(request.view, FetchRequestView):
            self.rounds.on_response_forwarded(request, response, passage.arrived_ns, now_ns)
        if connection.is_lost:
            self.rounds.connection_lost(connection.number)
