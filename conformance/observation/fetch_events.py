"""What do a follower's FETCH and its answer show? See the table of ``frame_events``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.observation.wire_moments import InFlight, request_key
from conformance.record.wire import NONE, DivergingEpoch, Entry, Frame, Said
from conformance.record.wire import EpochRun as RunOfEpoch
from oracle.log import EpochEnd
from oracle.tracing.observed import (
    EpochRun,
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    FetchSent,
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


class FetchEvents:
    """Turns FETCH frames between brokers into events; consumers and probes are passed over."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: Moment) -> Iterator[FetchSent | FetchReceived | FetchAnswered | FetchDelivered]:
        """Return the events of one moment."""
        frame = moment.frame
        key = request_key(frame)
        if frame.direction == "request":
            return self._received(moment, key) if moment.is_delivery else self._sent(moment, key, frame)
        return self._delivered(moment, key) if moment.is_delivery else self._answered(moment, key, frame.said)

    def _sent(self, moment: Moment, key: RequestKey, frame: Frame) -> Iterator[FetchSent]:
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
                api_version=frame.api_version or 0,
            )

    def _received(self, moment: Moment, key: RequestKey) -> Iterator[FetchReceived]:
        for partition in self._in_flight.asked(key) or ():
            yield FetchReceived(at=moment.at, frame=moment.seq, partition=partition, key=key)

    def _answered(self, moment: Moment, key: RequestKey, said: Said) -> Iterator[FetchAnswered]:
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

    def _delivered(self, moment: Moment, key: RequestKey) -> Iterator[FetchDelivered]:
        for partition in self._in_flight.delivered(key) or ():
            yield FetchDelivered(at=moment.at, frame=moment.seq, partition=partition, key=key)


_SILENT = Entry(is_listed=False)


def epoch_or_none(leader_epoch: int | None) -> LeaderEpoch | None:
    """Return a leader epoch; None if a frame has none."""
    return None if leader_epoch is None or leader_epoch == NONE else LeaderEpoch(leader_epoch)


def _epoch_end(said: DivergingEpoch) -> EpochEnd:
    return EpochEnd(epoch_or_none(said.leader_epoch), Offset(said.end_offset))


def _run(said: RunOfEpoch) -> EpochRun:
    leader_epoch, first, last = said.leader_epoch, said.first_offset, Offset(said.last_offset)
    return EpochRun(epoch_or_none(leader_epoch), last if first is None else Offset(first), last)


# What do an OffsetsForLeaderEpoch request and its answer show? See the table of ``frame_events``.


class LookupEvents:
    """Turns OffsetsForLeaderEpoch frames between brokers into events."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._in_flight: InFlight[tuple[TopicPartition, ...]] = InFlight()

    def of(self, moment: Moment) -> Iterator[LookupSent | LookupReceived | LookupAnswered | LookupDelivered]:
        """Return the events of one moment."""
        frame = moment.frame
        key = request_key(frame)
        if frame.direction == "request":
            return self._received(moment, key) if moment.is_delivery else self._sent(moment, key, frame)
        return self._delivered(moment, key) if moment.is_delivery else self._answered(moment, key, frame.said)

    def _sent(self, moment: Moment, key: RequestKey, frame: Frame) -> Iterator[LookupSent]:
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

    def _received(self, moment: Moment, key: RequestKey) -> Iterator[LookupReceived]:
        for partition in self._in_flight.asked(key) or ():
            yield LookupReceived(at=moment.at, frame=moment.seq, partition=partition, key=key)

    def _answered(self, moment: Moment, key: RequestKey, said: Said) -> Iterator[LookupAnswered]:
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

    def _delivered(self, moment: Moment, key: RequestKey) -> Iterator[LookupDelivered]:
        for partition in self._in_flight.delivered(key) or ():
            yield LookupDelivered(at=moment.at, frame=moment.seq, partition=partition, key=key)
