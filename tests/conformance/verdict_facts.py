"""Which facts can a verdict rest on? Short forms of records, counts and samples."""

from __future__ import annotations

from typing import Any

from conformance.judgement.comparison import Row
from conformance.judgement.facts import Facts
from conformance.observation.trace_result import TraceResult

AGREES, DIFFERS = Row("leader", 1, 1), Row("end: isr", [1, 2], [1])
TRACED = TraceResult("0.10.2.2 zookeeper", frames=9, checked={"Fetch": 5, "LeaderAndIsr": 2})
CUT = "broker 2 cut it (KAFKA-1211)"


def record(label: str, fate: str = "present", promise: str = "kept", **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    reason = CUT if promise in ("broken", "allowed_by_settings") else None
    common = {"label": label, "fate": fate, "promise": promise, "promise_reason": reason, "decided_by": "it is below"}
    return {**common, "outcome": "acknowledged", "acks": -1, **fields}


M0 = record("m0")
LOST = record("m1", "lost", "broken")
ALLOWED_LOSS = record("m2", "lost", "allowed_by_settings")


def facts(
    *records: dict[str, Any],
    lost: tuple[str, ...] = (),
    classes: dict[str, int] | None = None,
    predicted: dict[str, int] | None = None,
    deviations: int = 0,
    **fields: Any,  # noqa: ANN401
) -> Facts:
    """Give the facts of a run in which ``lost`` were lost; what was predicted follows from the records."""
    expected = {"lost": sum(r["fate"] == "lost" for r in records)} | (predicted or {})
    counts = {
        "totals": {"produced": len(records)},
        "classes": {"lost": len(lost)} | (classes or {}),
        "predicted": expected,
        "deviations": deviations,
        "identity_holds": True,
    }
    samples = {"lost": [{"label": label} for label in lost]} | fields.pop("samples", {})
    prediction = {"records": records, "rules": ["truncate-to-high-watermark"], "diverged": fields.pop("diverged", [])}
    told = {"prediction": prediction, "rows": [AGREES], "counts": counts, "samples": samples, "trace": TRACED}
    return Facts(**(told | fields))
