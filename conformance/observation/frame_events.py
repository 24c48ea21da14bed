"""Which events of the model does a frame show?

Only frames between nodes count: the replication and the controller links. Events are about the partitions of
one topic. A frame that should say something and could not be decoded makes the trace unreadable.

Frame field <-> model field <-> broker state:

| frame | field | event and field | broker state |
|---|---|---|---|
| FETCH request | fetch_offset | FetchSent.fetch_offset | the follower's log end offset |
| | current_leader_epoch (v9) | FetchSent.current_leader_epoch | the epoch in which it follows |
| | last_fetched_epoch (v12) | FetchSent.last_fetched_epoch | latest epoch of its epoch cache |
| | replica_epoch (v15) | FetchSent.replica_epoch | its broker epoch |
| FETCH answer | high_watermark | FetchAnswered.high_watermark | the leader's high watermark |
| | batches' partition leader epochs | FetchAnswered.runs | the leader's log |
| | diverging_epoch (v12) | FetchAnswered.diverging_epoch | the leader's epoch cache |
| OffsetsForLeaderEpoch | leader_epoch, end_offset | LookupSent.epoch, LookupAnswered.end | both epoch caches |
| LeaderAndIsr | leader, leader_epoch, isr | LeadershipHeard | what the broker is told to be |
| UpdateMetadata | the same | IsrAnnounced | the controller's state (ZooKeeper) |
| StopReplica | delete | ReplicaStopped | whether the log goes |
| AlterPartition | new_isr, partition_epoch | IsrProposed, IsrAnswered | the leader's maximal ISR |
| metadata log | Partition(Change)Record | IsrAnnounced, LeadershipHeard | the controller's state (KRaft) |

``at`` is when the frame reached the gate (sent, answered) or went on from there (received, delivered, heard).

Choices: an answer that the gate made up shows nothing of who should have answered, so it is no event; but to a
leader that proposed an ISR it is the controller's refusal, as a leader cannot tell them apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.observation.controller_events import ControllerEvents, IsrEvents
from conformance.observation.errors import TraceUnreadableError
from conformance.observation.metadata_events import MetadataEvents
from conformance.observation.wire_moments import InFlight, request_key
from conformance.record.wire import NONE, DivergingEpoch, FrameEntry, Said, TracedFrame
from conformance.record.wire import EpochRun as RunOfEpoch
from conformance.wire_trace.partition import TopicOfInterest
from oracle.log import EpochEnd
from oracle.tracing.observed import (
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    FetchSent,
    LookupAnswered,
    LookupDelivered,
    LookupReceived,
    LookupSent,
    ObservedEpochRun,
    RequestKey,
    TopicPartition,
)
from oracle.vocabulary import BrokerId, LeaderEpoch, Offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.observation.wire_moments import WireMoment
    from oracle.tracing.observed import Event


PRODUCE = 0
FETCH, LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA, OFFSETS_FOR_LEADER_EPOCH, ALTER_PARTITION = 1, 4, 5, 6, 23, 56
CHECKED = (FETCH, LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA, OFFSETS_FOR_LEADER_EPOCH, ALTER_PARTITION)
BETWEEN_NODES = ("replication", "controller")
"""The links whose frames are checked."""
FABRICATED = "fabricated"
METADATA_TOPIC = "__cluster_metadata"


def is_wanted(link: str, api_key: int | None) -> bool:
    """Return whether a check of the trace, or of what producers were told, can want a frame: the rest need no line."""
    return api_key == PRODUCE or (link in BETWEEN_NODES and api_key in CHECKED)


class FrameEvents:
    """Turns the moments of frames into events, one after the other in the order of time.

    Attributes:
        checked: how many frames were shown to the model, by the name of their api.
    """

    def __init__(self, topic: str, topic_id: str | None = None) -> None:
        self._topic = TopicOfInterest(topic, topic_id)
        self._fetches = FetchEvents(self._topic)
        self._lookups = LookupEvents(self._topic)
        self._isr = IsrEvents(self._topic)
        self._controller = ControllerEvents(self._topic)
        self._metadata = MetadataEvents(self._topic)
        self.checked: dict[str, int] = {}

    def of(self, moment: WireMoment) -> Iterator[Event]:
        """Return the events of one moment.

        Raises:
            TraceUnreadableError: the frame says something that matters and was not decoded.
        """
        frame = moment.frame
        if frame.link not in BETWEEN_NODES or frame.api_key not in CHECKED:
            return iter(())
        if frame.outcome == FABRICATED and frame.api_key != ALTER_PARTITION:
            return iter(())
        if frame.decoded is None:
            raise unreadable(moment, "was not decoded")
        if frame.said.partitions is None and not _is_acknowledgement(frame):
            raise unreadable(moment, "names no partitions")
        if not moment.is_delivery:
            api = frame.api or ""
            self.checked[api] = self.checked.get(api, 0) + 1
        return self._events(moment, frame)

    def broker_started(self, broker: int) -> None:
        """Note that a broker begins anew: it reads its metadata log once more."""
        self._metadata.broker_started(broker)

    def _events(self, moment: WireMoment, frame: TracedFrame) -> Iterator[Event]:
        match frame.api_key:
            case 1 if is_metadata_fetch(frame):
                return self._metadata.of(moment)
            case 1:
                return self._fetches.of(moment)
            case 23:
                return self._lookups.of(moment)
            case 56:
                return self._isr.of(moment)
            case _:
                return self._controller.of(moment)


def _is_acknowledgement(frame: TracedFrame) -> bool:
    """Return whether it is a broker's answer to its controller, which names no partition unless one has an error."""
    return frame.direction == "response" and frame.api_key in (LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA)


