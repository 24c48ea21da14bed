"""How do the bytes of one connection between two nodes move?

A connection is two sockets and two threads, one for each direction. A thread receives, asks the proxy
about every whole frame and sends the original bytes on, or waits with a held one. Whichever thread sees the
end first ends both directions; the last one out closes the sockets. Only a held request that outlives its sender keeps
the side of its destination open when the other has ended: until it has been delivered, late, and answered.

Choices: an orderly end on one side becomes an orderly end on the other, a reset becomes a reset. ``abort``
resets both sides at once: only the reading half is shut down, so that no FIN precedes the reset, unless a
thread is stuck in a send that nobody reads. While the network is impaired (``Valve``), a ``Channel`` says when
bytes may go, and a side hears of the other's end only over a way that is not cut.
"""

import contextlib
import socket
import threading
from collections.abc import Callable
from functools import partial

from fault_injection.cluster.relay import Address, LinkName
from fault_injection.wire.answers import CannotAnswerError
from fault_injection.wire.channel import Channel, mark_of
from fault_injection.wire.frame_handler import FrameHandler
from fault_injection.wire.frames import Frame, FrameParser, Malformed, Unframed, UnframedParser
from fault_injection.wire.gate import GateError
from fault_injection.wire.impairments import NS_PER_MS
from fault_injection.wire.passage import AnswerOrder, ConnectionState, CutThrough, Passage, Word
from fault_injection.wire.points import Direction
from fault_injection.wire.proxy_endpoint import connected_to, has_hung_up, shut
from fault_injection.wire.trace import Outcome
from fault_injection.wire.unread import UnreadFrame

STUCK_S = 0.02
"""A send that takes longer than this is stuck: nobody reads."""
_OUTCOMES: dict[Word, Outcome] = {"drop": "dropped", "close": "closed", "abort": "aborted"}

Arrived = Callable[[ConnectionState, bytearray], Passage]


