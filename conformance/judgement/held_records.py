"""Which record did each replica hold from which step on? Inferred, and said only where the end confirms it.

Nobody decodes segments in the middle of a run. But a leader that grows during a produce step holds that step's records,
a follower that grows copies its leader's log, and a truncation cuts. Where this does not end at exactly the logs that
were decoded after the run, followers in sync are taken to have cut what their leader never had, unless a held frame
keeps them from knowing their leader. If that does not end there either, nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.judgement.evidence_of_faults import named_holds
from conformance.record.observations import last_probes
from conformance.record.replica_logs import logs_by_broker
from conformance.record.schedule import read_schedule
from conformance.record.timeline import HOLD_ENDS, Event, read_timeline
from conformance.record.verdict import HeldRecord
from oracle.steps.frames import Hold
from oracle.steps.produce import Produce
from oracle.steps.questions import SendTo
from oracle.vocabulary import TELLING_WHO_LEADS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.observations import MeasuredNumbers, Observation
    from conformance.record.prediction import FrozenPrediction
    from conformance.record.replica_logs import LogEntry
    from conformance.record.run import Run
    from conformance.record.timeline import TimelineMark
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

RECORDS_MAX = 1_000
"""Of how many records in all logs this is found out at most; nobody draws more."""


@dataclass(frozen=True, slots=True)
class LogsOfRun:
    """What the inference rests on.

    Attributes:
        probes: the last probe of each step, by step.
        ends: the labels in each replica's log after the run, from its first offset on.
    """

    schedule: Schedule
    timeline: Sequence[TimelineMark]
    probes: Mapping[int, MeasuredNumbers]
    ends: Mapping[int, Sequence[str]]


@dataclass(slots=True)
class _Inference:
    """The logs as they are taken to be, step by step, and what was added to them."""

    run: LogsOfRun
    logs: dict[int, list[str]]
    added: list[HeldRecord] = field(default_factory=list)

    def take(self, number: int, probe: MeasuredNumbers, *, agree: bool) -> None:
        """Follow the logs through a step, up to its last probe."""
        before = {broker: len(log) for broker, log in self.logs.items()}
        self._grow(number, probe)
        if agree:
            self._agree(number, probe, before)

    def _grow(self, number: int, probe: MeasuredNumbers) -> None:
        """Move every log to its log end offset; the broker that was sent records comes first."""
        step = self.run.schedule.steps[number]
        named = step.leader if isinstance(step, Produce) else step.broker if isinstance(step, SendTo) else None
        writer = probe.leader if named is None else int(named)
        for broker in sorted(self.logs, key=lambda broker: broker != writer):
            seen = probe.replicas.get(broker)
            if seen is not None:
                self._move(broker, seen.log_end_offset, self._source(writer, broker, step), number)

    def _source(self, writer: int | None, broker: int, step: Step) -> list[str]:
        if broker == writer:
            return [str(label) for label in step.labels()]
        return self.logs.get(writer, [])[len(self.logs[broker]) :] if writer is not None else []

    def _move(self, broker: int, end: int, source: Sequence[str], number: int) -> None:
        log = self.logs[broker]
        del log[end:]
        for label in source[: end - len(log)]:
            self.added.append(HeldRecord(number, broker, len(log), label))
            log.append(label)

    def _agree(self, number: int, probe: MeasuredNumbers, before: Mapping[int, int]) -> None:
        """Replace what followers in sync hold, and their leader does not; ``before``: where the logs ended."""
        leader = self.logs.get(probe.leader, []) if probe.leader is not None else []
        for broker, log in self.logs.items():
            seen = probe.replicas.get(broker)
            is_in_sync = broker in probe.isr and seen is not None and seen.alive
            if not is_in_sync or misses_leader_change(self.run, broker, number):
                continue
            for offset, (own, other) in enumerate(zip(log, leader, strict=False)):
                if own != other:
                    log[offset] = other
                    replaced = own if offset < before[broker] else None
                    self.added.append(HeldRecord(number, broker, offset, other, replaced))


def misses_leader_change(run: LogsOfRun, broker: int, step: int) -> bool:
    """Return whether a broker waits, at the end of a step, for a held frame that tells who leads."""
    later = (one.t_ns for one in run.timeline if one.event is Event.STEP_STARTED and one.step == step + 1)
    next_ns = min(later, default=math.inf)
    told = [one for one in run.timeline if (one.t_ns < next_ns if one.step is None else one.step <= step)]
    caught = {one.subject for one in told if one.event is Event.HOLD_CAUGHT}
    standing = caught - {one.subject for one in told if one.event in HOLD_ENDS}
    return any(
        isinstance(hold, Hold) and hold.broker == broker and hold.point in TELLING_WHO_LEADS and name in standing
        for name, (_, hold) in named_holds(run.schedule).items()
    )


def logs_of_run(
    run: RunDirectory,
    about: Run,
    prediction: FrozenPrediction,
    observations: Iterable[Observation],
    entries: Iterable[LogEntry],
) -> LogsOfRun:
    """Return what the inference rests on; a replica that holds nothing is among the predicted ones alone.

    Raises:
        RunDirectoryError: a file cannot be read.
    """
    labels = {about.record_id_base + record.id: record.label for record in prediction.records}
    ends: dict[int, list[str]] = {broker: [] for broker in prediction.logs}
    for broker, log in logs_by_broker(entries).items():
        ends[broker] = ["" if entry.record_id is None else labels.get(entry.record_id, "") for entry in log]
    timeline = read_timeline(run, may_be_cut=about.harness_failure is not None)
    return LogsOfRun(read_schedule(run), timeline, last_probes(observations), ends)


def held_records(run: LogsOfRun) -> tuple[HeldRecord, ...]:
    """Return which record every replica held from when on; nothing if the logs after the run say otherwise."""
    if sum(map(len, run.ends.values())) > RECORDS_MAX:
        return ()
    for agree in (False, True):
        inferred = _Inference(run, {int(broker): [] for broker in run.schedule.replicas})
        for number, probe in run.probes.items():
            if number < len(run.schedule.steps):
                inferred.take(number, probe, agree=agree)
        if inferred.logs == run.ends:
            return tuple(inferred.added)
    return ()
