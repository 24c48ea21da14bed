"""Does a schedule hold together? Its steps name only what it has: labels, holds, brokers, cuts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.asking import EPOCH_REQUESTS_CLAIM_CURRENT
from oracle.schedule import Schedule, ScheduleError
from oracle.steps import (
    MIN_ISR,
    AddPartitions,
    Alter,
    AwaitHold,
    AwaitIsr,
    AwaitLag,
    AwaitLeader,
    AwaitOutcome,
    Checkpoint,
    Close,
    Consume,
    CreateTopic,
    Cut,
    Delay,
    DeleteRecords,
    DeleteTopic,
    Drop,
    EndOffsetOfEpoch,
    Heal,
    Hold,
    Isolate,
    Kill,
    KillTogether,
    ListOffsets,
    LoseCheckpoint,
    LoseTail,
    Pause,
    Produce,
    Reassign,
    Rejoin,
    Release,
    Resume,
    SendTo,
    Start,
    Step,
    Stop,
)
from oracle.vocabulary import (
    FROM_CONTROLLER,
    LOOKUPS,
    TO_CONTROLLER,
    BrokerId,
    Expectation,
    Label,
    OffsetSpec,
    Request,
    Timing,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from oracle.steps import Ask


def check_structure(schedule: Schedule) -> None:
    """Refuse references to labels, holds and brokers that the schedule does not have.

    Raises:
        ScheduleError: naming the step and the field.
    """
    _check_whole(schedule)
    labels: set[Label] = set()
    holds: set[str] = set()
    beside = Beside()
    for index, step in enumerate(schedule.steps):
        match step:
            case Produce():
                _check_produce(index, step, labels, schedule)
            case AwaitOutcome():
                _check_await_outcome(index, step, labels)
            case Hold():
                _check_new_hold(index, step, holds)
                _check_hold(index, step, schedule)
            case Delay():
                _check_link(index, step, schedule)
                _check_at_least(index, "delay_ms", step.delay_ms, 0)
            case AwaitHold(name) | Release(name) | Drop(name) | Close(name):
                _check_known(index, "name", {name}, holds)
            case Consume() | ListOffsets() | EndOffsetOfEpoch() | SendTo():
                check_ask(index, step, labels, schedule)
            case AddPartitions() | CreateTopic() | DeleteTopic() | DeleteRecords():
                beside.check(index, step)
            case _:
                _check_processes(index, step, schedule)
                _check_brokers(index, step, schedule)


def _check_processes(index: int, step: Step, schedule: Schedule) -> None:
    """Refuse a fault of brokers that the schedule does not have."""
    match step:
        case Kill(broker) | Stop(broker) | Start(broker) | LoseCheckpoint(broker):
            _check_known(index, "broker", {broker}, set(schedule.brokers))
        case Pause(broker) | Resume(broker) | Isolate(broker) | Rejoin(broker):
            _check_known(index, "broker", {broker}, set(schedule.brokers))
        case KillTogether(brokers):
            _check_known(index, "brokers", set(brokers), set(schedule.brokers))
            if len(set(brokers)) != len(brokers) or not brokers:
                raise ScheduleError("brokers must be distinct broker ids", step=index, field="brokers")
        case Cut(follower, leader) | Heal(follower, leader):
            _check_ends(index, follower, leader, schedule, names=("from", "to"))
        case _:
            pass


def _check_brokers(index: int, step: Step, schedule: Schedule) -> None:
    """Refuse a step about brokers that the schedule does not have, or with the other timing."""
    replicas = set(schedule.brokers)
    match step:
        case LoseTail(broker, offset):
            _check_known(index, "broker", {broker}, replicas)
            _check_at_least(index, "offset", offset, 0)
        case AwaitLag(followers):
            _check_known(index, "followers", set(followers), replicas)
            _check_lag(index, schedule)
        case AwaitLeader(leader):
            _check_known(index, "leader", {leader}, {None, *replicas})
        case AwaitIsr(isr):
            _check_known(index, "isr", set(isr), replicas)
        case Alter(None, None):
            raise ScheduleError("alter changes a setting: name one", step=index, field=MIN_ISR)
        case Alter(minimum):
            _check_at_least(index, MIN_ISR, 1 if minimum is None else minimum, 1)
        case Reassign(wanted):
            _check_distinct(wanted, step=index)
        case _:
            pass


def _check_lag(index: int, schedule: Schedule) -> None:
    if schedule.timing is not Timing.LAG:
        message = "await_lag needs timing: lag; under session the lag time is longer than a schedule"
        raise ScheduleError(message, step=index, field="followers")


def _check_whole(schedule: Schedule) -> None:
    if not schedule.steps:
        raise ScheduleError("a schedule needs at least one step", field="steps")
    _check_distinct(schedule.replicas, step=None)
    if schedule.settings.min_insync_replicas < 1:
        raise ScheduleError("min.insync.replicas must be at least 1", field="settings")
    names: set[str] = set()
    for index, step in enumerate(schedule.steps):
        if isinstance(step, Checkpoint):
            if step.name in names:
                message = f"checkpoint names must differ; repeated: {step.name}"
                raise ScheduleError(message, step=index, field="name")
            names.add(step.name)


def _check_distinct(replicas: tuple[BrokerId, ...], *, step: int | None) -> None:
    if len(set(replicas)) != len(replicas) or not replicas:
        raise ScheduleError("replicas must be distinct broker ids", step=step, field="replicas")


def _check_produce(index: int, step: Produce, labels: set[Label], schedule: Schedule) -> None:
    _check_known(index, "leader", {step.leader}, {None, *schedule.brokers})
    for label in step.records:
        if label in labels:
            raise ScheduleError(f"label {label!r} is produced twice", step=index, field="records")
        labels.add(label)
    if not step.records:
        raise ScheduleError("produce needs at least one label", step=index, field="records")
    TIMEOUT_MS.check(index, "timeout_ms", step.timeout_ms)


def _check_await_outcome(index: int, step: AwaitOutcome, labels: set[Label]) -> None:
    _check_known(index, "records", set(step.records), labels)
    if step.expect is Expectation.PENDING:
        message = "await_outcome waits until the outcome is known: it cannot expect pending"
        raise ScheduleError(message, step=index, field="expect")


def _check_new_hold(index: int, step: Hold, holds: set[str]) -> None:
    if step.name in holds:
        raise ScheduleError(f"a hold named {step.name!r} exists already", step=index, field="name")
    holds.add(step.name)


def _check_hold(index: int, step: Hold, schedule: Schedule) -> None:
    """Check that a hold names a link between two brokers, or one broker's channel to the controller."""
    if step.point not in (*FROM_CONTROLLER, *TO_CONTROLLER):
        for name in ("follower", "leader"):
            if getattr(step, name) is None:
                raise ScheduleError(f"hold needs {name!r}", step=index, field=name)
        if step.broker is not None:
            message = f"broker goes with points of the controller; {step.point.value} takes follower and leader"
            raise ScheduleError(message, step=index, field="broker")
        _check_link(index, step, schedule)
        return
    if step.broker is None:
        raise ScheduleError(f"hold at {step.point.value} needs 'broker'", step=index, field="broker")
    _check_known(index, "broker", {step.broker}, set(schedule.brokers))
    for name, plain in (("follower", None), ("leader", None), ("fetch_offset", None), ("nth", 1)):
        if getattr(step, name) != plain:
            raise ScheduleError(f"{name} does not go with {step.point.value}", step=index, field=name)


