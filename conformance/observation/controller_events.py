"""What does a ZooKeeper-era controller tell the brokers? See the table of ``frame_events``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.observation.in_flight import InFlight, request_key
from conformance.wire_trace.partition import NO_TOPIC_ID
from oracle.tracing.observed import (
    IsrAnnounced,
    LeadershipApplied,
    LeadershipHeard,
    ReplicaStopped,
    TopicPartition,
)
from oracle.vocabulary import BrokerId, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.observation.wire_moments import Moment
    from conformance.wire_trace.topic_of_interest import TopicOfInterest


class ControllerEvents:
    """Turns LeaderAndIsr, StopReplica and UpdateMetadata into events."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: Moment) -> Iterator[LeadershipHeard | LeadershipApplied | ReplicaStopped | IsrAnnounced]:
        """Give the events of one moment."""
        frame = moment.frame
        match frame["api_key"], frame["direction"], moment.is_delivery:
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

    def _told(self, frame: dict[str, Any]) -> Iterator[tuple[TopicPartition, dict[str, Any]]]:
        for entry in frame["decoded"]["partitions"]:
            topic_id = entry.get("topic_id")
            if entry["topic"] == self._topic.name and topic_id not in (None, NO_TOPIC_ID):
                self._topic.learn(topic_id)
            partition = self._topic.partition_of(entry)
            if partition is not None:
                yield partition, entry

    def _heard(self, moment: Moment, frame: dict[str, Any]) -> Iterator[LeadershipHeard]:
        key = request_key(frame)
        told = list(self._told(frame))
        self._in_flight.sent(key, tuple(partition for partition, _ in told))
        for partition, entry in told:
            yield LeadershipHeard(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                broker=BrokerId(frame["destination"]),
                leader=leader_or_none(entry["leader"]),
                leader_epoch=LeaderEpoch(entry["leader_epoch"]),
                isr=tuple(map(BrokerId, entry["isr"])),
                replicas=tuple(map(BrokerId, entry["replicas"])),
                partition_epoch=entry["partition_epoch"],
                controller_epoch=frame["decoded"]["controller_epoch"],
                key=key,
            )

    def _applied(self, moment: Moment, frame: dict[str, Any]) -> Iterator[LeadershipApplied]:
        key, said = request_key(frame), frame["decoded"]
        errors = {self._topic.partition_of(entry): entry["error"] for entry in said.get("partitions", ())}
        for partition in self._in_flight.delivered(key) or ():
            yield LeadershipApplied(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                broker=BrokerId(frame["destination"]),
                key=key,
                error=said["error"] or errors.get(partition, 0),
            )

    def _stopped(self, moment: Moment, frame: dict[str, Any]) -> Iterator[ReplicaStopped]:
        for partition, entry in self._told(frame):
            yield ReplicaStopped(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                broker=BrokerId(frame["destination"]),
                is_deleted=entry["is_deleted"],
            )

    def _announced(self, moment: Moment, frame: dict[str, Any]) -> Iterator[IsrAnnounced]:
        for partition, entry in self._told(frame):
            yield IsrAnnounced(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                leader=leader_or_none(entry["leader"]),
                leader_epoch=LeaderEpoch(entry["leader_epoch"]),
                isr=tuple(map(BrokerId, entry["isr"])),
                replicas=tuple(map(BrokerId, entry["replicas"])),
                partition_epoch=entry["partition_epoch"],
            )


def leader_or_none(leader: int) -> BrokerId | None:
    """Give a leader; None for -1 (nobody) and -2 (the topic is being deleted)."""
    return None if leader < 0 else BrokerId(leader)
