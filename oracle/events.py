"""What can happen to a partition? One frozen class per protocol fact, half a round trip each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle.schedule import TopicSettings
    from oracle.state import FetchInFlight
    from oracle.vocabulary import Acks, BrokerId, ElectionKind, Label, Offset


@dataclass(frozen=True, slots=True)
class RecordSent:
    """A producer sent one record to the leader that the controller names, or to one that believes it leads."""

    label: Label
    acks: Acks
    leader: BrokerId | None = None


@dataclass(frozen=True, slots=True)
class RecordTurnedAway:
    """A broker turned a producer's request away before it looked at its log.

    Attributes:
        error: what it answers; with acks=0 it closes the connection instead.
    """

    label: Label
    acks: int
    error: str


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A follower sent its next request (FETCH or OffsetsForLeaderEpoch)."""

    follower: BrokerId


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """The leader handled a follower's request: answered it at once, or parked it."""

    follower: BrokerId


@dataclass(frozen=True, slots=True)
class FetchCompleted:
    """A parked fetch was read again and answered, by an append or by its maximum wait."""

    follower: BrokerId


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """The follower handled the leader's answer."""

    follower: BrokerId


@dataclass(frozen=True, slots=True)
class RequestLost:
    """A request or its answer was thrown away with its connection."""

    follower: BrokerId


@dataclass(frozen=True, slots=True)
class LateFetchReceived:
    """A leader handled a fetch whose sender's connection has ended: nobody waits for the answer.

    Attributes:
        fetch: as it was sent.
        is_of_earlier_start: whether its sender has been started again since.
    """

    follower: BrokerId
    fetch: FetchInFlight
    is_of_earlier_start: bool

    def after_start_of(self, broker: BrokerId) -> LateFetchReceived:
        """Return it after a broker was started: what that one sent before is of an earlier start."""
        return replace(self, is_of_earlier_start=True) if self.follower == broker else self


@dataclass(frozen=True, slots=True)
class BrokerDied:
    """A broker's process ended: by kill -9, or gracefully."""

    broker: BrokerId
    graceful: bool


@dataclass(frozen=True, slots=True)
class BrokerRemoved:
    """The controller noticed that a broker is gone and reacted."""

    broker: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerReturned:
    """A broker started with its old files and was registered and unfenced."""

    broker: BrokerId
    clean: bool


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """An operator changed the topic's durability settings."""

    settings: TopicSettings


@dataclass(frozen=True, slots=True)
class RecordsDeleted:
    """An operator had the leader delete the records before an offset (KIP-107)."""

    offset: Offset


@dataclass(frozen=True, slots=True)
class TopicDeleted:
    """An operator deleted the partition's topic, and every broker that runs heard of it."""


@dataclass(frozen=True, slots=True)
class ElectionRequested:
    """An operator asked the controller to elect the preferred leader, or one outside the ISR."""

    kind: ElectionKind


@dataclass(frozen=True, slots=True)
class ReassignmentRequested:
    """An operator asked the controller to move the partition to these brokers, preferred leader first."""

    replicas: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class JoinCommitted:
    """The controller committed a leader's request to add a replica to the ISR, and told the leader so."""

    follower: BrokerId
    is_answered: bool = True


@dataclass(frozen=True, slots=True)
class JoinAnswered:
    """A leader, the controller's unless it is named, heard that its request to add a replica was committed."""

    follower: BrokerId
    leader: BrokerId | None = None


@dataclass(frozen=True, slots=True)
class JoinRefused:
    """The controller refused to add a replica that may not be in the ISR; the leader gave the wish up."""

    follower: BrokerId


@dataclass(frozen=True, slots=True)
class DecisionReceived:
    """A broker heard the oldest decision of the controller that it had not heard yet."""

    broker: BrokerId


@dataclass(frozen=True, slots=True)
class LagPassed:
    """replica.lag.time.max.ms went by in which the leader did not see these followers caught up; it checks its ISR."""

    followers: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class ShrinkCommitted:
    """The controller committed a leader's request to remove replicas from the ISR, and told the leader so."""

    is_answered: bool = True


@dataclass(frozen=True, slots=True)
class ShrinkAnswered:
    """A leader, the controller's unless it is named, heard that its request to remove replicas was committed."""

    leader: BrokerId | None = None


@dataclass(frozen=True, slots=True)
class LogTailLost:
    """A dead broker's disk forgot the records from an offset on, as after a loss of power."""

    broker: BrokerId
    offset: Offset


@dataclass(frozen=True, slots=True)
class HighWatermarkLost:
    """A dead broker's disk forgot the checkpoint of its high watermark."""

    broker: BrokerId


LinkEvent = RequestSent | RequestReceived | FetchCompleted | ResponseReceived | RequestLost | LateFetchReceived
DiskEvent = LogTailLost | HighWatermarkLost
IsrEvent = JoinCommitted | JoinAnswered | JoinRefused | LagPassed | ShrinkCommitted | ShrinkAnswered
OperatorEvent = ElectionRequested | ReassignmentRequested | SettingsChanged | RecordsDeleted | TopicDeleted
BrokerEvent = BrokerDied | BrokerRemoved | BrokerReturned | DecisionReceived
Event = RecordSent | RecordTurnedAway | LinkEvent | BrokerEvent | OperatorEvent | DiskEvent | IsrEvent
