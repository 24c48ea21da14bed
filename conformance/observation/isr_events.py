"""What do an AlterPartition (AlterIsr) request and its answer show? See the table of ``frame_events``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.observation.in_flight import InFlight, request_key
from oracle.tracing.observed import IsrAnswered, IsrDelivered, IsrProposed, RequestKey, TopicPartition
from oracle.vocabulary import BrokerId, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.observation.wire_moments import Moment
    from conformance.wire_trace.topic_of_interest import TopicOfInterest


class IsrEvents:
    """Turns the leaders' proposals to the controller into events."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: Moment) -> Iterator[IsrProposed | IsrAnswered | IsrDelivered]:
        """Give the events of one moment; that the controller received a proposal shows nothing."""
        frame = moment.frame
        key = request_key(frame)
        if frame["direction"] == "request":
            return iter(()) if moment.is_delivery else self._proposed(moment, key, frame)
        return self._delivered(moment, key) if moment.is_delivery else self._answered(moment, key, frame["decoded"])

    def _proposed(self, moment: Moment, key: RequestKey, frame: dict[str, Any]) -> Iterator[IsrProposed]:
        said = frame["decoded"]
        asked = [(p, entry) for entry in said["partitions"] if (p := self._topic.partition_of(entry)) is not None]
        self._in_flight.sent(key, tuple(partition for partition, _ in asked))
        for partition, entry in asked:
            yield IsrProposed(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                leader=BrokerId(said["broker_id"]),
                leader_epoch=LeaderEpoch(entry["leader_epoch"]),
                isr=tuple(map(BrokerId, entry["new_isr"])),
                partition_epoch=entry["partition_epoch"],
                api_version=frame["api_version"],
            )

    def _answered(self, moment: Moment, key: RequestKey, said: dict[str, Any]) -> Iterator[IsrAnswered]:
        given = {self._topic.partition_of(entry): entry for entry in said["partitions"]}
        for partition in self._in_flight.asked(key) or ():
            entry = given.get(partition)
            error = said["error"] or (entry["error"] if entry is not None else 0)
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
                leader=BrokerId(entry["leader"]),
                leader_epoch=LeaderEpoch(entry["leader_epoch"]),
                isr=tuple(map(BrokerId, entry["isr"])),
                partition_epoch=entry["partition_epoch"],
            )

    def _delivered(self, moment: Moment, key: RequestKey) -> Iterator[IsrDelivered]:
        for partition in self._in_flight.delivered(key) or ():
            yield IsrDelivered(at=moment.at, frame=moment.seq, partition=partition, key=key)
