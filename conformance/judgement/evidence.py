"""Is every piece of evidence there, once, in order, and do the pieces tell one story?

Pure: the typed files of one run in, what is wrong with them out, in words. A verdict needs every piece that the run's
schedule calls for. What is missing, twice, out of order or at odds with another piece is the tester's failure, or the
work of somebody who changed the files: nothing that can be held against brokers. A run that ended early must have
every piece up to where it ended.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.judgement.evidence_of_frames import end_complaints, frame_complaints
from conformance.judgement.evidence_of_prediction import prediction_complaints
from conformance.judgement.evidence_of_run import run_complaints
from conformance.judgement.evidence_of_steps import in_step, step_complaints
from conformance.record.observations import BrokerAnswer, MeasuredNumbers, OutcomeSeen, last_probes
from conformance.record.timeline import Event
from oracle.steps.produce import Produce
from oracle.steps.questions import Ask, SendTo
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from conformance.judgement.evidence_of_frames import Frames
    from conformance.record.ledger import Attempt, OutcomeEntry
    from conformance.record.observations import Observation
    from conformance.record.prediction import FrozenPrediction
    from conformance.record.reconciliation import Counts
    from conformance.record.replica_logs import LogEntry
    from conformance.record.run import Run
    from conformance.record.timeline import TimelineMark
    from conformance.record.topic import RecordRead
    from oracle.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Evidence:
    """The files of a run on brokers.

    Attributes:
        topic: the records that were read; None if they never were.
        frames: the frames that holds caught; None if there is no wire trace, or it has no end, which its check tells.
        unreadable: why the frames of a trace with an end cannot be read.
        answers: the questions that ``answers.ndjson`` answers, and ``asked`` those that were frozen.
    """

    about: Run
    schedule: Schedule
    prediction: FrozenPrediction
    timeline: Sequence[TimelineMark]
    observations: Sequence[Observation]
    attempts: Sequence[Attempt]
    outcomes: Sequence[OutcomeEntry]
    topic: Sequence[RecordRead] | None
    replica_logs: Sequence[LogEntry]
    frames: Frames | None = None
    unreadable: str | None = None
    counts: Counts | None = None
    answers: Sequence[str] = ()
    asked: Sequence[str] = ()

    @property
    def is_complete(self) -> bool:
        """Return whether the run took its course."""
        return self.about.harness_failure is None


def what_is_wrong(evidence: Evidence) -> list[str]:
    """Return what is missing, twice, out of order or at odds with other pieces; empty of a sound run."""
    of_steps = step_complaints(evidence.about, evidence.schedule, evidence.timeline, evidence.observations)
    found = [
        *run_complaints(evidence.about, evidence.schedule, evidence.frames),
        *prediction_complaints(evidence.schedule, evidence.prediction),
        *_of_replicas(evidence),
        *of_steps,
        *_of_ledger(evidence),
        *_of_answers(evidence),
    ]
    if evidence.unreadable is not None:
        found.append(evidence.unreadable)
    if evidence.is_complete and evidence.frames is not None:
        found += frame_complaints(evidence.schedule, evidence.timeline, evidence.frames)
        found += end_complaints(evidence.schedule, evidence.observations, evidence.frames)
    if evidence.is_complete:
        found += [*_of_topic(evidence), *_of_logs(evidence), *_of_counts(evidence)]
    return list(dict.fromkeys(found))


def _of_replicas(evidence: Evidence) -> Iterator[str]:
    """Look whether every probe measured the replicas that there are after its step, in some outcome."""
    outcomes = evidence.prediction.alternatives or (evidence.prediction,)
    for seen in evidence.observations:
        if isinstance(seen, MeasuredNumbers) and seen.step is not None:
            moments = [outcome.steps[seen.step] for outcome in outcomes if seen.step < len(outcome.steps)]
            if all(seen.replicas.keys() != moment.replicas.keys() for moment in moments):
                yield f"step {seen.step + 1} was measured at brokers {sorted(seen.replicas)}, not at every replica"


def _of_ledger(evidence: Evidence) -> Iterator[str]:
    """Compare attempts with the schedule, and outcomes with attempts and with what was observed."""
    yield from _of_attempts(evidence)
    yield from _twice((entry.record_id for entry in evidence.outcomes), "the outcome of record")
    attempts = {attempt.record_id: attempt for attempt in evidence.attempts}
    told = {entry.record_id: entry for entry in evidence.outcomes}
    seen = {one.label: one for one in evidence.observations if isinstance(one, OutcomeSeen)}
    for record_id, attempt in attempts.items():
        entry, observed, label = told.get(record_id), seen.get(attempt.label), attempt.label
        if entry is None or observed is None:
            if evidence.is_complete:
                yield f"{label} was attempted, and {'ledger' if entry is None else 'observations'} tell no outcome"
            continue
        if (entry.outcome, entry.error, entry.offset) != (observed.outcome, observed.error, observed.offset):
            yield f"the ledger's outcome of {label} is another than the observed one"
        if not attempt.attempted_ns <= entry.completed_ns <= observed.t_ns:
            yield f"{label} was not attempted, completed and observed in this order"
        yield from _of_outcome(attempt, entry)
    yield from (
        f"{label} has an outcome, and no attempt" for label in seen.keys() - {a.label for a in attempts.values()}
    )


def _of_outcome(attempt: Attempt, entry: OutcomeEntry) -> Iterator[str]:
    is_acknowledged = entry.outcome == ProduceOutcome.ACKNOWLEDGED
    if entry.error is not None if is_acknowledged else entry.error is None and entry.outcome == ProduceOutcome.REFUSED:
        yield f"the outcome of {attempt.label} is {entry.outcome} with error {entry.error}"
    if is_acknowledged and attempt.acks != 0 and entry.offset is None:
        yield f"{attempt.label} was acknowledged without an offset"


def _of_attempts(evidence: Evidence) -> Iterator[str]:
    sent = {
        str(label): (step, number) for number, step in enumerate(evidence.schedule.steps) for label in step.labels()
    }
    ids = {str(label): evidence.about.record_id_base + index for index, label in enumerate(evidence.schedule.labels())}
    yield from _twice((attempt.label for attempt in evidence.attempts), "the attempt of")
    if len({attempt.value_length for attempt in evidence.attempts}) > 1:
        yield "the ledger tells of values of several lengths"
    if not _is_ordered(attempt.attempted_ns for attempt in evidence.attempts):
        yield "the ledger's attempts are not in the order of time"
    if not _is_ordered(entry.completed_ns for entry in evidence.outcomes):
        yield "the ledger's outcomes are not in the order of time"
    starts = {mark.step: mark.t_ns for mark in evidence.timeline if mark.event is Event.STEP_STARTED}
    ends = {mark.step: mark.t_ns for mark in evidence.timeline if mark.event is Event.STEP_FINISHED}
    for attempt in evidence.attempts:
        if attempt.label not in sent:
            yield f"{attempt.label} was attempted, and no step sends it"
            continue
        step, number = sent[attempt.label]
        assert isinstance(step, Produce | SendTo)
        wanted = (ids[attempt.label], evidence.about.topic, 0, int(step.acks), number)
        if (attempt.record_id, attempt.topic, attempt.partition, attempt.acks, attempt.step) != wanted:
            yield f"the attempt of {attempt.label} is another than step {number + 1} makes"
        at = attempt.attempted_ns
        if not starts.get(number, at) <= at <= ends.get(number, at):
            yield f"the attempt of {attempt.label} lies outside step {number + 1}"
    if evidence.is_complete:
        yield from (f"{label} was never attempted" for label in ids.keys() - {one.label for one in evidence.attempts})


def _of_answers(evidence: Evidence) -> Iterator[str]:
    """Compare who was asked with who answered; what was frozen and not answered, the verdict tells itself."""
    yield from (
        f"answers.ndjson answers what nobody asked: {what}" for what in evidence.answers if what not in evidence.asked
    )
    for seen in evidence.observations:
        if isinstance(seen, BrokerAnswer) and seen.step is not None and not _is_of_whom_it_asks(evidence, seen):
            yield f"step {seen.step + 1} was answered by broker {seen.broker}, which it does not ask"
    predicted = [answer.step for answer in evidence.prediction.answers]
    measured = [seen.step for seen in evidence.observations if isinstance(seen, BrokerAnswer)]
    yield from _twice((f"{step + 1}" for step in measured if step is not None), "the answer to step")
    yield from (
        f"an answer was observed that no step asks,{in_step(step)}" for step in measured if step not in predicted
    )


def _is_of_whom_it_asks(evidence: Evidence, seen: BrokerAnswer) -> bool:
    """Return whether an answer is of the broker that its step names; without a name, of who led after the step."""
    steps = evidence.schedule.steps
    step = steps[seen.step] if seen.step is not None and seen.step < len(steps) else None
    if seen.step is None or not isinstance(step, Ask):
        return True  # that no step asks is told besides
    if step.broker is not None:
        return seen.broker == step.broker
    probe = last_probes(evidence.observations).get(seen.step)
    return probe is None or seen.broker == probe.leader


def _of_topic(evidence: Evidence) -> Iterator[str]:
    """Compare what was read with where the topic ended, and with the log of its leader."""
    end, topic = evidence.about.end_offset, evidence.topic
    if end is None:
        return  # the verdict says so
    if topic is None:
        yield "the topic was never read"
        return
    yield from (f"the topic has a record in partition {row.partition}" for row in topic if row.partition != 0)
    yield from _twice((f"{row.offset}" for row in topic), "the topic's offset")
    last = next((seen for seen in reversed(evidence.observations) if isinstance(seen, MeasuredNumbers)), None)
    leader = None if last is None else last.replicas.get(-1 if last.leader is None else last.leader)
    if last is None or leader is None:
        return
    log = [(row.offset, row.record_id, row.value_matches) for row in _log_of(evidence, last.leader)]
    readable = [row for row in log if leader.log_start_offset <= row[0] < end]
    if sorted(readable, key=lambda row: row[0]) != [(row.offset, row.record_id, row.value_matches) for row in topic]:
        yield f"the topic that was read is not the log of its leader, broker {last.leader}, up to offset {end}"


def _of_logs(evidence: Evidence) -> Iterator[str]:
    """Look at every replica's log: each offset once, and its end where the last probe saw it."""
    last = next((seen for seen in reversed(evidence.observations) if isinstance(seen, MeasuredNumbers)), None)
    if last is None:
        return
    for broker in {row.broker for row in evidence.replica_logs} - last.replicas.keys():
        yield f"replica_logs has a log of broker {broker}, which has no replica"
    for broker, seen in last.replicas.items():
        log = sorted(_log_of(evidence, broker), key=lambda row: row.offset)
        offsets = [row.offset for row in log]
        if offsets != list(range(seen.log_end_offset - len(offsets), seen.log_end_offset)):
            yield f"the log of broker {broker} is not every offset up to {seen.log_end_offset}, where it last ended"
        if len(offsets) < seen.log_end_offset - seen.log_start_offset:
            yield f"the log of broker {broker} lacks offsets"
        if any(row.high_watermark != log[0].high_watermark for row in log):
            yield f"the log of broker {broker} tells several high watermarks"


