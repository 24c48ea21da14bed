"""Was the durability promise of the settings kept? From the records that were measured as lost, and their reasons.

Pure: the second of a verdict's two answers.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.judgement.facts import Facts


class PromiseKept(StrEnum):
    """Was the durability promise of the settings kept?"""

    KEPT = "KEPT"
    ALLOWED_BY_SETTINGS = "ALLOWED_BY_SETTINGS"
    BROKEN_AS_PREDICTED = "BROKEN_AS_PREDICTED"
    BROKEN = "BROKEN"
    NO_PROMISE = "NO_PROMISE"


HARMFUL = ("lost", "phantom", "resurrected", "duplicated", "reordered", "value_changed", "diverged")
LOST_PROMISES = ("broken", "allowed_by_settings")


def promise_kept(facts: Facts) -> tuple[PromiseKept, str | None]:
    """Return whether the promise was kept, and by what it was not; the records must have been counted."""
    assert facts.counts is not None
    measured, predicted = facts.counts["classes"], facts.counts["predicted"]
    lost = _lost(facts)
    surprises = [record for record in lost if record["fate"] == "present"]
    unpredicted = [name for name in HARMFUL if measured.get(name, 0) > predicted.get(name, 0)]
    if unpredicted or surprises:
        named = dict.fromkeys(unpredicted, "") | ({"lost": f" ({_labels(surprises)})"} if surprises else {})
        return PromiseKept.BROKEN, f"{', '.join(name + labels for name, labels in named.items())}: not predicted"
    broken = [record for record in lost if record["promise"] == "broken"]
    if broken:
        return PromiseKept.BROKEN_AS_PREDICTED, f"{_labels(broken)} lost: {broken[0]['promise_reason']}"
    if measured.get("diverged", 0):
        return PromiseKept.BROKEN_AS_PREDICTED, _divergence_text(facts.prediction)
    allowed = [record for record in lost if record["promise"] == "allowed_by_settings"]
    if allowed:
        return PromiseKept.ALLOWED_BY_SETTINGS, f"{_labels(allowed)} lost: {allowed[0]['promise_reason']}"
    return _nothing_promised_was_lost(facts)


def _labels(records: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(record["label"] for record in records)


def _lost(facts: Facts) -> list[Mapping[str, Any]]:
    """Return the predicted records that were measured as lost; beyond the sample, those predicted so."""
    assert facts.counts is not None
    sampled = {row.get("label") for row in facts.samples.get("lost", [])}
    are_all_sampled = facts.counts["classes"].get("lost", 0) <= len(facts.samples.get("lost", []))
    return [
        record
        for record in facts.prediction["records"]
        if record["label"] in sampled or (not are_all_sampled and record["promise"] in LOST_PROMISES)
    ]


def _nothing_promised_was_lost(facts: Facts) -> tuple[PromiseKept, str | None]:
    promised = any(
        record["outcome"] == "acknowledged" and record["acks"] != 0 for record in facts.prediction["records"]
    )
    return (PromiseKept.KEPT if promised else PromiseKept.NO_PROMISE), None


def _divergence_text(prediction: Mapping[str, Any]) -> str:
    places = [
        f"offset {d['offset']} holds " + ", ".join(f"{label} on broker {b}" for b, label in d["replicas"].items())
        for d in prediction["diverged"]
    ]
    return "; ".join(places) + f" ({prediction['rules'][0]})"


def losses(facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Yield every record that was lost, with the promise it broke or the settings that allowed it."""
    for record in _lost(facts):
        if record["fate"] == "present":
            yield {"label": record["label"], "promise": "broken", "reason": f"not predicted: {record['decided_by']}"}
        elif record["promise"] in LOST_PROMISES:
            yield {"label": record["label"], "promise": record["promise"], "reason": record["promise_reason"]}
