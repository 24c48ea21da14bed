"""Does a frame of the wire trace contradict itself, the other frames, or the settings of its run?

Pure. What brokers may send is judged by the trace check; here is only what any frame, of any release, has in common
with the others because it was decoded from bytes: the one metadata log, the one broker at an end of a connection.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from conformance.record.wire import FETCH, NONE
from oracle.steps.topic import Reassign

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.run import Run
    from conformance.record.wire import FrameEntry, TracedFrame
    from oracle.schedule import Schedule

REPLICATION = "replication"
"""What the trace calls a link between two brokers."""
KEPT_BY_BROKER = ("BrokerHeartbeat", "BrokerRegistration", "ControlledShutdown", "AlterPartition")
"""The requests in which a broker tells its own id."""


class WireStory:
    """Reads frames one by one and notes which contradict what was read before; a complaint a kind, with its frame."""

    def __init__(self, about: Run, schedule: Schedule) -> None:
        self._topic, self._topic_id = about.topic, about.topic_id
        self._wait_ms = schedule.fetch_wait_max_ms
        self._is_moved = any(isinstance(step, Reassign) for step in schedule.steps)
        self._ends: dict[int, tuple[str, int | None, int]] = {}
        self._metadata: dict[int, FrameEntry] = {}
        self._epochs: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
        self._found: dict[str, int] = {}

    def take(self, frame: TracedFrame) -> None:
        """Note a frame."""
        for wrong in (*self._of_frame(frame), *self._of_entries(frame)):
            self._found.setdefault(wrong, frame.seq)
        for name in ("controller_epoch", "replica_epoch"):
            if (epoch := getattr(frame.said, name)) != NONE and frame.direction == "request":
                self._epochs[name, frame.connection].append((frame.seq, epoch))

    def complaints(self) -> Iterator[str]:
        """Yield what was found, once all frames were taken."""
        for (name, connection), told in self._epochs.items():
            epochs = [epoch for _, epoch in sorted(told)]
            if epochs != sorted(epochs):
                yield f"the {name.replace('_', ' ')} falls on connection {connection} of the wire trace"
        yield from (f"frame {seq} {wrong}" for wrong, seq in self._found.items())

    def _of_frame(self, frame: TracedFrame) -> Iterator[str]:
        said = frame.said
        if frame.forwarded_ns is not None and frame.forwarded_ns < frame.arrived_ns:
            yield "left the gate before it reached it"
        ends = frame.link, frame.source, frame.destination
        if frame.source is not None and self._ends.setdefault(frame.connection, ends) != ends:
            yield "is on a connection of other nodes"
        if frame.api in KEPT_BY_BROKER and frame.direction == "request" and said.broker_id not in (NONE, frame.source):
            yield "tells another broker than the one that sent it"
        if frame.link == REPLICATION and frame.is_request(FETCH) and frame.decoded is not None:
            if said.max_wait_ms != self._wait_ms:
                yield f"waits {said.max_wait_ms} ms, and followers were told to wait {self._wait_ms} ms"
            if any(NONE < entry.fetch_offset < entry.log_start_offset for entry in said.entries):
                yield "fetches from before where its sender's log starts"

    def _of_entries(self, frame: TracedFrame) -> Iterator[str]:
        for entry in frame.said.entries:
            if any(run.first_offset is not None and run.first_offset > run.last_offset for run in entry.epochs):
                yield "has records that end before they begin"
            if entry.epochs and not entry.record_bytes:
                yield "has records of no bytes"
            offsets = [record.offset for record in entry.metadata]
            if offsets != sorted(set(offsets)):
                yield "has records of the metadata log that are not in its order"
            for record in entry.metadata:
                if self._metadata.setdefault(record.offset, record) != record:
                    yield "has another record of the metadata log than was seen at that offset"
        for entry in frame.entries():
            if entry.isr and entry.replicas and not self._is_moved and not set(entry.isr) <= set(entry.replicas):
                yield "has an ISR with others than the replicas"
            names = (entry.topic == self._topic, entry.topic_id == self._topic_id)
            if self._topic_id and entry.topic and entry.topic_id and names in ((True, False), (False, True)):
                yield "calls the topic by another id, or another topic by its id"
