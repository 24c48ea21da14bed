"""What does the model know at one moment? Every replica, every fetch under way, the controller.

Frozen values only; the fields whose names start with ``history_`` exist for checking: no broker stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH, EpochEnd, ReplicaLog
from oracle.replacing import replace
from oracle.replication.remote import RemoteReplica
from oracle.vocabulary import BrokerId, Label, LeaderEpoch, Offset, ProduceOutcome, ReplicaRole

if TYPE_CHECKING:
    from oracle.events import LateFetchReceived
    from oracle.log import ModelRecord
    from oracle.schedule import TopicSettings


LOG_START = Offset(0)


class FetchKind(StrEnum):
    """Which request a follower has under way on its link to the leader."""

    FETCH = "fetch"
    EPOCH_LOOKUP = "epoch lookup"


class FetchStage(StrEnum):
    """Where that request stands: three places where a frame can be."""

    REQUESTED = "requested"
    PARKED = "parked"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class FetchAnswer:
    """A leader's answer to FETCH, with the content it had when it left the leader."""

    entries: tuple[ModelRecord, ...]
    high_watermark: Offset
    diverging: EpochEnd | None = None
    log_start_offset: Offset = LOG_START
    out_of_range: bool = False


@dataclass(frozen=True, slots=True)
class FollowerSession:
    """A follower's fetch session with its leader (KIP-227), where a rule looks at it.

    Attributes:
        untaken: an answer of numbers alone that counts as told although the follower took none of them: an equal one
            leaves the partition out. None if it has those numbers.
    """

    untaken: FetchAnswer | None = None


@dataclass(frozen=True, slots=True)
class FetchInFlight:
    """The one request a follower has under way (one in flight per link; it may be parked).

    Attributes:
        leader: the broker asked.
        leader_epoch: the epoch the follower believes in; fenced on from 2.1 (KIP-320). None if its leader does not look
            at it, because it stands in a fetch of a session (KAFKA-9338).
        offset: fetch offset, which is the follower's log end offset.
        last_epoch: last fetched epoch, or the epoch asked about in a lookup.
        answer: set once the leader has answered.
    """

    kind: FetchKind
    stage: FetchStage
    leader: BrokerId
    leader_epoch: LeaderEpoch | None
    offset: Offset
    last_epoch: LeaderEpoch
    answer: FetchAnswer | EpochEnd | None = None