class Connection:
    """One proxied connection; ``start`` it once.

    Args:
        client: the accepted socket; owned from now on.
        upstream: where the destination listens.
        link: the endpoint it came through.
        handler: decides about the frames.
        on_closed: called by the last thread, when both sockets are closed.
    """

    def __init__(
        self,
        client: socket.socket,
        upstream: Address,
        link: LinkName,
        handler: FrameHandler,
        on_closed: Callable[["Connection"], None],
    ) -> None:
        self.state = state = handler.connected(link)
        self._handler = handler
        self._client = client
        self._upstream_address = upstream
        self._upstream: socket.socket | None = None
        self._on_closed = on_closed
        self._lock = threading.Lock()
        self._sent = threading.Condition(self._lock)
        self._is_ended = False
        self._outlives = False
        self._sending: set[socket.socket] = set()
        self._valve = handler.valve
        self._request_channel = self._channel("request")
        self._response_channel = self._channel("response")
        self._answer_order = AnswerOrder()
        name = f"wire-{state.link.kind}-{state.link.destination}-{state.number}"
        self._responses = threading.Thread(target=self._run_responses, name=f"{name}-responses", daemon=True)
        self._requests = threading.Thread(target=self._run_requests, name=f"{name}-requests", daemon=True)

    def start(self) -> None:
        """Connect to the destination and begin to move frames, on threads of its own."""
        self._requests.start()

    def abort(self) -> None:
        """Reset both sides and discharge what is held; returns before the threads have ended."""
        self._end(is_reset=True)

    def lose_sender(self) -> bool:
        """End the side of the sender; tell whether a held frame outlives it, so that the other side stays."""
        if not self._handler.sender_lost(self.state):
            return False
        with self._lock:
            if not self._is_ended and not self._outlives:
                self._outlives = True
                shut(self._client, is_reset=True, is_stuck=self._client in self._sending)
        return True

    def _stays(self) -> bool:
        """Return whether the held frame outlives its sender; it may have been let go since that was said."""
        return self._outlives or self.lose_sender()

    def join(self, timeout_s: float) -> bool:
        """Wait until both threads have ended; tell whether they have."""
        self._requests.join(timeout_s)
        return not self._requests.is_alive()

    def _run_requests(self) -> None:
        try:
            upstream = self._connect()
            if upstream is not None:
                self._responses.start()
                self._pump(self._client, upstream, self._handler.request_arrived, self._request_channel)
                self._responses.join()
        except RuntimeError as no_thread:
            self._handler.failed(no_thread)
        finally:
            self._end(is_reset=True)
            self._request_channel.close()
            self._response_channel.close()
            for side in self._sides():
                side.close()
            self._on_closed(self)

    def _run_responses(self) -> None:
        upstream = self._upstream
        if upstream is not None:
            self._pump(upstream, self._client, self._handler.response_arrived, self._response_channel)

    def _channel(self, direction: Direction) -> Channel:
        is_deserted = partial(has_hung_up, self._client)
        return Channel(self._valve, self.state, direction, lambda: self._is_ended, is_deserted, self._broken)

    def _broken(self, defect: Exception | None) -> None:
        if defect is not None:
            self._handler.failed(defect)
        self.abort()

    def _connect(self) -> socket.socket | None:
        is_known = self.state.source is not None  # else its first frame tells whether it may live
        if is_known and not self._valve.is_open and self._request_channel.cleared() != "forward":
            return None
        upstream = connected_to(self._upstream_address, self._handler.failed)
        if upstream is None:
            return None
        with self._lock:
            self._upstream = upstream
            if self._is_ended:
                return None
        for side in self._sides():
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return upstream

    def _pump(self, source: socket.socket, target: socket.socket, arrived: Arrived, channel: Channel) -> None:
        parser = UnframedParser() if self.state.link.kind == "zookeeper" else FrameParser()
        through = CutThrough(
            partial(self._handler.may_begin, self.state), partial(channel.send, send=partial(self._send, target))
        )
        is_answers = channel is self._response_channel
        is_reset = True
        try:
            while count := source.recv_into(parser.writable()):
                events = parser.received(count)
                if is_answers:
                    self._answer_order.begin()
                while events:  # and no name for one that has gone on: it may be large
                    if not self._pass_on(events.pop(0), source, target, arrived, channel, through):
                        return
                if is_answers:
                    if not through.advance(parser.begun):
                        return
                    self._answer_order.end()
            is_reset = parser.pending_bytes > 0
            self._draining(channel)
        except OSError:  # the peer is gone: the other side learns it by a reset
            self._draining(channel)
        except Exception as defect:  # noqa: BLE001 - the thread ends with the connection; whoever judges must know
            self._handler.failed(defect)
        finally:
            self._end(is_reset=is_reset)

    def _pass_on(
        self,
        event: Frame | Malformed | Unframed,
        source: socket.socket,
        target: socket.socket,
        arrived: Arrived,
        channel: Channel,
        through: CutThrough,
    ) -> bool:
        match event:
            case Frame(content):
                has_begun = through.has_begun
                unread = self._handler.unread(channel.direction, self.state, content, has_begun=has_begun)
                if unread is not None or has_begun:
                    return unread is not None and self._send_unread(unread, through.rest(content), target, channel)
                passage = arrived(self.state, content)
                word = self._word(passage, source)
                if word == "forward":
                    return self._forward(passage, content, target, channel)
                if word == "answer":
                    return self._answer(passage)
                self._handler.ended(passage, None, _OUTCOMES[word])
                return word == "drop" or self._outlives
            case Unframed(unframed):
                if self._valve.is_open:
                    return self._send(target, unframed)
                return channel.carry(len(unframed), None, partial(self._go_unframed, unframed, target, channel))
            case Malformed():
                self._handler.malformed()
                return True

    def _word(self, passage: Passage, source: socket.socket) -> Word:
        decision = passage.decision
        if passage.space is None:
            if decision.action == "close" and decision.name is None and self.state.is_lost:
                return "abort"
            return decision.action if decision.action in ("drop", "close", "answer") else "forward"
        timeout_ms = None
        if decision.until_ns is not None:
            timeout_ms = -(-(decision.until_ns - passage.arrived_ns) // NS_PER_MS)
        word = passage.space.wait(source, timeout_ms)
        if word == "abort" and source is self._client and self._upstream is not None and self._stays():
            self._client.close()  # a sender that lives hears of the end now
            word = passage.space.wait(self._upstream, None)
        if word is None and decision.name is not None:
            with contextlib.suppress(GateError):  # someone else gave the word in this very moment
                self._handler.release(decision.name)
            word = passage.space.word
        if word == "abort":
            self._handler.connection_lost(self.state)
        passage.space.close()
        return word or "abort"

    def _deliver_late(self, passage: Passage, content: bytearray, target: socket.socket) -> bool:
        """Send a frame that has outlived its sender, and wait until its destination has answered or ended."""
        self._outlives = False
        forwarded_ns = self._handler.departs(passage)
        is_sent = self._send(target, content)
        self._handler.ended(passage, forwarded_ns, "late" if is_sent else "aborted")
        if is_sent:
            self._responses.join()
        return False

    def _forward(self, passage: Passage, content: bytearray, target: socket.socket, channel: Channel) -> bool:
        if self._outlives:
            return self._deliver_late(passage, content, target)
        if not self._valve.is_open:
            if passage.space is None:
                self._handler.ended(passage, None, "held")  # its fate may take a while
            return channel.carry(len(content), mark_of(passage), partial(self._go, passage, content, target, channel))
        forwarded_ns = self._handler.departs(passage)
        is_sent = self._send(target, content)
        self._handler.ended(passage, forwarded_ns, "forwarded" if is_sent else "aborted")
        return is_sent

    def _answer(self, passage: Passage) -> bool:
        """Send an answer of the gate's own: to a request when its turn has come, else in place of what came."""
        try:
            answer, content = self._handler.fabricated(passage)
        except CannotAnswerError as unanswerable:
            self._handler.failed(unanswerable)
            self._handler.ended(passage, None, "closed")
            return False
        if passage.direction == "request" and not self._answer_order.wait(self._client, self._is_answered):
            self._handler.ended(passage, None, "aborted")
            return False
        is_sent = self._forward(answer, content, self._client, self._response_channel)
        self._handler.ended(passage, None, "answered")
        return is_sent

    def _is_answered(self) -> bool:
        return self._request_channel.is_empty and self._handler.is_answered(self.state)

    def _send_unread(self, unread: UnreadFrame, content: memoryview, target: socket.socket, channel: Channel) -> bool:
        is_sent = channel.send(content, partial(self._send, target))
        self._handler.unread_ended(unread, "forwarded" if is_sent else "aborted")
        return is_sent

    def _go(self, passage: Passage, content: bytearray, target: socket.socket, channel: Channel, word: Word) -> bool:
        """Do with a frame on an impaired network what the network says."""
        if word != "forward":
            self._handler.ended(passage, None, _OUTCOMES[word])
            return False
        forwarded_ns = self._handler.departs(passage)
        is_sent = self._go_unframed(content, target, channel, word)
        self._handler.ended(passage, forwarded_ns, "forwarded" if is_sent else "aborted")
        return is_sent

    def _go_unframed(self, content: bytes | bytearray, target: socket.socket, channel: Channel, word: Word) -> bool:
        if word != "forward":
            return False
        is_sent = channel.send(content, partial(self._send, target))
        if not is_sent:
            (self._response_channel if channel is self._request_channel else self._request_channel).cleared()
        return is_sent

    def _draining(self, channel: Channel) -> None:
        """Wait until the other side may hear that the side a channel begins at is gone."""
        if not self._valve.is_open and self.state.source is not None:
            channel.drained()

    def _send(self, target: socket.socket, content: bytes | bytearray | memoryview) -> bool:
        with self._lock:
            if self._is_ended:
                return False
            self._sending.add(target)
        try:
            target.sendall(content)
        except OSError:
            return False
        finally:
            with self._lock:
                self._sending.discard(target)
        return True

    def _end(self, *, is_reset: bool) -> None:
        self._handler.connection_lost(self.state)
        with self._lock:
            if self._is_ended:
                return
            self._is_ended = True
            if is_reset:  # nobody notifies: it looks again after that time
                self._sent.wait_for(lambda: not self._sending, STUCK_S)
            for side in self._sides():
                shut(side, is_reset=is_reset, is_stuck=side in self._sending)
        self._valve.wake()

    def _sides(self) -> list[socket.socket]:
        return [side for side in (self._client, self._upstream) if side is not None]
