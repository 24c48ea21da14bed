"""What do an OffsetsForLeaderEpoch request and its answer show? See the table of ``frame_events``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.observation.fetch_events import NONE, epoch_or_none
from conformance.observation.in_flight import InFlight, request_key
from oracle.log import EpochEnd
from oracle.tracing.observed import (
    LookupAnswered,
    LookupDelivered,
    LookupReceived,
    LookupSent,
    RequestKey,
    TopicPartition,
)
from oracle.vocabulary import BrokerId, LeaderEpoch, Offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.observation.wire_moments import Moment
    from conformance.wire_trace.topic_of_interest import TopicOfInterest


class LookupEvents:
    """Turns OffsetsForLeaderEpoch frames between brokers into events."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: Moment) -> Iterator[LookupSent | LookupReceived | LookupAnswered | LookupDelivered]:
        """Give the events of one moment."""
        frame = moment.frame
        key = request_key(frame)
        if frame["direction"] == "request":
            return self._received(moment, key) if moment.is_delivery else self._sent(moment, key, frame)
        return self._delivered(moment, key) if moment.is_delivery else self._answered(moment, key, frame["decoded"])

    def _sent(self, moment: Moment, key: RequestKey, frame: dict[str, Any]) -> Iterator[LookupSent]:
        source = frame["source"]
        if source is None or source < 0:
            return
        queries = frame["decoded"]["partitions"]
        asked = [(p, entry) for entry in queries if (p := self._topic.partition_of(entry)) is not None]
        self._in_flight.sent(key, tuple(partition for partition, _ in asked))
        for partition, entry in asked:
            yield LookupSent(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                follower=BrokerId(source),
                leader=BrokerId(frame["destination"]),
                epoch=LeaderEpoch(entry["leader_epoch"]),
                current_leader_epoch=epoch_or_none(entry.get("current_leader_epoch")),
                api_version=frame["api_version"],
            )

    def _received(self, moment: Moment, key: RequestKey) -> Iterator[LookupReceived]:
        for partition in self._in_flight.asked(key) or ():
            yield LookupReceived(at=moment.at, frame=moment.seq, partition=partition, key=key)

    def _answered(self, moment: Moment, key: RequestKey, said: dict[str, Any]) -> Iterator[LookupAnswered]:
        given = {self._topic.partition_of(entry): entry for entry in said["partitions"]}
        for partition in self._in_flight.asked(key) or ():
            entry = given.get(partition)
            if entry is None:
                continue
            end_offset = entry["end_offset"]
            yield LookupAnswered(
                at=moment.at,
                frame=moment.seq,
                partition=partition,
                key=key,
                error=said.get("error", 0) or entry["error"],
                end=EpochEnd(epoch_or_none(entry["leader_epoch"]), None if end_offset == NONE else Offset(end_offset)),
            )

    def _delivered(self, moment: Moment, key: RequestKey) -> Iterator[LookupDelivered]:
        for partition in self._in_flight.delivered(key) or ():
            yield LookupDelivered(at=moment.at, frame=moment.seq, partition=partition, key=key)
