"""What was done in a run, and when? ``timeline.ndjson``: steps, faults, held frames and brokers, one mark a line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

TIMELINE_FILE = "timeline.ndjson"


class Event(StrEnum):
    """Everything that a mark can say has happened."""

    STEP_STARTED = "step_started"
    STEP_FINISHED = "step_finished"
    RECORD_SENT = "record_sent"
    RECORDS_DELETED = "records_deleted"
    BROKER_STARTED = "broker_started"
    BROKER_KILLED = "broker_killed"
    BROKER_STOPPED = "broker_stopped"
    BROKER_ENDED = "broker_ended"
    BROKER_PAUSED = "broker_paused"
    BROKER_RESUMED = "broker_resumed"
    BROKER_ISOLATED = "broker_isolated"
    BROKER_REJOINED = "broker_rejoined"
    LINK_CUT = "link_cut"
    LINK_HEALED = "link_healed"
    TAIL_LOST = "tail_lost"
    CHECKPOINT_LOST = "checkpoint_lost"
    LEADER_ELECTED = "leader_elected"
    ELECTION_REQUESTED = "election_requested"
    REASSIGNMENT_REQUESTED = "reassignment_requested"
    SETTINGS_CHANGED = "settings_changed"
    TOPIC_CREATED = "topic_created"
    TOPIC_DELETED = "topic_deleted"
    PARTITIONS_ADDED = "partitions_added"
    HOLD_ARMED = "hold_armed"
    HOLD_CAUGHT = "hold_caught"
    HOLD_ORPHANED = "hold_orphaned"
    HOLD_RELEASED = "hold_released"
    HOLD_DISCHARGED = "hold_discharged"
    HOLD_DROPPED = "hold_dropped"
    HOLD_CLOSED = "hold_closed"
    HOLD_ANSWERED = "hold_answered"
    HOLD_DISARMED = "hold_disarmed"
    FAULT_ARMED = "fault_armed"
    FAULT_FIRED = "fault_fired"
    FAULT_HEALED = "fault_healed"
    FAULT_HEAL_FAILED = "fault_heal_failed"
    EVIDENCE_MISSING = "evidence_missing"


HOLD_ENDS = frozenset({Event.HOLD_RELEASED, Event.HOLD_DISCHARGED, Event.HOLD_DROPPED, Event.HOLD_CLOSED})
"""What ends a hold: released, or gone with its connection, dropped, closed by the tester."""


@dataclass(frozen=True, slots=True)
class FrameOfFault:
    """The frame that a hold caught or a fault fired on (``fault_injection.faults.fault.FiredFrame``).

    Attributes:
        offset: the fetch offset that it carried, if it is a fetch.
        at_ns: when it was caught, monotonic nanoseconds.
    """

    connection: int
    api: str
    correlation_id: int
    direction: str
    offset: int | None
    at_ns: int


@dataclass(frozen=True, slots=True)
class ProcessOfFault:
    """What became of a broker's process, by a fault or by itself (``fault_injection.faults.fault.EndedProcess``).

    Attributes:
        exit_code: with which it ended, 128 and the number of the signal if one killed it; None while it is there.
        signal: the number of the signal that ended it; None if none did.
        is_paused: whether it stands still.
    """

    broker: int
    exit_code: int | None
    signal: int | None
    is_paused: bool


@dataclass(frozen=True, slots=True)
class FileOfFault:
    """What a fault left on a disk (``fault_injection.faults.fault.FileOnDisk``).

    Attributes:
        path: the file, relative to the broker's data.
        offset: where the log ends, or the checkpointed high watermark; None if the file has no line for it.
    """

    broker: int
    path: str
    offset: int | None


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """One thing that happened.

    Attributes:
        t_ns: when, monotonic nanoseconds.
        step: the step that was taken, from 0; None between the steps.
        subject: to whom: a broker's id, a hold's or record's name, the verb of a step.
        text: the same in words.
        offset: of a hold the offset of its fetch, of a lost tail or deleted records where it began or ends, of a lost
            checkpoint the high watermark that it had.
        last_offset: of a lost tail where it ended.
        broker: of a hold on a controller's channel whose it is.
        follower: of a hold on a link of replicas, or of a cut one, the fetching end; ``leader`` the other.
        leader: besides, of a record that a step sends to a broker by name, that broker.
        point: the protocol point of a hold.
        action: of a hold what is done to the frame: hold, delay, drop, close or answer.
        number: of a fault, unique in a run.
        at_ns: of a hold or fault when it happened, monotonic nanoseconds.
        frame: of a hold that caught a frame, or a fault that fired on one, that frame.
        processes: of a fault that fired what became of the processes that it ended or froze; of a broker that ended by
            itself its own.
        file: of a fault that fired what it left on a disk.
    """

    event: Event
    subject: str
    text: str
    t_ns: int = 0
    step: int | None = None
    offset: int | None = None
    last_offset: int | None = None
    broker: int | None = None
    follower: int | None = None
    leader: int | None = None
    point: str | None = None
    action: str | None = None
    number: int | None = None
    at_ns: int | None = None
    frame: FrameOfFault | None = None
    processes: tuple[ProcessOfFault, ...] | None = None
    file: FileOfFault | None = None


def read_timeline(run: RunDirectory, *, may_be_cut: bool = False) -> list[TimelineMark]:
    """Read the timeline in order; empty if there is none.

    Raises:
        RunDirectoryError: a line cannot be read.
    """
    return run.lines(TIMELINE_FILE, msgspec.json.Decoder(TimelineMark).decode, may_be_cut=may_be_cut)
