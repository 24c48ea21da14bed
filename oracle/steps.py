"""Which steps can a schedule take? One frozen class per step, documented where it is declared.

Every step ends at rest, in the model and on real brokers: all replication that no hold blocks has
run. The same classes serve the catalogue (Python) and users' files (YAML); the text beside each
field is what ``schedule-help`` prints.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field
from typing import Any

from oracle.vocabulary import (
    Acks,
    BrokerId,
    ElectionKind,
    Expectation,
    Label,
    Leadership,
    Offset,
    OffsetSpec,
    PointName,
)

# How is a step's field declared? With the sentence that documents it, and the name that files give it.


def described(text: str, *, written: str | None = None, **options: Any) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Declare a step's field with the sentence that documents it, and with its name in files if that is another."""
    return field(metadata={"help": text, "written": written}, **options)


def written_name(declared: Field[Any]) -> str:
    """Return a step's field as schedule files name it: settings have Kafka's names."""
    name: str = declared.metadata["written"] or declared.name
    return name


# Which steps ask one broker something in the middle of a schedule? Its answer is predicted, and measured.
#
# Three only read; ``send_to`` may append. None waits for another broker's view: each goes to the broker it names.


VERSION_HELP = "version of the request; none: the newest that the release and this tester have"
LEADER_HELP = "the broker that is asked; none: the controller's leader"


@dataclass(frozen=True, slots=True)
class Consume:
    """Fetch as a read_uncommitted consumer: which records does this broker show, and which high watermark?"""

    broker: BrokerId | None = described(f"{LEADER_HELP}. Followers answer from 2.4 on (Fetch 11)", default=None)
    offset: Offset = described("the first offset wanted", default=Offset(0))
    version: int | None = described(VERSION_HELP, default=None)


@dataclass(frozen=True, slots=True)
class ListOffsets:
    """Ask for the earliest or the latest offset, or the first one that is as late as a record's timestamp."""

    spec: OffsetSpec = described("earliest, latest or timestamp")
    broker: BrokerId | None = described(LEADER_HELP, default=None)
    timestamp_of: Label | None = described("the record whose timestamp is asked for, with timestamp", default=None)
    version: int | None = described(VERSION_HELP, default=None)


@dataclass(frozen=True, slots=True)
class EndOffsetOfEpoch:
    """Ask where a leader epoch ends, as followers do (OffsetsForLeaderEpoch, 0.11 on)."""

    leadership: Leadership = described("ordinal of the leadership whose epoch is asked for, from 0; its last epoch")
    broker: BrokerId | None = described(LEADER_HELP, default=None)
    current: Leadership | None = described(
        "ordinal of the leadership that is claimed to be the current one (2.1 on, version 2 on); none: not claimed",
        default=None,
    )
    version: int | None = described(VERSION_HELP, default=None)


@dataclass(frozen=True, slots=True)
class SendTo:
    """Send one record to a broker, whether it leads or not, with any acks: what does it answer, what does it write?"""

    record: Label = described("label of the record")
    broker: BrokerId = described("the broker that gets the request")
    acks: int = described("all (-1), 0 or 1, or a number that is none of them", default=-1)
    timeout_ms: int = described("how long the broker waits for acks=-1", default=30_000)


Ask = Consume | ListOffsets | EndOffsetOfEpoch | SendTo


# Which steps stand between brokers that live? Each stays in the way until a step of its own takes it back.


@dataclass(frozen=True, slots=True)
class Cut:
    """Let no fetch of one broker reach another one: connections are reset, and again whenever they are tried."""

    follower: BrokerId = described("the broker whose fetches are lost", written="from")
    leader: BrokerId = described("the broker that they do not reach", written="to")


@dataclass(frozen=True, slots=True)
class Heal:
    """Take a cut back."""

    follower: BrokerId = described("as in the cut", written="from")
    leader: BrokerId = described("as in the cut", written="to")


@dataclass(frozen=True, slots=True)
class Isolate:
    """Cut every link of a broker to the other brokers and to the controller, both ways; clients still reach it.

    It hears no decision. In KRaft mode under timing: session the controller fences it; ZooKeeper keeps it registered.
    """

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class Rejoin:
    """Let an isolated broker's links work again; ends registered, and when it has heard what was decided."""

    broker: BrokerId = described("an isolated broker")


# Which steps are about a broker's process? It ends, stands still, and runs again.


@dataclass(frozen=True, slots=True)
class Kill:
    """kill -9 a broker; ends when its registration is gone and any election this causes is done."""

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class KillTogether:
    """kill -9 several brokers at once (short: `kill: [1, 2]`); the controller notices them one by one, in any order."""

    brokers: tuple[BrokerId, ...] = described("the brokers")


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop a broker gracefully (SIGTERM, controlled shutdown)."""

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class Start:
    """Start a stopped or killed broker with the same files; ends registered and unfenced."""

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class Pause:
    """Freeze a broker (SIGSTOP): its connections stay, but it neither fetches, serves nor hears.

    Under timing: session the controller takes it for dead, as after a kill; under lag a follower only is silent.
    """

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class Resume:
    """Let a paused broker go on (SIGCONT) in its old role until it hears what was decided; ends registered."""

    broker: BrokerId = described("a paused broker")


# Which steps change what there is of topics? Records of the partition are deleted; what is beside it is made.


@dataclass(frozen=True, slots=True)
class DeleteRecords:
    """Delete the records before an offset, as kafka-delete-records does (0.11 on); kill -9 may bring them back."""

    offset: Offset = described("the first offset that stays; at most the leader's high watermark")


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """Give the topic more partitions, on the same brokers (kafka-topics --alter); they stay empty."""

    count: int = described("how many partitions the topic has then, 2 or more")


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """Create another topic with one partition on the same brokers."""

    name: str = described("a name for it, of letters, digits, dots and hyphens")


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    """Delete another topic that the schedule has created."""

    name: str = described("its name")


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
