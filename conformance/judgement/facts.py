"""What does a verdict rest on? Plain values, collected by whoever asks for one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.record.reconciliation import Samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.judgement.comparison import ComparedRow
    from conformance.record.answers import ComparedAnswer
    from conformance.record.prediction import FrozenPrediction
    from conformance.record.reconciliation import Counts
    from conformance.record.trace_check import TraceResult
    from conformance.record.verdict import DifferingNumber, HeldInRun


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
        differences: the replicas' offsets that were not as predicted after a step.
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
    differences: Sequence[DifferingNumber] = ()
