"""What is a schedule? Settings, replicas and steps: the one thing both interpreters read.

The oracle interprets a schedule into a prediction, the runner into real faults on real brokers.
Step classes live in ``oracle.steps``; this module adds the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oracle.steps.step import ScheduleError, SoFar
from oracle.steps.topic import Reassign
from oracle.vocabulary import HighWatermarkCheckpoint, Timing

if TYPE_CHECKING:
    from oracle.steps.step import Step
    from oracle.steps.topic import Alter
    from oracle.vocabulary import BrokerId, Label


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The user's durability settings, as topic configurations.

    Attributes:
        message_format_version: an older format for the topic's records, such as ``0.10.2``; None for the release's.
    """

    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    message_format_version: str | None = None

    def altered(self, step: Alter) -> TopicSettings:
        """Return the settings as a step leaves them: what it does not name stays."""
        minimum, unclean = step.min_insync_replicas, step.unclean_leader_election
        return replace(
            self,
            min_insync_replicas=self.min_insync_replicas if minimum is None else minimum,
            unclean_leader_election=self.unclean_leader_election if unclean is None else unclean,
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
        fetch_wait_max_ms: how long leaders park a follower's empty fetch; no number of a prediction depends on it.
        fetch_sessions: whether followers fetch in sessions (KIP-227, from 1.1 on), as brokers do unless told
            otherwise; an idle partition is then in no fetch and fetched all the same, so no number depends on it.
        steps: what happens, in order.
    """

    id: str
    requirement: str
    sources: tuple[str, ...]
    replicas: tuple[BrokerId, ...]
    steps: tuple[Step, ...]
    settings: TopicSettings = field(default_factory=TopicSettings)
    timing: Timing = Timing.SESSION
    checkpointing: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT
    fetch_wait_max_ms: int = 100
    fetch_sessions: bool = True

    @property
    def brokers(self) -> tuple[BrokerId, ...]:
        """The brokers that the schedule names: the assigned replicas, then those that it moves the partition to."""
        moved = (broker for step in self.steps if isinstance(step, Reassign) for broker in step.replicas)
        return tuple(dict.fromkeys((*self.replicas, *moved)))

    def labels(self) -> tuple[Label, ...]:
        """Return every produced label in order; a record's id is its position here."""
        return tuple(label for step in self.steps for label in step.labels())


def check_structure(schedule: Schedule) -> None:
    """Refuse references to records, holds and brokers that the schedule does not have.

    Raises:
        ScheduleError: naming the step and the field.
    """
    if not schedule.steps:
        raise ScheduleError("a schedule needs at least one step", field="steps")
    if len(set(schedule.replicas)) != len(schedule.replicas) or not schedule.replicas:
        raise ScheduleError("replicas must be distinct broker ids", field="replicas")
    if schedule.settings.min_insync_replicas < 1:
        raise ScheduleError("min.insync.replicas must be at least 1", field="settings")
    so_far = SoFar(schedule.brokers, schedule.timing)
    for so_far.index, step in enumerate(schedule.steps):
        step.check(so_far)
