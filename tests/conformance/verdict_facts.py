"""Which facts can a verdict rest on? Short forms of records, counts and samples."""

from __future__ import annotations

from typing import Any

from conformance.judgement.comparison import ComparedRow
from conformance.judgement.promises import Facts
from conformance.record.prediction import FrozenPrediction, PredictedRecord
from conformance.record.reconciliation import Counts, RecordSample, Samples, Totals
from conformance.record.trace_check import TraceResult

AGREES, DIFFERS = ComparedRow("leader", 1, 1), ComparedRow("end: isr", [1, 2], [1])
TRACED = TraceResult("0.10.2.2 zookeeper", frames=9, checked={"Fetch": 5, "LeaderAndIsr": 2})
CUT = "broker 2 cut it (KAFKA-1211)"


def record(label: str, fate: str = "present", promise: str = "kept", **fields: Any) -> PredictedRecord:  # noqa: ANN401
    reason = CUT if promise in ("broken", "allowed_by_settings") else None
    common = {"label": label, "fate": fate, "promise": promise, "promise_reason": reason, "decided_by": "it is below"}
    nothing = {"id": 0, "was_committed": False, "error": None, "offset": None, "leadership": None}
    return PredictedRecord(**{**nothing, **common, "outcome": "acknowledged", "acks": -1, **fields})


M0 = record("m0")
LOST = record("m1", "lost", "broken")
ALLOWED_LOSS = record("m2", "lost", "allowed_by_settings")


def facts(
    *records: PredictedRecord,
    lost: tuple[str, ...] = (),
    classes: dict[str, int] | None = None,
    predicted: dict[str, int] | None = None,
    deviations: int = 0,
    **fields: Any,  # noqa: ANN401
) -> Facts:
    """Return the facts of a run in which ``lost`` were lost; what was predicted follows from the records."""
    counts = Counts(
        totals=Totals(produced=len(records), predicted=len(records), read=0, acknowledged=0, refused=0),
        classes={"lost": len(lost)} | (classes or {}),
        predicted={"lost": sum(r.fate == "lost" for r in records)} | (predicted or {}),
        deviations=deviations,
        identity_holds=True,
    )
    sampled = tuple(RecordSample(label=label) for label in lost)
    samples = Samples(classes={"lost": sampled}, deviations=tuple(fields.pop("deviating", ())))
    prediction = FrozenPrediction(
        scenario="x",
        kafka="0.10.2.2",
        metadata="zookeeper",
        rules=("truncate-to-high-watermark",),
        checkpoints=(),
        records=records,
        logs={},
        diverged=tuple(fields.pop("diverged", ())),
        steps=(),
    )
    told = {"prediction": prediction, "rows": [AGREES], "counts": counts, "samples": samples, "trace": TRACED}
    return Facts(**(told | fields))