def unreadable(moment: WireMoment, why: str) -> TraceUnreadableError:
    """Return the error that says which frame makes a trace unreadable."""
    frame = moment.frame
    return TraceUnreadableError(f"frame {moment.seq} ({frame.api} v{frame.api_version} {frame.direction}) {why}")


def is_metadata_fetch(frame: TracedFrame) -> bool:
    """Return whether a FETCH, or its answer, is about KRaft's metadata log."""
    return frame.link == "controller" or any(entry.topic == METADATA_TOPIC for entry in frame.said.entries)


# What do a follower's FETCH and its answer show? See the table of ``frame_events``.


class FetchEvents:
    """Turns FETCH frames between brokers into events; consumers and probes are passed over."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: WireMoment) -> Iterator[FetchSent | FetchReceived | FetchAnswered | FetchDelivered]:
        """Return the events of one moment."""
        frame = moment.frame
        key = request_key(frame)
        if frame.direction == "request":
            return self._received(moment, key) if moment.is_delivery else self._sent(moment, key, frame)
        return self._delivered(moment, key) if moment.is_delivery else self._answered(moment, key, frame.said)

    def _sent(self, moment: WireMoment, key: RequestKey, frame: TracedFrame) -> Iterator[FetchSent]:
        said = frame.said
        if said.replica_id < 0:
            return
        asked = [(p, entry) for entry in said.entries if (p := self._topic.partition_of(entry)) is not None]
        self._in_flight.sent(key, tuple(partition for partition, _ in asked))
        for partition, entry in asked:
            yield FetchSent(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                follower=BrokerId(said.replica_id),
                leader=BrokerId(frame.destination),
                fetch_offset=Offset(entry.fetch_offset),
                current_leader_epoch=epoch_or_none(entry.current_leader_epoch),
                last_fetched_epoch=epoch_or_none(entry.last_fetched_epoch),
                replica_epoch=said.replica_epoch if said.replica_epoch != NONE else None,
                is_in_session=said.session_epoch > 0,
                has_others=len(said.entries) > 1,
                api_version=frame.api_version or 0,
            )

    def _received(self, moment: WireMoment, key: RequestKey) -> Iterator[FetchReceived]:
        for partition in self._in_flight.asked(key) or ():
            yield FetchReceived(at=moment.at, frame=moment.seq, partition=partition, key=key)

    def _answered(self, moment: WireMoment, key: RequestKey, said: Said) -> Iterator[FetchAnswered]:
        given = {self._topic.partition_of(entry): entry for entry in said.entries}
        for partition in self._in_flight.asked(key) or ():
            entry = given.get(partition, _SILENT)
            diverging, log_start_offset = entry.diverging_epoch, entry.log_start_offset
            yield FetchAnswered(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                error=said.error or entry.error,
                high_watermark=Offset(entry.high_watermark),
                runs=tuple(map(_run, entry.epochs)),
                diverging_epoch=_epoch_end(diverging) if diverging is not None else None,
                log_start_offset=None if log_start_offset == NONE else Offset(log_start_offset),
                is_listed=entry.is_listed,
            )

    def _delivered(self, moment: WireMoment, key: RequestKey) -> Iterator[FetchDelivered]:
        for partition in self._in_flight.delivered(key) or ():
            yield FetchDelivered(at=moment.at, frame=moment.seq, partition=partition, key=key)


_SILENT = FrameEntry(is_listed=False)


def epoch_or_none(leader_epoch: int | None) -> LeaderEpoch | None:
    """Return a leader epoch; None if a frame has none."""
    return None if leader_epoch is None or leader_epoch == NONE else LeaderEpoch(leader_epoch)


def _epoch_end(said: DivergingEpoch) -> EpochEnd:
    return EpochEnd(epoch_or_none(said.leader_epoch), Offset(said.end_offset))


def _run(said: RunOfEpoch) -> ObservedEpochRun:
    leader_epoch, first, last = said.leader_epoch, said.first_offset, Offset(said.last_offset)
    return ObservedEpochRun(epoch_or_none(leader_epoch), last if first is None else Offset(first), last)


# What do an OffsetsForLeaderEpoch request and its answer show? See the table of ``frame_events``.


class LookupEvents:
    """Turns OffsetsForLeaderEpoch frames between brokers into events."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: WireMoment) -> Iterator[LookupSent | LookupReceived | LookupAnswered | LookupDelivered]:
        """Return the events of one moment."""
        frame = moment.frame
        key = request_key(frame)
        if frame.direction == "request":
            return self._received(moment, key) if moment.is_delivery else self._sent(moment, key, frame)
        return self._delivered(moment, key) if moment.is_delivery else self._answered(moment, key, frame.said)

    def _sent(self, moment: WireMoment, key: RequestKey, frame: TracedFrame) -> Iterator[LookupSent]:
        source = frame.source
        if source is None or source < 0:
            return
        queries = frame.said.entries
        asked = [(p, entry) for entry in queries if (p := self._topic.partition_of(entry)) is not None]
        self._in_flight.sent(key, tuple(partition for partition, _ in asked))
        for partition, entry in asked:
            yield LookupSent(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                follower=BrokerId(source),
                leader=BrokerId(frame.destination),
                epoch=LeaderEpoch(entry.leader_epoch),
                current_leader_epoch=epoch_or_none(entry.current_leader_epoch),
                api_version=frame.api_version or 0,
            )

    def _received(self, moment: WireMoment, key: RequestKey) -> Iterator[LookupReceived]:
        for partition in self._in_flight.asked(key) or ():
            yield LookupReceived(at=moment.at, frame=moment.seq, partition=partition, key=key)

    def _answered(self, moment: WireMoment, key: RequestKey, said: Said) -> Iterator[LookupAnswered]:
        given = {self._topic.partition_of(entry): entry for entry in said.entries}
        for partition in self._in_flight.asked(key) or ():
            entry = given.get(partition)
            if entry is None:
                continue
            end_offset = entry.end_offset
            yield LookupAnswered(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                error=said.error or entry.error,
                end=EpochEnd(epoch_or_none(entry.leader_epoch), None if end_offset == NONE else Offset(end_offset)),
            )

    def _delivered(self, moment: WireMoment, key: RequestKey) -> Iterator[LookupDelivered]:
        for partition in self._in_flight.delivered(key) or ():
            yield LookupDelivered(at=moment.at, frame=moment.seq, partition=partition, key=key)
