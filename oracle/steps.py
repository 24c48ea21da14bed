"""Which steps can a schedule take? One frozen class per step, documented where it is declared.

Every step ends at rest, in the model and on real brokers: all replication that no hold blocks has
run. The same classes serve the catalogue (Python) and users' files (YAML); the text beside each
field is what ``schedule-help`` prints.
"""

from __future__ import annotations

from dataclasses import dataclass

from oracle.asking_steps import Ask as Ask
from oracle.asking_steps import Consume as Consume
from oracle.asking_steps import EndOffsetOfEpoch as EndOffsetOfEpoch
from oracle.asking_steps import ListOffsets as ListOffsets
from oracle.asking_steps import SendTo as SendTo
from oracle.obstacle_steps import Cut as Cut  # the steps of the other modules are this module's public names too
from oracle.obstacle_steps import Heal as Heal
from oracle.obstacle_steps import Isolate as Isolate
from oracle.obstacle_steps import Rejoin as Rejoin
from oracle.process_steps import Kill as Kill
from oracle.process_steps import KillTogether as KillTogether
from oracle.process_steps import Pause as Pause
from oracle.process_steps import Resume as Resume
from oracle.process_steps import Start as Start
from oracle.process_steps import Stop as Stop
from oracle.step_fields import described
from oracle.step_fields import written_name as written_name  # part of this module's public names
from oracle.topic_steps import AddPartitions as AddPartitions
from oracle.topic_steps import CreateTopic as CreateTopic
from oracle.topic_steps import DeleteRecords as DeleteRecords
from oracle.topic_steps import DeleteTopic as DeleteTopic
from oracle.vocabulary import Acks, BrokerId, ElectionKind, Expectation, Label, Offset, PointName

MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
MESSAGE_FORMAT = "message.format.version"
CONTROLLER_POINT_HELP = (
    "between a broker and the controller: leader_and_isr, leader_and_isr_response, stop_replica (from 2.1), "
    "update_metadata (ZooKeeper mode), "
    "controller_fetch_request / _response (KRaft mode), alter_partition_request / _response (2.7 and newer)"
)


@dataclass(frozen=True, slots=True)
class Produce:
    """Send records to the current leader: one label is one request is one batch, without retries."""

    records: tuple[Label, ...] = described("labels of the records, sent one after the other")
    acks: Acks = described("0, 1 or all", default=Acks.ALL)
    expect: Expectation = described(
        "acknowledged, refused, indeterminate, pending (collect it with await_outcome) or any",
        default=Expectation.ACKNOWLEDGED,
    )
    error: str | None = described("the error expected with refused or indeterminate", default=None)
    timeout_ms: int = described("how long the producer and the broker wait for acks=all", default=30_000)
    leader: BrokerId | None = described(
        "send to this broker, which believes that it leads; else to the controller's leader", default=None
    )


@dataclass(frozen=True, slots=True)
class AwaitOutcome:
    """Wait until the producer knows the outcome of records that were left pending."""

    records: tuple[Label, ...] = described("labels produced earlier with expect: pending")
    expect: Expectation = described("acknowledged, refused, indeterminate or any", default=Expectation.ANY)
    error: str | None = described("the error expected", default=None)


@dataclass(frozen=True, slots=True)
class Hold:
    """Arm a gate that freezes the next matching frame between two stock brokers."""

    name: str = described("name of the hold, for await_hold, release, drop and close")
    point: PointName = described(
        "fetch_request, fetch_response, or offsets_for_leader_epoch_request / _response (0.11 to 2.7); "
        + CONTROLLER_POINT_HELP
    )
    follower: BrokerId | None = described("the broker that fetches", default=None)
    leader: BrokerId | None = described("the broker that it fetches from", default=None)
    fetch_offset: Offset | None = described("only a fetch at this offset (the follower's LEO)", default=None)
    nth: int = described("catch the n-th matching frame; await_hold must follow where it comes", default=1)
    broker: BrokerId | None = described("instead of follower and leader: the controller's counterpart", default=None)

    @property
    def brokers(self) -> tuple[BrokerId | None, ...]:
        """The brokers whose end discharges the hold."""
        return (self.follower, self.leader) if self.broker is None else (self.broker,)


@dataclass(frozen=True, slots=True)
class Delay:
    """Pass the next matching frame on later: no state may change but the time it takes."""

    point: PointName = described(
        "fetch_request, fetch_response, or offsets_for_leader_epoch_request / _response (0.11 to 2.7)"
    )
    follower: BrokerId = described("the broker that fetches")
    leader: BrokerId = described("the broker that it fetches from")
    delay_ms: int = described("how long the frame waits in the gate")
    fetch_offset: Offset | None = described("only a fetch at this offset", default=None)
    nth: int = described("delay the n-th matching frame", default=1)


