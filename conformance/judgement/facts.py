"""What does a verdict rest on? Plain values, collected by whoever asks for one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.catalogue.answers import Asked
    from conformance.judgement.comparison import Row
    from conformance.observation.trace_result import TraceResult


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
    """

    prediction: Mapping[str, Any]
    rows: Sequence[Row]
    conflicts: Sequence[str] = ()
    counts: Mapping[str, Any] | None = None
    samples: Mapping[str, Any] = field(default_factory=dict)
    interruption: tuple[str, str] | None = None
    trace: TraceResult | None = None
    asked: Sequence[Asked] = ()
