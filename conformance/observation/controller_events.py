"""What does a ZooKeeper-era controller tell the brokers? See the table of ``frame_events``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.observation.errors import TraceUnreadableError
from conformance.observation.wire_moments import InFlight, request_key
from conformance.wire_trace.partition import NO_TOPIC_ID
from oracle.tracing.observed import (
    IsrAnnounced,
    IsrAnswered,
    IsrDelivered,
    IsrProposed,
    LeadershipApplied,
    LeadershipHeard,
    ReplicaStopped,
    RequestKey,
    TopicPartition,
)
from oracle.vocabulary import BrokerId, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.observation.wire_moments import WireMoment
    from conformance.record.wire import FrameEntry, Said, TracedFrame
    from conformance.wire_trace.partition import TopicOfInterest


class ControllerEvents:
    """Turns LeaderAndIsr, StopReplica and UpdateMetadata into events."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: WireMoment) -> Iterator[LeadershipHeard | LeadershipApplied | ReplicaStopped | IsrAnnounced]:
        """Return the events of one moment."""
        frame = moment.frame
        match frame.api_key, frame.direction, moment.is_delivery:
            case 4, "request", True:
                return self._heard(moment, frame)
            case 4, "response", False:
                return self._applied(moment, frame)
            case 5, "request", True:
                return self._stopped(moment, frame)
            case 6, "request", False:
                return self._announced(moment, frame)
            case _:
                return iter(())

    def _told(self, frame: TracedFrame) -> Iterator[tuple[TopicPartition, FrameEntry]]:
        for entry in frame.said.entries:
            topic_id = entry.topic_id
            if entry.topic == self._topic.name and topic_id not in (None, NO_TOPIC_ID):
                self._topic.learn(topic_id)
            partition = self._topic.partition_of(entry)
            if partition is not None:
                yield partition, entry

    def _heard(self, moment: WireMoment, frame: TracedFrame) -> Iterator[LeadershipHeard]:
        key = request_key(frame)
        told = list(self._told(frame))
        self._in_flight.sent(key, tuple(partition for partition, _ in told))
        for partition, entry in told:
            yield LeadershipHeard(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                broker=BrokerId(frame.destination),
                leader=leader_or_none(entry.leader),
                leader_epoch=LeaderEpoch(entry.leader_epoch),
                isr=brokers(entry.isr),
                replicas=brokers(entry.replicas),
                partition_epoch=entry.partition_epoch,
                controller_epoch=frame.said.controller_epoch,
                key=key,
            )

    def _applied(self, moment: WireMoment, frame: TracedFrame) -> Iterator[LeadershipApplied]:
        key, said = request_key(frame), frame.said
        errors = {self._topic.partition_of(entry): entry.error for entry in said.entries}
        for partition in self._in_flight.delivered(key) or ():
            yield LeadershipApplied(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                broker=BrokerId(frame.destination),
                key=key,
                error=said.error or errors.get(partition, 0),
            )

    def _stopped(self, moment: WireMoment, frame: TracedFrame) -> Iterator[ReplicaStopped]:
        for partition, entry in self._told(frame):
            yield ReplicaStopped(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                broker=BrokerId(frame.destination),
                is_deleted=entry.is_deleted,
            )

    def _announced(self, moment: WireMoment, frame: TracedFrame) -> Iterator[IsrAnnounced]:
        for partition, entry in self._told(frame):
            yield IsrAnnounced(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                leader=leader_or_none(entry.leader),
                leader_epoch=LeaderEpoch(entry.leader_epoch),
                isr=brokers(entry.isr),
                replicas=brokers(entry.replicas),
                partition_epoch=entry.partition_epoch,
            )


def leader_or_none(leader: int | None) -> BrokerId | None:
    """Return a leader; None for -1 (nobody) and -2 (the topic is being deleted).

    Raises:
        TraceUnreadableError: the frame does not say.
    """
    if leader is None:
        raise TraceUnreadableError("a frame that names a leader says none")
    return None if leader < 0 else BrokerId(leader)


def brokers(ids: Iterable[int] | None) -> tuple[BrokerId, ...]:
    """Return the brokers of an ISR or of a list of replicas.

    Raises:
        TraceUnreadableError: the frame does not say.
    """
    if ids is None:
        raise TraceUnreadableError("a frame that names brokers says none")
    return tuple(map(BrokerId, ids))


# What do an AlterPartition (AlterIsr) request and its answer show? See the table of ``frame_events``.


class IsrEvents:
    """Turns the leaders' proposals to the controller into events."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: WireMoment) -> Iterator[IsrProposed | IsrAnswered | IsrDelivered]:
        """Return the events of one moment; that the controller received a proposal shows nothing."""
        frame = moment.frame
        key = request_key(frame)
        if frame.direction == "request":
            return iter(()) if moment.is_delivery else self._proposed(moment, key, frame)
        return self._delivered(moment, key) if moment.is_delivery else self._answered(moment, key, frame.said)

    def _proposed(self, moment: WireMoment, key: RequestKey, frame: TracedFrame) -> Iterator[IsrProposed]:
        said = frame.said
        asked = [(p, entry) for entry in said.entries if (p := self._topic.partition_of(entry)) is not None]
        self._in_flight.sent(key, tuple(partition for partition, _ in asked))
        for partition, entry in asked:
            yield IsrProposed(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                leader=BrokerId(said.broker_id),
                leader_epoch=LeaderEpoch(entry.leader_epoch),
                isr=brokers(entry.new_isr),
                partition_epoch=entry.partition_epoch,
                api_version=frame.api_version or 0,
            )

    def _answered(self, moment: WireMoment, key: RequestKey, said: Said) -> Iterator[IsrAnswered]:
        given = {self._topic.partition_of(entry): entry for entry in said.entries}
        for partition in self._in_flight.asked(key) or ():
            entry = given.get(partition)
            error = said.error or (entry.error if entry is not None else 0)
            if error or entry is None:
                if error:
                    yield IsrAnswered(at=moment.at, frame=moment.seq, partition=partition, key=key, error=error)
                continue
            yield IsrAnswered(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                error=0,
                leader=leader_or_none(entry.leader),
                leader_epoch=LeaderEpoch(entry.leader_epoch),
                isr=brokers(entry.isr),
                partition_epoch=entry.partition_epoch,
            )

    def _delivered(self, moment: WireMoment, key: RequestKey) -> Iterator[IsrDelivered]:
        for partition in self._in_flight.delivered(key) or ():
            yield IsrDelivered(at=moment.at, frame=moment.seq, partition=partition, key=key)
