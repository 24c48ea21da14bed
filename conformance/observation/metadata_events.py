"""What do fetches of KRaft's metadata log show? See the table of ``frame_events``.

A broker applies a record once it has it and knows a high watermark above it; both come with answers. A broker
that starts reads again what it has on disk, up to the high watermark that the first answer tells it.

Choices: the newest state before a start is heard again only once, not every state on the way there. A broker may
apply what it heard at any later time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from conformance.observation.controller_events import brokers, leader_or_none
from conformance.observation.errors import TraceUnreadableError
from conformance.observation.wire_moments import InFlight, request_key
from oracle.tracing.observed import IsrAnnounced, LeadershipHeard
from oracle.vocabulary import BrokerId, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.observation.wire_moments import WireMoment
    from conformance.record.wire import FrameEntry
    from conformance.wire_trace.partition import TopicOfInterest


@dataclass(slots=True)
class _MetadataLogReader:
    """How far one broker has read the log.

    Attributes:
        applied: how many states of the history it has applied.
        is_starting: it began anew and has had no answer since.
    """

    applied: int = 0
    is_starting: bool = False


class MetadataEvents:
    """Turns fetches of the metadata log into what the controller announced and what each broker heard."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._log = MetadataLog(topic)
        self._readers: dict[int, _MetadataLogReader] = {}
        self._in_flight: InFlight[int] = InFlight()

    def of(self, moment: WireMoment) -> Iterator[IsrAnnounced | LeadershipHeard]:
        """Return the events of one moment."""
        frame = moment.frame
        if frame.direction == "response":
            return self._delivered(moment) if moment.is_delivery else self._answered(moment)
        if not moment.is_delivery:
            for entry in frame.said.entries:
                self._in_flight.sent(request_key(frame), entry.fetch_offset)
        return iter(())

    def broker_started(self, broker: int) -> None:
        """Note that a broker begins anew."""
        self._readers[broker] = _MetadataLogReader(is_starting=True)

    def _answered(self, moment: WireMoment) -> Iterator[IsrAnnounced]:
        for entry in moment.frame.said.entries:
            records, epochs = entry.metadata, entry.epochs
            unread = next((record for record in records if record.record == "UnreadableRecord"), None)
            if unread is not None:
                what = f"a record of the metadata log (api key {unread.api_key}, version {unread.version})"
                raise TraceUnreadableError(f"frame {moment.seq}: {what} was not decoded")
            if epochs:
                for state in self._log.append(records, epochs[-1].last_offset):
                    yield IsrAnnounced(
                        at=moment.at,
                        frame=moment.seq,
                        partition=self._topic.partition(state.partition),
                        leader=state.leader,
                        leader_epoch=state.leader_epoch,
                        isr=state.isr,
                        replicas=state.replicas,
                        partition_epoch=state.partition_epoch,
                    )

    def _delivered(self, moment: WireMoment) -> Iterator[LeadershipHeard]:
        broker = moment.frame.source
        if broker is None:
            return
        fetch_offset = self._in_flight.delivered(request_key(moment.frame)) or 0
        reader = self._readers.setdefault(broker, _MetadataLogReader())
        for entry in moment.frame.said.entries:
            states = self._applied(reader, min(_fetched(entry, fetch_offset), entry.high_watermark))
            for state in _newest(states) if reader.is_starting else states:
                yield self._heard(moment, broker, state)
        reader.is_starting = False

    def _applied(self, reader: _MetadataLogReader, below: int) -> list[Registration]:
        start = end = reader.applied
        history = self._log.history
        while end < len(history) and history[end].offset < below:
            end += 1
        reader.applied = end
        return history[start:end]

    def _heard(self, moment: WireMoment, broker: int, state: Registration) -> LeadershipHeard:
        return LeadershipHeard(
            at=moment.at,
            frame=moment.seq,
            partition=self._topic.partition(state.partition),
            broker=BrokerId(broker),
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=state.isr,
            replicas=state.replicas,
            partition_epoch=state.partition_epoch,
        )


def _fetched(entry: FrameEntry, fetch_offset: int) -> int:
    epochs = entry.epochs
    return int(epochs[-1].last_offset) + 1 if epochs else fetch_offset


def _newest(states: list[Registration]) -> list[Registration]:
    return list({state.partition: state for state in states}.values())


# In which state was a partition at each offset of KRaft's metadata log?
#
# Sources: ``PartitionRegistration.merge``: a change that names a leader begins a new leader epoch even if the leader
# stays, and every change raises the partition epoch.


@dataclass(frozen=True, slots=True)
class Registration:
    """The state of one partition from one offset of the metadata log on.

    Attributes:
        offset: of the record that made it.
        partition: its index.
        leader: None if nobody leads.
    """

    offset: int
    partition: int
    leader: BrokerId | None
    leader_epoch: LeaderEpoch
    isr: tuple[BrokerId, ...]
    replicas: tuple[BrokerId, ...]
    partition_epoch: int


@dataclass(slots=True)
class MetadataLog:
    """The states of one topic's partitions, as far as records of the log were seen.

    Attributes:
        end_offset: the first offset whose record was not seen.
        history: every state, the oldest first.
    """

    topic: TopicOfInterest
    end_offset: int = 0
    history: list[Registration] = field(default_factory=list)
    _newest: dict[int, Registration] = field(default_factory=dict)

    def append(self, records: Sequence[FrameEntry], last_offset: int) -> list[Registration]:
        """Note records up to an offset; return the states that were not seen before."""
        new = [record for record in records if record.offset >= self.end_offset]
        self.end_offset = max(self.end_offset, last_offset + 1)
        states = [state for record in new if (state := self._state(record)) is not None]
        self.history += states
        return states

    def _state(self, record: FrameEntry) -> Registration | None:
        if record.record == "TopicRecord" and record.topic == self.topic.name:
            self.topic.learn(record.topic_id or "")
        if not self.topic.is_named(record.topic_id or ""):
            return None
        match record.record:
            case "PartitionRecord":
                state = _registered(record)
            case "PartitionChangeRecord" if record.partition in self._newest:
                state = _merged(self._newest[record.partition], record)
            case _:
                return None
        self._newest[state.partition] = state
        return state


def _registered(record: FrameEntry) -> Registration:
    return Registration(
        offset=record.offset,
        partition=record.partition,
        leader=leader_or_none(record.leader),
        leader_epoch=LeaderEpoch(record.leader_epoch),
        isr=brokers(record.isr),
        replicas=brokers(record.replicas),
        partition_epoch=record.partition_epoch,
    )


def _merged(before: Registration, record: FrameEntry) -> Registration:
    leader, isr, replicas = record.leader, record.isr, record.replicas
    return replace(
        before,
        offset=record.offset,
        leader=before.leader if leader is None else leader_or_none(leader),
        leader_epoch=before.leader_epoch if leader is None else LeaderEpoch(before.leader_epoch + 1),
        isr=before.isr if isr is None else brokers(isr),
        replicas=before.replicas if replicas is None else brokers(replicas),
        partition_epoch=before.partition_epoch + 1,
    )