def _check_ends(
    index: int, source: BrokerId | None, destination: BrokerId | None, schedule: Schedule, names: tuple[str, str]
) -> None:
    for name, broker in zip(names, (source, destination), strict=True):
        _check_known(index, name, {broker}, set(schedule.brokers))
    if source == destination:
        raise ScheduleError(f"{names[0]} and {names[1]} are the same broker", step=index, field=names[1])


def _check_link(index: int, step: Hold | Delay, schedule: Schedule) -> None:
    _check_ends(index, step.follower, step.leader, schedule, names=("follower", "leader"))
    if step.point in LOOKUPS and step.fetch_offset is not None:
        message = f"fetch_offset does not go with {step.point.value}: a lookup asks about an epoch, and has no offset"
        raise ScheduleError(message, step=index, field="fetch_offset")
    _check_at_least(index, "nth", step.nth, 1)
    _check_at_least(index, "fetch_offset", step.fetch_offset or 0, 0)


def _check_at_least(index: int, field_name: str, value: int, minimum: int) -> None:
    if value < minimum:
        raise ScheduleError(f"{field_name} must be at least {minimum}", step=index, field=field_name)


def _check_known(index: int, field_name: str, named: Collection[object], known: Collection[object]) -> None:
    unknown = set(named) - set(known)
    if unknown:
        has = f"; it has {_listed(set(known) - {None})}" if set(known) - {None} else ""
        message = f"{field_name} names what the schedule does not have: {_listed(unknown)}{has}"
        raise ScheduleError(message, step=index, field=field_name)


def _listed(names: Collection[object]) -> str:
    return ", ".join(sorted(str(name) for name in names))


# What has a schedule made beside its partition? More partitions of its topic, and other topics by name.


NAME = re.compile(r"[A-Za-z0-9.-]{1,60}")
PARTITIONS_MAX = 50


