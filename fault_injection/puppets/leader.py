"""How does the tester play the leader that a real broker follows?

The puppet listens where UpdateMetadata says that broker N is, and answers FETCH, OffsetsForLeaderEpoch and ListOffsets
from what it was told to serve. It keeps what it was asked, in order: a follower's fetch offset is its log end offset.
An empty fetch is parked until something is served anew, or its maximum wait is over.

Sources: ``ReplicaFetcherThread``, ``RemoteLeaderEndPoint``; KIP-101, KIP-595.
"""

from collections.abc import Callable
from typing import Any, Literal

from fault_injection.cluster.relay import Address
from fault_injection.puppets.connection import FETCH, LIST_OFFSETS, OFFSETS_FOR_LEADER_EPOCH, PuppetError, Values
from fault_injection.puppets.records import magic_of_fetch
from fault_injection.puppets.served_topics import OFFSET_OUT_OF_RANGE, Asking, PuppetTopic, Served, ServedTopics
from fault_injection.puppets.server import IncomingRequest, PuppetServer
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from fault_injection.wire.codec import epoch_request, fetch_request
from fault_injection.wire.codec_schemas import SHIPPED
from fault_injection.wire.views import NONE, EpochQuery, FetchPartition

UNKNOWN_TOPIC_OR_PARTITION = 3
EARLIEST_TIMESTAMP = -2
DEADLINE_S = 20.0


class LeaderPuppet:
    """Broker N, as far as a real follower can tell.

    Args:
        broker: its broker id.
        host: to listen on.
    """

    def __init__(self, broker: int, host: str = "127.0.0.1") -> None:
        self.broker = broker
        self._topics = ServedTopics()
        answers = {FETCH: self._fetch, OFFSETS_FOR_LEADER_EPOCH: self._epochs, LIST_OFFSETS: self._offsets}
        self.server = PuppetServer(answers, SHIPPED, host)
        self.server.listen()

    @property
    def address(self) -> Address:
        """Where followers find it."""
        return self.server.address

    def serve(self, topic: PuppetTopic, served: Served) -> None:
        """Answer about a topic from now on with ``served``; fetches that are parked are looked at again."""
        self._topics.serve(topic, served)

    def asked(self, topic: PuppetTopic) -> tuple[Asking, ...]:
        """Return what followers have asked about a topic so far, oldest first."""
        return self._topics.asked(topic)

    def forget(self) -> None:
        """Forget what was asked so far, so that a later wait sees what comes from now on."""
        self._topics.forget()

    def hold(self, deadline_s: float = DEADLINE_S) -> None:
        """Answer no request that comes from now on until ``release``, and wait until one is there.

        Raises:
            DeadlineExceededError: nobody asks anything.
        """
        self.hold_next()
        until(lambda: self._topics.held > 0, deadline_s=deadline_s, what=f"a request to leader puppet {self.broker}")

    def hold_next(self) -> None:
        """Answer no request that comes from now on until ``release``."""
        self._topics.hold()

    def release(self) -> None:
        """Answer what is held, with what is served by now, and all that comes later."""
        self._topics.release()

    def await_fetch(self, topic: PuppetTopic, offset: int | None = None, deadline_s: float = DEADLINE_S) -> int:
        """Wait for a fetch, at an offset if one is given, and return the offset that it asked for.

        Raises:
            DeadlineExceededError: none came; the message says what was asked instead.
            PuppetError: the puppet could not answer what it was asked.
        """

        def came() -> int:
            if self.server.failures:
                raise PuppetError(f"leader puppet {self.broker} failed: {self.server.failures[-1]}")
            seen = self.asked(topic)
            offsets = [one.fetch_offset for one in seen if isinstance(one, FetchPartition)]
            if not offsets or (offset is not None and offsets[-1] != offset):
                raise NotYetError(seen[-3:])
            return offsets[-1] if offset is None else offset

        # The condition gives True for offset 0 as well, which is no answer to ``until``.
        reached = until(lambda: (came(),), deadline_s=deadline_s, what=f"a fetch of {topic.name} at {offset}")
        return reached[0]

    def die(self) -> None:
        """Behave as a dead broker: what is held is never answered, all connections end, new ones are refused."""
        self._topics.discard()
        self.server.refuse()

    def revive(self) -> None:
        """Listen again, at the same address."""
        self._topics.release()
        self.server.listen()

    def close(self) -> None:
        """Stop listening and give the port back."""
        self.die()
        self.server.close()

    def _fetch(self, asked: IncomingRequest) -> Values:
        view, version = fetch_request(asked.message), asked.header.api_version
        for wanted in view.partitions:
            found = self._topics.find(wanted.topic, wanted.topic_id)
            if found is not None:
                self._topics.note(found[0], wanted)
        self._topics.pass_hold()

        def answered() -> list[Values] | None:
            given = [self._given(wanted, version) for wanted in view.partitions]
            return given if any(map(_is_news, given)) else None

        wait_s = view.max_wait_ms / 1000
        given = _within(wait_s, answered) or [self._given(wanted, version) for wanted in view.partitions]
        return {"error_code": 0, "session_id": 0, "responses": given}

    def _given(self, wanted: FetchPartition, version: int) -> Values:
        found = self._topics.find(wanted.topic, wanted.topic_id)
        part = {"partition_index": wanted.partition, **_fetched(found, wanted, version)}
        return {"topic": wanted.topic or "", "topic_id": wanted.topic_id, "partitions": [part]}

    def _epochs(self, asked: IncomingRequest) -> Values:
        queries = epoch_request(asked.message).partitions
        for query in queries:
            found = self._topics.find(query.topic)
            if found is not None:
                self._topics.note(found[0], query)
        self._topics.pass_hold()
        return {"topics": [self._end(query) for query in queries]}

    def _end(self, query: EpochQuery) -> Values:
        found = self._topics.find(query.topic)
        if found is None:
            part = {"error_code": UNKNOWN_TOPIC_OR_PARTITION, "leader_epoch": NONE, "end_offset": NONE}
        else:
            error, end = found[1].error_for(query.current_leader_epoch), found[1].end_of_epoch(query.leader_epoch)
            part = {"error_code": error, "leader_epoch": end.leader_epoch, "end_offset": end.end_offset}
        return {"topic": query.topic, "partitions": [{"partition": query.partition, **part}]}

    def _offsets(self, asked: IncomingRequest) -> Values:
        topics = [
            {"name": topic.name, "partitions": [self._offset(topic.name, part) for part in topic.partitions]}
            for topic in asked.message.topics
        ]
        return {"topics": topics}

    def _offset(self, name: str, part: Any) -> Values:  # noqa: ANN401 - kafka-python is untyped
        found = self._topics.find(name)
        if found is None:
            return {"partition_index": part.partition_index, "error_code": UNKNOWN_TOPIC_OR_PARTITION}
        served = found[1]
        offset = served.log_start_offset if part.timestamp == EARLIEST_TIMESTAMP else served.log_end_offset
        known = {"partition_index": part.partition_index, "error_code": served.error}
        return known | {"timestamp": NONE, "offset": offset, "old_style_offsets": [offset]}


