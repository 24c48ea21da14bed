"""In which state was a partition at each offset of KRaft's metadata log?

Sources: ``PartitionRegistration.merge``: a change that names a leader begins a new leader epoch even if the leader
stays, and every change raises the partition epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from conformance.observation.controller_events import leader_or_none
from oracle.vocabulary import BrokerId, LeaderEpoch

if TYPE_CHECKING:
    from conformance.wire_trace.topic_of_interest import TopicOfInterest

Record = dict[str, Any]


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

    def append(self, records: list[Record], last_offset: int) -> list[Registration]:
        """Take note of records up to an offset; give the states that were not seen before."""
        new = [record for record in records if record["offset"] >= self.end_offset]
        self.end_offset = max(self.end_offset, last_offset + 1)
        states = [state for record in new if (state := self._state(record)) is not None]
        self.history += states
        return states

    def _state(self, record: Record) -> Registration | None:
        if record["record"] == "TopicRecord" and record["topic"] == self.topic.name:
            self.topic.learn(record["topic_id"])
        if not self.topic.is_named(record.get("topic_id", "")):
            return None
        match record["record"]:
            case "PartitionRecord":
                state = _registered(record)
            case "PartitionChangeRecord" if record["partition"] in self._newest:
                state = _merged(self._newest[record["partition"]], record)
            case _:
                return None
        self._newest[state.partition] = state
        return state


def _registered(record: Record) -> Registration:
    return Registration(
        offset=record["offset"],
        partition=record["partition"],
        leader=leader_or_none(record["leader"]),
        leader_epoch=LeaderEpoch(record["leader_epoch"]),
        isr=_brokers(record["isr"]),
        replicas=_brokers(record["replicas"]),
        partition_epoch=record["partition_epoch"],
    )


def _merged(before: Registration, record: Record) -> Registration:
    leader, isr, replicas = record.get("leader"), record.get("isr"), record.get("replicas")
    return replace(
        before,
        offset=record["offset"],
        leader=before.leader if leader is None else leader_or_none(leader),
        leader_epoch=before.leader_epoch if leader is None else LeaderEpoch(before.leader_epoch + 1),
        isr=before.isr if isr is None else _brokers(isr),
        replicas=before.replicas if replicas is None else _brokers(replicas),
        partition_epoch=before.partition_epoch + 1,
    )


def _brokers(brokers: list[int]) -> tuple[BrokerId, ...]:
    return tuple(map(BrokerId, brokers))
