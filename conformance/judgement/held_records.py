"""Which record did each replica hold from which step on, and who led without knowing of a successor?

What was held is inferred, and said only where the end confirms it.

Nobody decodes segments in the middle of a run. But a leader that grows during a produce step holds that step's records,
a follower that grows copies its leader's log, and a truncation cuts. Where this does not end at exactly the logs that
were decoded after the run, followers in sync are taken to have cut what their leader never had, unless a held frame
keeps them from knowing their leader. If that does not end there either, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.judgement.evidence_of_faults import named_holds
from conformance.record.observations import last_probes
from conformance.record.replica_logs import logs_by_broker
from conformance.record.timeline import HOLD_ENDS, Event
from conformance.record.verdict import HeldRecord, StaleLeader
from oracle.steps.frames import Hold
from oracle.steps.produce import Produce
from oracle.steps.questions import SendTo
from oracle.vocabulary import TELLING_WHO_LEADS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.judgement.evidence import Evidence
    from conformance.record.observations import MeasuredNumbers, Observation
    from conformance.record.prediction import FrozenPrediction
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
    return any(True for _ in _withheld_since(run, broker, step))


def stale_leaders(run: LogsOfRun) -> tuple[StaleLeader, ...]:
    """Return after which steps a broker that led when the frame was caught has not heard of its successor."""
    return tuple(
        StaleLeader(step, broker)
        for step in run.probes
        for broker in map(int, run.schedule.replicas)
        if any(_leader_at(run, since) == broker for since in _withheld_since(run, broker, step))
    )


def _withheld_since(run: LogsOfRun, broker: int, step: int) -> Iterator[int]:
    """Yield when each frame was caught that is held at the end of a step and tells a broker who leads."""
    later = [one.t_ns for one in run.timeline if one.event is Event.STEP_STARTED and one.step == step + 1]
    told = [one for one in run.timeline if (not later or one.t_ns < later[0] if one.step is None else one.step <= step)]
    ended = {one.subject for one in told if one.event in HOLD_ENDS}
    caught = {one.subject: one.t_ns for one in told if one.event is Event.HOLD_CAUGHT and one.subject not in ended}
    for name, (_, hold) in named_holds(run.schedule).items():
        is_such = isinstance(hold, Hold) and hold.broker == broker and hold.point in TELLING_WHO_LEADS
        if is_such and name in caught:
            yield caught[name]


def _leader_at(run: LogsOfRun, t_ns: int) -> int | None:
    probes = [probe for probe in run.probes.values() if probe.t_ns < t_ns]
    return probes[-1].leader if probes else None


def logs_of_run(evidence: Evidence, prediction: FrozenPrediction, observations: Iterable[Observation]) -> LogsOfRun:
    """Return what the inference rests on; a replica that holds nothing is among the predicted ones alone."""
    labels = {evidence.about.record_id_base + record.id: record.label for record in prediction.records}
    ends: dict[int, list[str]] = {broker: [] for broker in prediction.logs}
    for broker, log in logs_by_broker(evidence.replica_logs).items():
        ends[broker] = ["" if entry.record_id is None else labels.get(entry.record_id, "") for entry in log]
    return LogsOfRun(evidence.schedule, evidence.timeline, last_probes(observations), ends)


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