def _log_of(evidence: Evidence, broker: int | None) -> list[LogEntry]:
    return [row for row in evidence.replica_logs if row.broker == broker]


def _of_counts(evidence: Evidence) -> Iterator[str]:
    """Compare what Spark counted with what it read."""
    if evidence.counts is None or evidence.topic is None:
        return
    totals, told = evidence.counts.totals, Counter(str(entry.outcome) for entry in evidence.outcomes)
    for name, counted, found in (
        ("produced", totals.produced, len(evidence.attempts)),
        ("read", totals.read, len(evidence.topic)),
        *((outcome.value, getattr(totals, outcome.value), told[outcome.value]) for outcome in ProduceOutcome),
    ):
        if counted != found:
            yield f"{counted} records were counted as {name}, the files have {found}"
    if evidence.counts.end_offset_read != evidence.about.end_offset:
        yield f"the topic was read up to {evidence.counts.end_offset_read}, run.json says {evidence.about.end_offset}"


def _is_ordered(times: Iterable[int]) -> bool:
    return all(earlier <= later for earlier, later in itertools.pairwise(times))


def _twice(things: Iterable[Hashable], what: str) -> Iterator[str]:
    yield from (f"{what} {thing} is there {times} times" for thing, times in Counter(things).items() if times > 1)
