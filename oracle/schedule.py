"""What is a schedule? Settings, replicas and steps: the one thing both interpreters read.

The oracle interprets a schedule into a prediction, the runner into real faults on real brokers.
Step classes live in ``oracle.steps``; this module adds the whole and its structural rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oracle.steps import (
    MIN_ISR,
    Alter,
    AwaitHold,
    AwaitIsr,
    AwaitLag,
    AwaitLeader,
    AwaitOutcome,
    Checkpoint,
    Close,
    Delay,
    Drop,
    Hold,
    Kill,
    LoseCheckpoint,
    LoseTail,
    Produce,
    Reassign,
    Release,
    Start,
    Step,
    Stop,
)
from oracle.vocabulary import (
    FROM_CONTROLLER,
    TO_CONTROLLER,
    BrokerId,
    Expectation,
    HighWatermarkCheckpoint,
    Label,
    PointName,
    Timing,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class ScheduleError(ValueError):
    """A schedule that no rule set can satisfy, or that refers to something it never made.

    Attributes:
        step: index of the offending step, counted from 0; None if it concerns the whole.
        field: name of the offending field, or None.
    """

    def __init__(self, message: str, *, step: int | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.step = step
        self.field = field


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's durability settings, as topic configurations."""

    min_insync_replicas: int = 1
    unclean_leader_election: bool = False

    def altered(self, step: Alter) -> Settings:
        """Return the settings as a step leaves them: what it does not name stays."""
        minimum, unclean = step.min_insync_replicas, step.unclean_leader_election
        return Settings(
            self.min_insync_replicas if minimum is None else minimum,
            self.unclean_leader_election if unclean is None else unclean,
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """A scenario's steps with the settings they run under.

    Attributes:
        id: path-like name, such as ``truncation/restarted-follower-keeps-committed-record``.
        requirement: one sentence that a reviewer could dispute.
        sources: requirement ids (``TR-01``), document ids (``001``), KIPs and KAFKA issues.
        replicas: assigned replicas, preferred leader first.
        settings: durability settings of the topic.
        timing: who removes a silent replica from the ISR.
        checkpointing: whether the high watermark reaches the disk while a broker runs.
        steps: what happens, in order.
    """

    id: str
    requirement: str
    sources: tuple[str, ...]
    replicas: tuple[BrokerId, ...]
    steps: tuple[Step, ...]
    settings: Settings = field(default_factory=Settings)
    timing: Timing = Timing.SESSION
    checkpointing: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT

    @property
    def brokers(self) -> tuple[BrokerId, ...]:
        """The brokers that the schedule names: the assigned replicas, then those that it moves the partition to."""
        moved = (broker for step in self.steps if isinstance(step, Reassign) for broker in step.replicas)
        return tuple(dict.fromkeys((*self.replicas, *moved)))

    def labels(self) -> tuple[Label, ...]:
        """Return every produced label in order; a record's id is its position here."""
        return tuple(label for step in self.steps if isinstance(step, Produce) for label in step.records)

    def without_holds(self) -> Schedule:
        """Return the baseline control: the same steps with no gate, expecting nothing of produces."""
        return replace(self, id=f"{self.id}/without-holds", steps=tuple(_ungated(self.steps)))


_GATE_STEPS = (Hold, Delay, AwaitHold, Release, Drop, Close)


def _ungated(steps: Iterable[Step]) -> Iterable[Step]:
    for step in steps:
        if isinstance(step, Produce | AwaitOutcome):
            yield replace(step, expect=Expectation.ANY, error=None)
        elif not isinstance(step, _GATE_STEPS):
            yield step


def check_structure(schedule: Schedule) -> None:
    """Refuse references to labels, holds and brokers that the schedule does not have.

    Raises:
        ScheduleError: naming the step and the field.
    """
    _check_whole(schedule)
    labels: set[Label] = set()
    holds: set[str] = set()
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
                _check_known(index, "name", {name} - holds)
            case _:
                _check_brokers(index, step, schedule)


def _check_brokers(index: int, step: Step, schedule: Schedule) -> None:
    """Refuse a step about brokers that the schedule does not have, or with the other timing."""
    replicas = set(schedule.brokers)
    match step:
        case Kill(broker) | Stop(broker) | Start(broker) | LoseCheckpoint(broker):
            _check_known(index, "broker", {broker} - replicas)
        case LoseTail(broker, offset):
            _check_known(index, "broker", {broker} - replicas)
            _check_at_least(index, "offset", offset, 0)
        case AwaitLag(followers):
            _check_known(index, "followers", set(followers) - replicas)
            _check_lag(index, schedule)
        case AwaitLeader(leader):
            _check_known(index, "leader", {leader} - {None, *replicas})
        case AwaitIsr(isr):
            _check_known(index, "isr", set(isr) - replicas)
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
    _check_known(index, "leader", {step.leader} - {None, *schedule.brokers})
    for label in step.records:
        if label in labels:
            raise ScheduleError(f"label {label!r} is produced twice", step=index, field="records")
        labels.add(label)
    if not step.records:
        raise ScheduleError("produce needs at least one label", step=index, field="records")
    _check_at_least(index, "timeout_ms", step.timeout_ms, 1)


def _check_await_outcome(index: int, step: AwaitOutcome, labels: set[Label]) -> None:
    _check_known(index, "records", set(step.records) - labels)
    if step.expect is Expectation.PENDING:
        message = "await_outcome waits until the outcome is known: it cannot expect pending"
        raise ScheduleError(message, step=index, field="expect")


def _check_new_hold(index: int, step: Hold, holds: set[str]) -> None:
    if step.name in holds:
        raise ScheduleError(f"a hold named {step.name!r} exists already", step=index, field="name")
    holds.add(step.name)


def _check_hold(index: int, step: Hold, schedule: Schedule) -> None:
    """Check that a hold names a link between two brokers, or one broker's channel to the controller."""
    if step.point not in (*FROM_CONTROLLER, *TO_CONTROLLER, PointName.STOP_REPLICA):
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
    _check_known(index, "broker", {step.broker} - set(schedule.brokers))
    for name, plain in (("follower", None), ("leader", None), ("fetch_offset", None), ("nth", 1)):
        if getattr(step, name) != plain:
            raise ScheduleError(f"{name} does not go with {step.point.value}", step=index, field=name)


def _check_link(index: int, step: Hold | Delay, schedule: Schedule) -> None:
    for name, broker in (("follower", step.follower), ("leader", step.leader)):
        _check_known(index, name, {broker} - set(schedule.brokers))
    if step.follower == step.leader:
        raise ScheduleError("follower and leader are the same broker", step=index, field="leader")
    _check_at_least(index, "nth", step.nth, 1)
    _check_at_least(index, "fetch_offset", step.fetch_offset or 0, 0)


def _check_at_least(index: int, field_name: str, value: int, minimum: int) -> None:
    if value < minimum:
        raise ScheduleError(f"{field_name} must be at least {minimum}", step=index, field=field_name)


def _check_known(index: int, field_name: str, unknown: Collection[object]) -> None:
    if unknown:
        listed = ", ".join(sorted(str(item) for item in unknown))
        raise ScheduleError(
            f"{field_name} names what the schedule does not have: {listed}", step=index, field=field_name
        )