class Beside:
    """What there is beside the partition so far, while a schedule's steps are looked through."""

    def __init__(self) -> None:
        self._partitions = 1
        self._topics: set[str] = set()
        self._has_deleted_records = False

    def check(self, index: int, step: AddPartitions | CreateTopic | DeleteTopic | DeleteRecords) -> None:
        """Refuse what cannot be made or deleted, and take note of the rest.

        Raises:
            ScheduleError: naming the step and the field.
        """
        match step:
            case AddPartitions(count) if not self._partitions < count <= PARTITIONS_MAX:
                message = f"count must be from {self._partitions + 1} to {PARTITIONS_MAX}"
                raise ScheduleError(message, step=index, field="count")
            case AddPartitions(count):
                self._partitions = count
            case CreateTopic(name) if name in self._topics or not NAME.fullmatch(name):
                message = f"{name!r} cannot name another topic: letters, digits, dots and hyphens, each name once"
                raise ScheduleError(message, step=index, field="name")
            case CreateTopic(name):
                self._topics.add(name)
            case DeleteRecords():
                self._has_deleted_records = True
            case DeleteTopic() if self._has_deleted_records:
                message = "deleting a topic writes down where logs start: not predicted after delete_records"
                raise ScheduleError(message, step=index, field="name")
            case _:
                if step.name not in self._topics:
                    raise ScheduleError(f"no topic {step.name!r} is there", step=index, field="name")
                self._topics.remove(step.name)


# Which numbers can a request carry? Every field has a width; a schedule asks for nothing that does not fit in it.
#
# Sources: the message schemas of Produce, Fetch, ListOffsets and OffsetsForLeaderEpoch.


INT16_MAX, INT32_MAX, INT64_MAX = 2**15 - 1, 2**31 - 1, 2**63 - 1


@dataclass(frozen=True, slots=True)
class WireRange:
    """The least and the greatest number that a field takes, and of which type it is in the request."""

    least: int
    greatest: int
    wire_type: str

    def check(self, index: int, field: str, value: int) -> None:
        """Refuse a number that is out of range.

        Raises:
            ScheduleError: naming the step, the field and the range.
        """
        if not self.least <= value <= self.greatest:
            message = f"{field} must be from {self.least} to {self.greatest} ({self.wire_type}), not {value}"
            raise ScheduleError(message, step=index, field=field)


ACKS = WireRange(-INT16_MAX - 1, INT16_MAX, "int16")
REQUEST_VERSION = WireRange(0, INT16_MAX, "int16")
TIMEOUT_MS = WireRange(1, INT32_MAX, "int32")
OFFSET = WireRange(0, INT64_MAX, "int64")
LEADERSHIP = WireRange(0, INT32_MAX // 2, "half of an int32, which the epoch is")
"""An epoch may be ahead of the ordinal of its leadership: half of the range is left for that."""


# Does a step that asks a broker something hold together? Its brokers, labels and numbers exist.


def check_ask(index: int, step: Ask, labels: set[Label], schedule: Schedule) -> None:
    """Refuse what the schedule does not have; take note of the label that is sent.

    Raises:
        ScheduleError: naming the step and the field.
    """
    if step.broker is not None and step.broker not in schedule.brokers:
        has = ", ".join(map(str, sorted(schedule.brokers)))
        raise _refusal(index, "broker", f"broker names what the schedule does not have: {step.broker}; it has {has}")
    match step:
        case Consume(offset=offset):
            OFFSET.check(index, "offset", offset)
            _check_version(index, step.version)
        case ListOffsets():
            _check_timestamp(index, step, labels)
            _check_version(index, step.version)
        case EndOffsetOfEpoch():
            _check_epochs(index, step)
            _check_version(index, step.version)
        case _:
            _check_sent(index, step, labels)


def _check_version(index: int, version: int | None) -> None:
    REQUEST_VERSION.check(index, "version", version or 0)


def _check_epochs(index: int, step: EndOffsetOfEpoch) -> None:
    LEADERSHIP.check(index, "leadership", step.leadership)
    LEADERSHIP.check(index, "current", step.current or 0)
    version, oldest = step.version, EPOCH_REQUESTS_CLAIM_CURRENT
    if step.current is not None and version is not None and version < oldest:
        asked = f"{Request.OFFSETS_FOR_LEADER_EPOCH.value} {version}"
        raise _refusal(index, "current", f"{asked} has no such field: ask in version {oldest} or newer")


def _check_sent(index: int, step: SendTo, labels: set[Label]) -> None:
    if step.record in labels:
        raise _refusal(index, "record", f"label {step.record!r} is produced twice")
    labels.add(step.record)
    ACKS.check(index, "acks", step.acks)
    TIMEOUT_MS.check(index, "timeout_ms", step.timeout_ms)


def _check_timestamp(index: int, step: ListOffsets, labels: set[Label]) -> None:
    is_by_time = step.spec is OffsetSpec.TIMESTAMP
    if is_by_time and step.timestamp_of is None:
        raise _refusal(index, "spec", "spec: timestamp needs timestamp_of: LABEL")
    if not is_by_time and step.timestamp_of is not None:
        raise _refusal(index, "timestamp_of", f"timestamp_of only with spec: timestamp, not {step.spec.value}")
    if is_by_time and step.timestamp_of not in labels:
        message = f"timestamp_of names what the schedule has not produced yet: {step.timestamp_of}"
        if labels:
            message += f"; it has {', '.join(sorted(labels))}"
        raise _refusal(index, "timestamp_of", message)


def _refusal(index: int, field: str, message: str) -> ScheduleError:
    return ScheduleError(message, step=index, field=field)
