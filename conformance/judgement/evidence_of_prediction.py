"""Is the frozen prediction of the schedule, and does it tell everything in one way?

Pure. Whether it is what the rules say is not asked: that would be another prediction.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from oracle.guarantees import PromiseVerdict
from oracle.steps.produce import Produce
from oracle.steps.questions import SendTo
from oracle.steps.waits import Checkpoint as CheckpointStep
from oracle.vocabulary import Fate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.prediction import FrozenPrediction, PredictedNumbers
    from oracle.schedule import Schedule


def prediction_complaints(schedule: Schedule, prediction: FrozenPrediction) -> Iterator[str]:
    """Yield what was frozen otherwise than the schedule has it, or told in two ways."""
    if prediction.scenario != schedule.id:
        yield f"the prediction is of {prediction.scenario}, the schedule is {schedule.id}"
    for outcome in (prediction, *prediction.alternatives):
        if [moment.step for moment in outcome.steps] != list(range(len(schedule.steps))):
            yield f"the prediction tells of {len(outcome.steps)} steps, the schedule has {len(schedule.steps)}"
            return
    named = {step.name: number for number, step in enumerate(schedule.steps) if isinstance(step, CheckpointStep)}
    for outcome in (prediction, *prediction.alternatives):
        if {moment.name: moment.step for moment in outcome.checkpoints} != named:
            yield "the prediction has other checkpoints than the schedule"
        elif any(replace(outcome.steps[one.step], name=one.name) != one for one in outcome.checkpoints):
            yield "the prediction's checkpoints are not its moments after those steps"
        if [record.label for record in outcome.records] != list(schedule.labels()):
            yield "the prediction has other records than the schedule"
        yield from _of_logs(outcome)
        yield from _of_leaderships(outcome)
        yield from _of_records(outcome, schedule)


def _of_logs(outcome: PredictedNumbers) -> Iterator[str]:
    """Compare the predicted logs with the last moment, and what is told to differ with the logs."""
    last = outcome.steps[-1].replicas
    for broker, log in outcome.logs.items():
        offsets = [entry.offset for entry in log]
        if broker in last and offsets != list(
            range(last[broker].log_end_offset - len(log), last[broker].log_end_offset)
        ):
            yield f"the predicted log of broker {broker} does not end where its last moment does"
    held: dict[int, dict[int, str]] = {}
    for broker, log in outcome.logs.items():
        for entry in log:
            if broker in last and entry.offset < last[broker].high_watermark:
                held.setdefault(entry.offset, {})[broker] = entry.label
    differing = {offset: labels for offset, labels in held.items() if len(set(labels.values())) > 1}
    if differing != {one.offset: dict(one.replicas) for one in outcome.diverged}:
        yield "the prediction tells of other offsets at which replicas diverge than its logs do"


def _of_leaderships(outcome: PredictedNumbers) -> Iterator[str]:
    """Look whether leaderships only rise, and do where another broker leads."""
    for earlier, later in pairwise(outcome.steps):
        is_other = None not in (earlier.leader, later.leader) and earlier.leader != later.leader
        if later.leadership < earlier.leadership + is_other:
            yield f"the prediction tells of leadership {later.leadership} after {earlier.leadership}"


def _of_records(outcome: PredictedNumbers, schedule: Schedule) -> Iterator[str]:
    """Compare each record with the step that sends it, and with the logs that have it."""
    sent = {str(label): step for step in schedule.steps for label in step.labels()}
    logged = {(entry.label, entry.leadership) for log in outcome.logs.values() for entry in log}
    last = outcome.steps[-1]
    readable = {entry.label: entry.offset for entry in outcome.logs.get(-1 if last.leader is None else last.leader, ())}
    for number, record in enumerate(outcome.records):
        step, where = sent.get(record.label), f"the prediction of {record.label}"
        if record.id != number or (isinstance(step, Produce | SendTo) and record.acks != int(step.acks)):
            yield f"{where} is another than the schedule's record {number}"
        if record.fate not in list(Fate) or record.promise not in list(PromiseVerdict):
            yield f"{where} is fate {record.fate}, promise {record.promise}"
        if (record.fate == Fate.PRESENT) != (record.offset is not None):
            yield f"{where} is fate {record.fate} at offset {record.offset}"
        if last.leader is not None and record.fate == Fate.PRESENT and readable.get(record.label) != record.offset:
            yield f"{where} is offset {record.offset}, its leader's log has it at {readable.get(record.label)}"
        if any(label == record.label and leadership != record.leadership for label, leadership in logged):
            yield f"{where} is of another leadership than the logs have it"
        if record.leadership is None and record.was_committed:
            yield f"{where} is committed, and never appended"
