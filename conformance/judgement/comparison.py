"""Does what was measured equal what was predicted? Rows of numbers, side by side, for one run.

Pure: typed records of a run in, frozen rows out. Epochs are compared by order: the map
from the model's leaderships to the brokers' epochs must be a function and must never decrease.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.record.answers import ComparedAnswer
from conformance.record.observations import BrokerAnswer, MeasuredCheckpoint, MeasuredNumbers, OutcomeSeen, last_probes
from conformance.record.reconciliation import ComparedNumber
from conformance.record.verdict import QUESTION, DifferingNumber

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.record.answers import AnswerValue
    from conformance.record.observations import Observation, ReplicaSeen
    from conformance.record.prediction import (
        PredictedBrokerAnswer,
        PredictedMoment,
        PredictedNumbers,
        PredictedRecord,
        PredictedReplica,
    )


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One compared number.

    Attributes:
        kind: what a disagreement is called among a verdict's findings: checkpoint or outcome.
        code: what deviates if the two sides differ, one of ``record.verdict.CODES``; the kind where none is named.
    """

    what: str
    predicted: Any
    measured: Any
    kind: str = "checkpoint"
    code: str | None = None

    @property
    def agrees(self) -> bool:
        """Return whether prediction and measurement are the same."""
        return bool(self.predicted == self.measured)

    @property
    def recorded(self) -> ComparedNumber:
        """Return the row as reconciliation/checkpoints.json has it."""
        return ComparedNumber(self.what, self.predicted, self.measured, self.agrees)


def checkpoint_rows(predicted: PredictedMoment, measured: MeasuredCheckpoint) -> list[ComparedRow]:
    """Compare one checkpoint: every replica's numbers, leader, ISR, remote log end offsets."""
    rows: list[ComparedRow] = []
    for broker, numbers in predicted.replicas.items():
        rows += _replica_rows(broker, numbers, measured.replicas.get(broker))
    rows.append(ComparedRow("leader", predicted.leader, measured.leader, code="leader"))
    rows.append(ComparedRow("isr", sorted(predicted.isr), sorted(measured.isr), code="isr"))
    if measured.elr is not None:
        rows.append(ComparedRow("elr", sorted(predicted.elr), sorted(measured.elr), code="elr"))
    for follower, offset in predicted.remote_log_end_offsets.items():
        seen = measured.remote_log_end_offsets.get(follower)
        instead = measured.or_if_diverging_counts.get(follower)
        seen = instead if instead is not None and instead == offset else seen  # no frame tells which
        what = f"remote log end offset of broker {follower} (derived)"
        rows.append(ComparedRow(what, offset, seen, code="remote_log_end_offset"))
    return rows


def _replica_rows(broker: int, numbers: PredictedReplica, seen: ReplicaSeen | None) -> list[ComparedRow]:
    names = ["log_end_offset", "high_watermark", "alive"]
    if numbers.log_start_offset or (seen is not None and seen.log_start_offset):
        names.append("log_start_offset")
    return [
        ComparedRow(
            f"broker {broker} {name.replace('_', ' ')}", getattr(numbers, name), getattr(seen, name, None), code=name
        )
        for name in names
    ]


def unexplained_probes(prediction: PredictedNumbers, observations: Iterable[Observation]) -> Iterator[ComparedRow]:
    """Yield what a probe between checkpoints saw that was neither predicted around it nor seen by the one before.

    A follower may be a step late; what no moment near a probe has is a contradiction, unless links raced there.
    """
    before: MeasuredNumbers | None = None
    for seen in observations:
        if not isinstance(seen, MeasuredNumbers) or seen.step is None or seen.step >= len(prediction.steps):
            continue
        near = prediction.steps[max(seen.step - 1, 0) : seen.step + 2]
        sides: list[MeasuredNumbers | PredictedMoment] = [*near, *([before] if before is not None else [])]
        is_open = any(moment.is_open for moment in near)
        if not (isinstance(seen, MeasuredCheckpoint) or is_open):
            yield from _unexplained(seen, prediction.steps[seen.step], sides)
        before = seen


def _unexplained(
    seen: MeasuredNumbers, predicted: PredictedMoment, sides: Sequence[MeasuredNumbers | PredictedMoment]
) -> Iterator[ComparedRow]:
    where = f"after step {predicted.step + 1}"
    if seen.leader not in [side.leader for side in sides]:
        yield ComparedRow(f"{where}: leader", predicted.leader, seen.leader, code="leader")
    if sorted(seen.isr) not in [sorted(side.isr) for side in sides]:
        yield ComparedRow(f"{where}: isr", sorted(predicted.isr), sorted(seen.isr), code="isr")
    for broker, numbers in seen.replicas.items():
        for name in ("log_end_offset", "high_watermark", "alive", "log_start_offset"):
            told, known = (
                getattr(numbers, name),
                [getattr(s.replicas[broker], name) for s in sides if broker in s.replicas],
            )
            if known and not min(known) <= told <= max(known):
                expected = getattr(predicted.replicas.get(broker), name, None)
                yield ComparedRow(f"{where}: broker {broker} {name.replace('_', ' ')}", expected, told, code=name)


def differing_numbers(prediction: PredictedNumbers, observations: Iterable[Observation]) -> tuple[DifferingNumber, ...]:
    """Return the log end offsets and high watermarks that were not as predicted after a step, at its last probe."""
    last = last_probes(observations)
    return tuple(
        DifferingNumber(moment.step, broker, number, wanted, found)
        for moment in prediction.steps
        if not moment.is_open
        for broker, replica in moment.replicas.items()
        if (probe := last.get(moment.step)) is not None and (seen := probe.replicas.get(broker)) is not None
        for number in ("log_end_offset", "high_watermark")
        if (wanted := getattr(replica, number)) != (found := getattr(seen, number))
    )


