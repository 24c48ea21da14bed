"""Which verdict about the promise does a prediction lead to, if the brokers do as predicted? With what is lost."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from conformance.record.verdict import PromiseKept
from oracle.guarantees import PromiseVerdict
from oracle.vocabulary import Acks, Fate, ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oracle.predicting.explaining import CheckpointStory, Explanation, NumberStory, RecordStory
    from oracle.predicting.wording import Change
    from oracle.prediction import Prediction, RecordPrediction


def promise_line(prediction: Prediction) -> str:
    """Return the predicted promise as a verdict has it, then every lost record, and why."""
    promise, reason = predicted_promise(prediction)
    return f"promise: {promise.value}; {reason}"


def predicted_promise(prediction: Prediction) -> tuple[PromiseKept, str]:
    """Return the predicted promise as a verdict has it, and every lost record with the reason."""
    broken = _ending(prediction, PromiseVerdict.BROKEN)
    allowed = _ending(prediction, PromiseVerdict.ALLOWED_BY_SETTINGS)
    promise = _promise(prediction, is_broken=bool(broken), is_allowed=bool(allowed))
    others = [record for record in prediction.records if record.fate is Fate.LOST and record not in broken + allowed]
    parts = [_with_reason(broken)] if broken else []
    parts += [f"replicas differ at offset {one.offset}" for one in prediction.diverged]
    parts += [_with_reason(allowed)] if allowed else []
    parts += [f"{_labels(others)} lost, about which nothing was promised"] if others else []
    return promise, "; ".join(parts) or "no committed record is lost"


def promise_words(prediction: Prediction) -> str:
    """Return the predicted promise as a verdict has it, and the labels of what is lost or refused, without reasons."""
    broken = _ending(prediction, PromiseVerdict.BROKEN)
    allowed = _ending(prediction, PromiseVerdict.ALLOWED_BY_SETTINGS)
    lost = {id(one) for one in (*broken, *allowed)}
    lost |= {id(one) for one in prediction.records if one.fate is Fate.LOST}
    parts = [_promise(prediction, is_broken=bool(broken), is_allowed=bool(allowed)).value]
    for word, ending in (
        ("lost", [one for one in prediction.records if id(one) in lost]),
        ("refused", [one for one in prediction.records if one.outcome is ProduceOutcome.REFUSED]),
    ):
        parts += [f"{_labels(ending)} {word}"] if ending else []
    parts += [f"replicas differ at offset {one.offset}" for one in prediction.diverged]
    return "; ".join(parts)


def _ending(prediction: Prediction, verdict: PromiseVerdict) -> list[RecordPrediction]:
    return [record for record in prediction.records if record.promise.verdict is verdict]


def _with_reason(lost: list[RecordPrediction]) -> str:
    return f"{_labels(lost)} lost: {lost[0].promise.reason}"


def _labels(records: Iterable[RecordPrediction]) -> str:
    return ", ".join(record.label for record in records)


def _promise(prediction: Prediction, *, is_broken: bool, is_allowed: bool) -> PromiseKept:
    if is_broken or prediction.diverged:
        return PromiseKept.BROKEN_AS_PREDICTED
    if is_allowed:
        return PromiseKept.ALLOWED_BY_SETTINGS
    promised = (r for r in prediction.records if r.outcome is ProduceOutcome.ACKNOWLEDGED and r.acks != Acks.NONE)
    return PromiseKept.KEPT if any(promised) else PromiseKept.NO_PROMISE


# How does an explanation read? A paragraph per record, one per checkpoint, and the rules they cite.


def story_lines(explanation: Explanation) -> Iterator[str]:
    """Yield an explanation, line by line."""
    yield "why each record ends as it does"
    for record in explanation.records:
        yield ""
        yield from _record(record)
    yield ""
    yield "why each number of a checkpoint is what it is"
    for checkpoint in explanation.checkpoints:
        yield ""
        yield from _checkpoint(checkpoint)
    yield ""
    yield "rules cited"
    for name, source in sorted(_cited(explanation)):
        yield f"  {name}: {source}"
    yield ""


def _record(story: RecordStory) -> Iterator[str]:
    record = story.record
    where = "" if record.offset is None else f" at offset {record.offset}"
    yield f"{record.label}: {record.fate.value}{where}"
    yield f"  {record.decided_by}"
    for during, changes in groupby(story.changes, key=lambda change: change.during):
        yield f"  {during}"
        for change in changes:
            yield f"    {change.sentence()}"


def _checkpoint(story: CheckpointStory) -> Iterator[str]:
    yield f"checkpoint: {story.name}"
    for broker, numbers in groupby(story.numbers, key=lambda number: number.broker):
        row = list(numbers)
        if broker is None:
            for number in row:
                yield f"  {number.what} {number.value}"
                yield from _reasons([number])
        else:
            yield f"  broker {broker}: {', '.join(f'{number.what} {number.value}' for number in row)}"
            yield from _reasons(row)


def _reasons(numbers: Sequence[NumberStory]) -> Iterator[str]:
    changes = [change for number in numbers for change in number.changes]
    for change in [*changes, *numbers[0].holds]:
        yield f"    {change.during}: {change.sentence()}"
    if not changes:
        yield "    as the partition was created"


def _cited(explanation: Explanation) -> set[tuple[str, str]]:
    changes: list[Change] = [change for record in explanation.records for change in record.changes]
    for checkpoint in explanation.checkpoints:
        changes.extend(change for number in checkpoint.numbers for change in number.changes)
    return {(change.rule.name, change.rule.source) for change in changes if change.rule is not None}