def _fetched(found: tuple[PuppetTopic, Served] | None, wanted: FetchPartition, version: int) -> dict[str, Any]:
    if found is None:
        return {"error_code": UNKNOWN_TOPIC_OR_PARTITION, "high_watermark": NONE, "records": b""}
    served = found[1]
    diverging = served.diverging(wanted.last_fetched_epoch, wanted.fetch_offset)
    error = served.fetch_error_for(wanted.current_leader_epoch)
    # A leader looks for divergence first: what a diverging follower has is longer, often enough.
    if not error and diverging is None and not served.log_start_offset <= wanted.fetch_offset <= served.log_end_offset:
        error = OFFSET_OUT_OF_RANGE
    if error:
        return {"error_code": error, "high_watermark": NONE, "records": b""}
    values = {
        "error_code": 0,
        "high_watermark": served.high_watermark,
        "last_stable_offset": served.high_watermark,
        "log_start_offset": served.log_start_offset,
        "aborted_transactions": None,
    }
    if diverging is not None:
        end = {"epoch": diverging.leader_epoch, "end_offset": diverging.end_offset}
        return values | {"diverging_epoch": end, "records": b""}
    return values | {"records": served.records_from(wanted.fetch_offset, magic_of_fetch(version))}


def _is_news(given: Values) -> bool:
    part = given["partitions"][0]
    return bool(part["error_code"] or part["records"] or "diverging_epoch" in part)


def _within(wait_s: float, condition: Callable[[], list[Values] | Literal[False] | None]) -> list[Values] | None:
    try:
        return until(condition, deadline_s=wait_s, what="records to give", interval_s=0.01)
    except DeadlineExceededError:
        return None