def outcome_rows(predicted: Iterable[PredictedRecord], measured: Mapping[str, OutcomeSeen]) -> list[ComparedRow]:
    """Compare every produce's outcome, and its error where the model names one."""
    rows: list[ComparedRow] = []
    for record in predicted:
        seen = measured.get(record.label)
        told, error = (None, None) if seen is None else (seen.outcome, seen.error)
        rows.append(ComparedRow(f"outcome of {record.label}", record.outcome, told, "outcome"))
        if record.error is not None:
            rows.append(ComparedRow(f"error of {record.label}", record.error, error, "outcome"))
    return rows


def learned_outcomes(observations: Iterable[Observation], *, is_complete: bool) -> dict[str, OutcomeSeen]:
    """Return what producers learned of their records, by label.

    Args:
        observations: of the run.
        is_complete: whether the run took its course. Of one that ended early only what its steps saw counts: what
            was written down between steps was so as it ended, and it was the tester that cut the producers off.
    """
    outcomes = (seen for seen in observations if isinstance(seen, OutcomeSeen))
    return {seen.label: seen for seen in outcomes if is_complete or seen.step is not None}


def epoch_conflicts(pairs: Iterable[tuple[int, int]]) -> list[str]:
    """Return what is wrong with the map from leadership ordinals to observed leader epochs.

    Args:
        pairs: (ordinal of the model, epoch of the brokers), as seen at checkpoints and in logs;
            epochs below 0 (no epoch recorded) are passed over.
    """
    known = sorted({(epoch, ordinal) for ordinal, epoch in pairs if epoch >= 0})
    conflicts: list[str] = []
    for (epoch, ordinal), (next_epoch, next_ordinal) in itertools.pairwise(known):
        if epoch == next_epoch:
            conflicts.append(f"leader epoch {epoch} stands for leaderships {ordinal} and {next_ordinal}")
        elif next_ordinal < ordinal:
            conflicts.append(
                f"leader epoch {next_epoch} belongs to leadership {next_ordinal}, "
                f"but the lower epoch {epoch} belongs to {ordinal}"
            )
    return conflicts


def leadership_conflicts(observations: Iterable[Observation]) -> list[str]:
    """Return where a leader epoch fell, or one had two leaders, at the probes of a run."""
    leaders: dict[int, int] = {}
    conflicts: list[str] = []
    highest = -1
    for seen in observations:
        if isinstance(seen, MeasuredNumbers):
            if seen.leader_epoch < highest:
                conflicts.append(f"the leader epoch fell from {highest} to {seen.leader_epoch}")
            highest = max(highest, seen.leader_epoch)
            if seen.leader is not None and leaders.setdefault(seen.leader_epoch, seen.leader) != seen.leader:
                conflicts.append(f"leader epoch {seen.leader_epoch} has two leaders")
    return list(dict.fromkeys(conflicts))


# What did brokers answer to the steps that asked them, and what was predicted? One comparison a step.
#
# The prediction names the answers of a schedule's steps; what was measured stands among the observations.

NEVER_ASKED = "the step was never taken"


def answer_rows(prediction: PredictedNumbers, observations: Iterable[Observation]) -> Iterator[ComparedRow]:
    """Yield every value of every answer that was measured beside the predicted one."""
    measured = _measured(observations)
    for predicted in prediction.answers:
        seen = measured.get(predicted.step)
        if seen is not None:
            what = _what(predicted)
            names = dict.fromkeys((*predicted.answer, *seen))
            for name in names:
                yield ComparedRow(f"{what}: {name}", predicted.answer.get(name), seen.get(name), QUESTION, QUESTION)


def compare_broker_answers(
    prediction: PredictedNumbers, observations: Iterable[Observation], *, is_complete: bool
) -> list[ComparedAnswer]:
    """Compare the answers of a run's steps; what an interrupted run never asked speaks against nobody."""
    measured = _measured(observations)
    return [
        _compared(predicted, measured.get(predicted.step))
        for predicted in prediction.answers
        if is_complete or predicted.step in measured
    ]


def _compared(predicted: PredictedBrokerAnswer, seen: Mapping[str, AnswerValue] | None) -> ComparedAnswer:
    expected = answer_words(predicted.answer)
    if seen is None:
        return ComparedAnswer(_what(predicted), expected, None, NEVER_ASKED, agrees=False)
    return ComparedAnswer(_what(predicted), expected, answer_words(seen), None, agrees=predicted.answer == seen)


def answer_words(answer: Mapping[str, AnswerValue]) -> str:
    """Return an answer in words: an error alone, or every value by its name."""
    if answer.get("error") is not None:
        return str(answer["error"])
    named = (f"{_NAMES.get(name, name)} {_word(value)}".strip() for name, value in answer.items() if name != "error")
    return ", ".join(named)


_NAMES = {"answer": "", "high_watermark": "high watermark", "end_offset": "end offset"}


def _word(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return " ".join(map(str, value)) or "none"
        case _:
            return str(value)


def _what(predicted: PredictedBrokerAnswer) -> str:
    return f"step {predicted.step + 1}: {predicted.asked}"


def _measured(observations: Iterable[Observation]) -> dict[int, Mapping[str, AnswerValue]]:
    return {seen.step: seen.answer for seen in observations if isinstance(seen, BrokerAnswer) and seen.step is not None}