@dataclass(frozen=True, slots=True)
class AwaitHold:
    """Wait until the gate has caught its frame."""

    name: str = described("name of an armed hold")


@dataclass(frozen=True, slots=True)
class Release:
    """Pass a held frame on, unchanged, as it was when it was caught."""

    name: str = described("name of a hold that has caught its frame")


@dataclass(frozen=True, slots=True)
class Drop:
    """Throw a held frame away; its connection stays open and silent until a broker gives up on it."""

    name: str = described("name of a hold that has caught its frame")


@dataclass(frozen=True, slots=True)
class Close:
    """Throw a held frame away and abort its connection; the follower connects again and fetches."""

    name: str = described("name of a hold that has caught its frame")


@dataclass(frozen=True, slots=True)
class Elect:
    """Ask the controller for a leader election, as kafka-leader-election does; ends when there is a new leader."""

    kind: ElectionKind = described("preferred: the first assigned replica; unclean: of a leaderless partition (2.4 on)")


@dataclass(frozen=True, slots=True)
class Reassign:
    """Move the partition to other brokers, as kafka-reassign-partitions does; ends when no hold lets it go on."""

    replicas: tuple[BrokerId, ...] = described("the brokers that shall have it, preferred leader first")


@dataclass(frozen=True, slots=True)
class Alter:
    """Change the topic's durability settings, as kafka-configs does; ends when the leader obeys them."""

    min_insync_replicas: int | None = described(
        "how many in-sync replicas acks=all needs from now on", written=MIN_ISR, default=None
    )
    unclean_leader_election: bool | None = described(
        "whether others than in-sync replicas may lead from now on", written=UNCLEAN, default=None
    )


@dataclass(frozen=True, slots=True)
class AwaitLeader:
    """Wait until the controller and every live broker name this leader (none: no leader)."""

    leader: BrokerId | None = described("broker id, or none")


@dataclass(frozen=True, slots=True)
class AwaitIsr:
    """Wait until the controller's committed in-sync replicas are these."""

    isr: tuple[BrokerId, ...] = described("broker ids, in any order")


@dataclass(frozen=True, slots=True)
class AwaitLag:
    """Let replica.lag.time.max.ms pass, and half as much again: the leader removes lagging replicas (timing: lag)."""

    followers: tuple[BrokerId, ...] = described("the followers that do not fetch meanwhile: held, or killed")


@dataclass(frozen=True, slots=True)
class LoseTail:
    """Cut the log of a broker that is down, as a machine does that loses power before it has written it."""

    broker: BrokerId = described("a broker that is down")
    offset: Offset = described("the first offset that is lost")


@dataclass(frozen=True, slots=True)
class LoseCheckpoint:
    """Remove the high watermark checkpoint of a broker that is down."""

    broker: BrokerId = described("a broker that is down")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Measure every replica's numbers, to be compared with the prediction."""

    name: str = described("what this moment shows")


Step = (
    Produce
    | AwaitOutcome
    | Hold
    | Delay
    | AwaitHold
    | Release
    | Drop
    | Close
    | Kill
    | KillTogether
    | Stop
    | Start
    | Pause
    | Resume
    | Cut
    | Heal
    | Isolate
    | Rejoin
    | Elect
    | Reassign
    | Alter
    | DeleteRecords
    | AddPartitions
    | CreateTopic
    | DeleteTopic
    | AwaitLeader
    | AwaitIsr
    | AwaitLag
    | LoseTail
    | LoseCheckpoint
    | Checkpoint
    | Consume
    | ListOffsets
    | EndOffsetOfEpoch
    | SendTo
)

STEP_NAMES: dict[str, type[Step]] = {
    "produce": Produce,
    "await_outcome": AwaitOutcome,
    "hold": Hold,
    "delay": Delay,
    "await_hold": AwaitHold,
    "release": Release,
    "drop": Drop,
    "close": Close,
    "kill": Kill,
    "kill_together": KillTogether,
    "stop": Stop,
    "start": Start,
    "pause": Pause,
    "resume": Resume,
    "cut": Cut,
    "heal": Heal,
    "isolate": Isolate,
    "rejoin": Rejoin,
    "elect": Elect,
    "reassign": Reassign,
    "alter": Alter,
    "delete_records": DeleteRecords,
    "add_partitions": AddPartitions,
    "create_topic": CreateTopic,
    "delete_topic": DeleteTopic,
    "await_leader": AwaitLeader,
    "await_isr": AwaitIsr,
    "await_lag": AwaitLag,
    "lose_tail": LoseTail,
    "lose_checkpoint": LoseCheckpoint,
    "checkpoint": Checkpoint,
    "consume": Consume,
    "list_offsets": ListOffsets,
    "end_offset_of_epoch": EndOffsetOfEpoch,
    "send_to": SendTo,
}
"""The word a YAML schedule uses for each step."""