@dataclass(frozen=True, slots=True)
class ControllerDecision:
    """What the controller tells a broker: LeaderAndIsr, or a change of the partition in the metadata log.

    Attributes:
        leader: None if nobody leads.
        deletes: the broker has the replica no more (StopReplica, or a change that leaves it out).
        added: the replicas of which the leader learns by it that they are assigned.
    """

    leader: BrokerId | None
    leader_epoch: LeaderEpoch
    isr: frozenset[BrokerId]
    deletes: bool = False
    added: frozenset[BrokerId] = frozenset()


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One replica of the partition.

    Attributes:
        alive: whether its broker runs.
        log: what is on its disk; survives kill -9 (the page cache does).
        high_watermark: first offset it does not know to be committed. Invariant: <= log end offset.
        checkpointed_high_watermark: what replication-offset-checkpoint says.
        log_start_offset: the first offset that it serves; what is before stays on its disk for a while.
        checkpointed_log_start_offset: what log-start-offset-checkpoint says, written at a graceful stop.
        leader: the leader it believes in.
        leader_epoch: the epoch of that belief.
        epoch_start_offset: as leader, its log end offset when it took the epoch.
        isr: as leader, the committed ISR it knows.
        joining: as leader, replicas it has asked the controller to add (maximal ISR, KIP-497).
        leaving: as leader, replicas it has asked the controller to remove; they count until it has.
        isr_answer: as leader, what the controller has decided on that request, on its way back.
        remotes: as leader, what it knows about each follower.
        truncating: as follower, whether it must look up its epoch before it may fetch.
        truncated_to: as follower, where a cut has brought it that was not final (KIP-279).
        stuck: as follower, whether its fetcher has stopped; if its broker is down, whether the process hangs
            (``WhenAhead``).
        fetch: as follower, its request under way.
        session: as follower, its fetch session; None before its leader's first answer, and where no rule looks at it.
        undelivered: decisions of the controller on their way to it, oldest first.
        shut_down_cleanly: whether its last stop was graceful (what ELR asks at registration).
        history_appended: every label this replica ever appended.
    """

    broker: BrokerId
    alive: bool = True
    log: ReplicaLog = field(default_factory=ReplicaLog)
    high_watermark: Offset = LOG_START
    checkpointed_high_watermark: Offset = LOG_START
    log_start_offset: Offset = LOG_START
    checkpointed_log_start_offset: Offset = LOG_START
    role: ReplicaRole = ReplicaRole.NONE
    leader: BrokerId | None = None
    leader_epoch: LeaderEpoch = NO_EPOCH
    epoch_start_offset: Offset = LOG_START
    isr: frozenset[BrokerId] = frozenset()
    joining: frozenset[BrokerId] = frozenset()
    leaving: frozenset[BrokerId] = frozenset()
    isr_answer: ControllerDecision | None = None
    remotes: tuple[RemoteReplica, ...] = ()
    truncating: bool = False
    truncated_to: Offset | None = None
    stuck: bool = False
    fetch: FetchInFlight | None = None
    session: FollowerSession | None = None
    undelivered: tuple[ControllerDecision, ...] = ()
    shut_down_cleanly: bool = True
    history_appended: frozenset[Label] = frozenset()

    def remote(self, broker: BrokerId) -> RemoteReplica:
        """Return what this leader knows about a follower."""
        return next((remote for remote in self.remotes if remote.broker == broker), RemoteReplica(broker))

    def remote_log_end_offset(self, broker: BrokerId) -> Offset | None:
        """Return the log end offset a follower last reported, or None before its first fetch."""
        return self.remote(broker).log_end_offset

    def with_remote(self, changed: RemoteReplica) -> ReplicaState:
        """Return the leader's state with one follower's replaced."""
        others = (remote for remote in self.remotes if remote.broker != changed.broker)
        return replace(self, remotes=tuple(sorted((*others, changed), key=lambda remote: remote.broker)))

    @property
    def has_isr_request(self) -> bool:
        """Return whether this leader has a change of the ISR under way: one at a time (KIP-497)."""
        return bool(self.joining or self.leaving)

    def maximal_isr(self) -> frozenset[BrokerId]:
        """Return the ISR with the replicas whose join is not yet committed, and those who have not yet left."""
        return self.isr | self.joining


@dataclass(frozen=True, slots=True)
class ControllerView:
    """What the controller has committed about the partition.

    Attributes:
        registered: live, unfenced brokers.
        isr: in-sync replicas. Empty only with eligible leader replicas (KIP-966).
        elr: eligible leader replicas. Invariant: disjoint from isr, empty once isr reaches min ISR.
        last_known_leader: leader when the ISR became empty.
        is_recovering: the leader was elected uncleanly, and nobody has joined it since (KIP-704).
        left_in_index: brokers that the controller still looks for although it has cleared their eligibility
            (``oracle.rules.eligible_leaders``).
        leaderships: (first epoch, leader, was the election clean), one per leader change.
    """

    registered: frozenset[BrokerId]
    leader: BrokerId | None
    leader_epoch: LeaderEpoch
    isr: tuple[BrokerId, ...]
    elr: frozenset[BrokerId] = frozenset()
    last_known_leader: BrokerId | None = None
    is_recovering: bool = False
    left_in_index: frozenset[BrokerId] = frozenset()
    leaderships: tuple[tuple[LeaderEpoch, BrokerId, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class ProduceState:
    """One record's way through the produce path.

    Attributes:
        acks: a value of ``Acks``, unless the request was refused for it.
        leader: the broker that got the request, or None if there was none to send it to.
        required_offset: high watermark that acknowledges it with acks=all; None if not appended.
        leader_epoch: epoch it was appended in; None if not appended.
        outcome: None while the producer waits.
    """

    label: Label
    acks: int
    leader: BrokerId | None
    required_offset: Offset | None
    leader_epoch: LeaderEpoch | None
    outcome: ProduceOutcome | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LostRecord:
    """A committed or acknowledged record that an election stopped serving.

    Attributes:
        new_leader: the replica elected without the record.
        was_clean: whether it was elected from the ISR (or eligible leader replicas).
        had_appended: whether that replica had once appended the record.
    """

    label: Label
    new_leader: BrokerId
    was_clean: bool
    had_appended: bool


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A reassignment that waits for replicas to come into sync (KIP-455).

    Attributes:
        target: the replicas wanted, preferred leader first.
        added: those of them that were not assigned before.
        removed: those that were assigned before and are not wanted.
    """

    target: tuple[BrokerId, ...]
    added: frozenset[BrokerId]
    removed: frozenset[BrokerId]


@dataclass(frozen=True, slots=True)
class PartitionState:
    """The whole partition: what ``transitions.step`` maps to its successor.

    Attributes:
        assignment: the assigned replicas, preferred leader first; in a reassignment the old ones too. Empty once the
            topic is deleted.
        replicas: one state per broker that the schedule names, assigned or not.
        reassignment: None while none is under way.
        late: the explorer's fetches that outlive their senders; a schedule has them in its gate.
    """

    assignment: tuple[BrokerId, ...]
    settings: TopicSettings
    replicas: tuple[ReplicaState, ...]
    controller: ControllerView
    produces: tuple[ProduceState, ...] = ()
    reassignment: Reassignment | None = None
    history_committed: frozenset[Label] = frozenset()
    history_losses: tuple[LostRecord, ...] = ()
    history_truncations: tuple[tuple[BrokerId, Label, str], ...] = ()
    late: tuple[LateFetchReceived, ...] = ()

    def replica(self, broker: BrokerId) -> ReplicaState:
        """Return one replica's state."""
        return next(replica for replica in self.replicas if replica.broker == broker)

    def with_replica(self, changed: ReplicaState) -> PartitionState:
        """Return the state with one replica replaced."""
        replicas = tuple(changed if r.broker == changed.broker else r for r in self.replicas)
        return replace(self, replicas=replicas)

    def assigned(self) -> tuple[ReplicaState, ...]:
        """Return the states of the assigned replicas."""
        return tuple(replica for replica in self.replicas if replica.broker in self.assignment)

    def serving_leader(self) -> ReplicaState | None:
        """Return the controller's leader if it runs and believes it leads, else None."""
        if self.controller.leader is None:
            return None
        return self.presumed_leader(self.controller.leader)

    def presumed_leader(self, broker: BrokerId) -> ReplicaState | None:
        """Return a broker's replica if it runs and believes it leads, whatever the controller says."""
        replica = self.replica(broker)
        return replica if replica.alive and replica.role is ReplicaRole.LEADER else None
