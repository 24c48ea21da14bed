"""What does a verdict rest on, and was the durability promise of the settings kept?

Pure: the second of a verdict's two answers, from the records that were measured as lost, and their reasons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.record.reconciliation import Samples
from conformance.record.verdict import PromiseKept, RecordLoss
from oracle.transactions.promised import MISSING, PROMISED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.judgement.comparison import ComparedRow
    from conformance.record.answers import ComparedAnswer
    from conformance.record.prediction import FrozenPrediction, PredictedRecord
    from conformance.record.reconciliation import Counts
    from conformance.record.trace_check import TraceResult
    from conformance.record.verdict import HeldInRun


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a verdict rests on.

    Attributes:
        prediction: prediction.json.
        rows: compared checkpoints, outcomes and the end offset.
        conflicts: what is wrong with the map from leaderships to leader epochs.
        counts: reconciliation/counts.json; None if the run never got there.
        samples: reconciliation/samples.json.
        interruption: (verdict word, message) of what ended the run early; None if nothing did.
        trace: what came out of the check of the wire trace; None if it was never checked.
        asked: the questions with both answers.
        every_run: what every run is held against.
    """

    prediction: FrozenPrediction
    rows: Sequence[ComparedRow]
    conflicts: Sequence[str] = ()
    counts: Counts | None = None
    samples: Samples = field(default_factory=Samples)
    interruption: tuple[str, str] | None = None
    trace: TraceResult | None = None
    asked: Sequence[ComparedAnswer] = ()
    every_run: Sequence[HeldInRun] = ()


HARMFUL = ("lost", "phantom", "resurrected", "duplicated", "reordered", "value_changed", "diverged")
LOST_PROMISES = ("broken", "allowed_by_settings")


def promise_kept(facts: Facts) -> tuple[PromiseKept, str | None]:
    """Return whether the promise was kept, and by what it was not; the records must have been counted."""
    assert facts.counts is not None
    measured, predicted = facts.counts.classes, facts.counts.predicted
    lost = _lost(facts)
    surprises = [record for record in lost if record.fate == "present"]
    unpredicted = [name for name in HARMFUL if measured.get(name, 0) > predicted.get(name, 0)]
    if unpredicted or surprises:
        named = dict.fromkeys(unpredicted, "") | ({"lost": f" ({_labels(surprises)})"} if surprises else {})
        return PromiseKept.BROKEN, f"{', '.join(name + labels for name, labels in named.items())}: not predicted"
    broken = [record for record in lost if record.promise == "broken"]
    if broken:
        return PromiseKept.BROKEN_AS_PREDICTED, f"{_labels(broken)} lost: {broken[0].promise_reason}"
    if measured.get("diverged", 0):
        return PromiseKept.BROKEN_AS_PREDICTED, _divergence_text(facts.prediction)
    allowed = [record for record in lost if record.promise == "allowed_by_settings"]
    if allowed:
        return PromiseKept.ALLOWED_BY_SETTINGS, f"{_labels(allowed)} lost: {allowed[0].promise_reason}"
    return _nothing_promised_was_lost(facts)


def _labels(records: Iterable[PredictedRecord]) -> str:
    return ", ".join(record.label for record in records)


def _lost(facts: Facts) -> list[PredictedRecord]:
    """Return the predicted records that were measured as lost; beyond the sample, those predicted so."""
    assert facts.counts is not None
    sample = facts.samples.classes.get("lost", ())
    sampled = {row.label for row in sample}
    are_all_sampled = facts.counts.classes.get("lost", 0) <= len(sample)
    return [
        record
        for record in facts.prediction.records
        if record.label in sampled or (not are_all_sampled and record.promise in LOST_PROMISES)
    ]


def _nothing_promised_was_lost(facts: Facts) -> tuple[PromiseKept, str | None]:
    promised = any(record.outcome == "acknowledged" and record.acks != 0 for record in facts.prediction.records)
    return (PromiseKept.KEPT if promised else PromiseKept.NO_PROMISE), None


def _divergence_text(prediction: FrozenPrediction) -> str:
    places = [
        f"offset {one.offset} holds " + ", ".join(f"{label} on broker {b}" for b, label in one.replicas.items())
        for one in prediction.diverged
    ]
    return "; ".join(places) + f" ({prediction.rules[0]})"


# What an examination promises: nothing, unless it asks for what breaks a promise (``PROMISED``).


@dataclass(frozen=True, slots=True)
class PromisedAnswer:
    """What breaks a promise, an empty list while nothing does: as it was predicted, and as it was measured.

    Attributes:
        promise: the question.
        measured: None if it was not answered.
    """

    promise: str
    predicted: Sequence[object]
    measured: Sequence[object] | None

    @property
    def is_predicted(self) -> bool:
        """Return whether what was measured is what was predicted."""
        return list(self.measured or ()) == list(self.predicted)

    @property
    def text(self) -> str:
        """Return what breaks it, in words."""
        return f"{self.promise.removeprefix(PROMISED)}: {', '.join(map(str, self.measured or ()))}"


def promises_of_answers(promised: Sequence[PromisedAnswer]) -> tuple[PromiseKept | None, str | None]:
    """Return whether what was promised besides records was kept, and by what it was not; None if nobody knows."""
    if not promised:
        return PromiseKept.NO_PROMISE, None
    if any(one.measured is None for one in promised):
        return None, None
    broken = [one for one in promised if one.measured]
    if not broken:
        return PromiseKept.KEPT, None
    surprises = [one for one in broken if not one.is_predicted]
    if surprises:
        return PromiseKept.BROKEN, f"{'; '.join(one.text for one in surprises)}: not predicted"
    return PromiseKept.BROKEN_AS_PREDICTED, "; ".join(one.text for one in broken)


def losses_by_answers(promised: Iterable[PromisedAnswer]) -> Iterable[RecordLoss]:
    """Yield every acknowledged record that is missing although its transaction was committed."""
    for one in promised:
        if one.promise == MISSING:
            surprise = "" if one.is_predicted else "not predicted: "
            yield from (RecordLoss(str(label), "broken", f"{surprise}{one.text}") for label in one.measured or ())


def losses(facts: Facts) -> Iterable[RecordLoss]:
    """Yield every record that was lost, with the promise it broke or the settings that allowed it."""
    for record in _lost(facts):
        if record.fate == "present":
            yield RecordLoss(record.label, "broken", f"not predicted: {record.decided_by}")
        elif record.promise in LOST_PROMISES:
            yield RecordLoss(record.label, record.promise, record.promise_reason or "")
