"""What does a run mean? Two questions, two answers, from facts alone.

Did the brokers behave as the model of their version says? Was the durability promise of the
settings kept? Pure: plain values in, a frozen verdict out; nothing else decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from conformance.deviation_codes import AWAITED_STATE, LEADER_EPOCH, TRACE, UNSAMPLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.comparison import Row
    from conformance.observation.trace_result import TraceResult


class Conformance(StrEnum):
    """Did the brokers behave as the model says?"""

    CONFORMS = "CONFORMS"
    DEVIATES = "DEVIATES"
    INCONCLUSIVE = "INCONCLUSIVE"
    HARNESS_ERROR = "HARNESS_ERROR"
    NOT_RUN = "NOT_RUN"


class PromiseKept(StrEnum):
    """Was the durability promise of the settings kept?"""

    KEPT = "KEPT"
    ALLOWED_BY_SETTINGS = "ALLOWED_BY_SETTINGS"
    BROKEN_AS_PREDICTED = "BROKEN_AS_PREDICTED"
    BROKEN = "BROKEN"
    NO_PROMISE = "NO_PROMISE"


EXIT_CODES = {
    Conformance.CONFORMS: 0,
    Conformance.NOT_RUN: 0,
    Conformance.DEVIATES: 1,
    Conformance.INCONCLUSIVE: 3,
    Conformance.HARNESS_ERROR: 4,
}
EXIT_PRECEDENCE = (1, 4, 3, 0)
HARMFUL = ("lost", "phantom", "resurrected", "duplicated", "reordered", "value_changed", "diverged")
LOST_PROMISES = ("broken", "allowed_by_settings")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that speaks against a run, in words.

    Attributes:
        code: what deviates, one of ``deviation_codes``; the kind where none is known.
    """

    kind: str
    text: str
    code: str | None = field(default=None, compare=False)


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
    """

    prediction: Mapping[str, Any]
    rows: Sequence[Row]
    conflicts: Sequence[str] = ()
    counts: Mapping[str, Any] | None = None
    samples: Mapping[str, Any] = field(default_factory=dict)
    interruption: tuple[str, str] | None = None
    trace: TraceResult | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The two answers with their reason and findings.

    Attributes:
        accepted: issue and reason if the expectations accept this deviation, else None.
        codes: what deviates, in the words of ``deviation_codes``, sorted.
    """

    conformance: Conformance
    promise: PromiseKept | None
    reason: str
    findings: tuple[Finding, ...] = ()
    losses: tuple[Mapping[str, Any], ...] = ()
    accepted: str | None = None
    codes: tuple[str, ...] = ()

    @property
    def counted(self) -> Conformance:
        """What this verdict counts as for exit codes: an accepted deviation does not fail."""
        return Conformance.CONFORMS if self.accepted is not None else self.conformance


def against_expectation(verdict: Verdict, accepted: str, codes: Sequence[str] = ()) -> Verdict:
    """Return the verdict in the light of an accepted deviation; one that does not happen any more fails.

    Args:
        verdict: what the run showed.
        accepted: issue and reason of the accepted deviation.
        codes: what it accepts, in the words of ``deviation_codes``; empty accepts everything but an unpredicted loss.
    """
    if verdict.promise is PromiseKept.BROKEN:
        return verdict  # an unpredicted loss is never accepted
    if verdict.conformance is Conformance.DEVIATES:
        beyond = [code for code in verdict.codes if codes and code not in codes]
        if beyond:
            reason = f"not in what is accepted ({accepted}): {', '.join(beyond)}; {verdict.reason}"
            return replace(verdict, reason=reason)
        return replace(verdict, accepted=accepted, reason=f"accepted deviation ({accepted}): {verdict.reason}")
    if verdict.conformance is Conformance.CONFORMS:
        reason = f"conforms although listed as a deviation ({accepted}): remove the entry from the expectations"
        return replace(verdict, conformance=Conformance.DEVIATES, reason=reason)
    return verdict


def judge(facts: Facts) -> Verdict:
    """Answer both questions."""
    findings = (*_row_findings(facts.rows), *_epoch_findings(facts), *_record_findings(facts), *_trace_findings(facts))
    conformance, reason = _conformance(facts, findings)
    codes = _codes(facts, findings)
    if facts.counts is None or conformance is Conformance.HARNESS_ERROR:
        return Verdict(conformance, None, reason, findings, codes=codes)
    promise, why = _promise(facts)
    losses = tuple(_losses(facts))
    return Verdict(conformance, promise, f"{reason}; {why}" if why else reason, findings, losses, codes=codes)


def _codes(facts: Facts, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return what deviates, each word once."""
    codes = {finding.code or finding.kind for finding in findings}
    if facts.interruption is not None and facts.interruption[0] == Conformance.DEVIATES:
        codes.add(AWAITED_STATE)
    return tuple(sorted(codes))


def not_run(reason: str) -> Verdict:
    """Return the verdict of a scenario that does not apply."""
    return Verdict(Conformance.NOT_RUN, None, reason)


def _row_findings(rows: Iterable[Row]) -> list[Finding]:
    return [
        Finding(row.kind, f"{row.what}: predicted {row.predicted}, measured {row.measured}", row.code)
        for row in rows
        if not row.agrees
    ]


def _epoch_findings(facts: Facts) -> list[Finding]:
    return [Finding("epoch", conflict, LEADER_EPOCH) for conflict in facts.conflicts]


def _record_findings(facts: Facts) -> list[Finding]:
    if facts.counts is None or not facts.counts["deviations"]:
        return []
    sample = facts.samples.get("deviations", [])
    findings = [
        Finding(
            row.get("kind", "record"),
            f"{_named(row)}: expected {row['expected']}, measured {row['measured']}",
            row.get("anomaly"),
        )
        for row in sample
    ]
    rest = facts.counts["deviations"] - len(sample)
    return [*findings, Finding("record", f"{rest} more deviations", UNSAMPLED)] if rest > 0 else findings


def _trace_findings(facts: Facts) -> list[Finding]:
    if facts.trace is None or facts.trace.violation is None:
        return []
    return [Finding("trace", facts.trace.violation.text, TRACE)]


def _named(row: Mapping[str, Any]) -> str:
    """Name what deviates: a place in a replica's log, or a record; a phantom has no label and may have no id."""
    if row.get("broker") is not None:
        return f"log of broker {row['broker']}, offset {row.get('offset')}"
    if row.get("label") is not None:
        return str(row["label"])
    return "a foreign record" if row.get("record_id") is None else f"record {row['record_id']}"


def _conformance(facts: Facts, findings: Sequence[Finding]) -> tuple[Conformance, str]:
    if facts.counts is not None and not facts.counts["identity_holds"]:
        first = f": {findings[0].text}" if findings else ""
        return Conformance.HARNESS_ERROR, f"the reconciliation's own counts do not add up{first}"
    if facts.interruption is not None:
        word, message = facts.interruption
        if word == Conformance.DEVIATES or findings:
            return Conformance.DEVIATES, f"{findings[0].text}; ended early: {message}" if findings else message
        return Conformance(word), message
    if findings:
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        return Conformance.DEVIATES, findings[0].text + more
    if facts.counts is None:
        return Conformance.HARNESS_ERROR, "the records were never reconciled"
    if facts.trace is None or facts.trace.why_not is not None:
        why = facts.trace.why_not if facts.trace is not None else "nobody did"
        return Conformance.HARNESS_ERROR, f"the wire trace was not checked: {why}"
    produced = facts.counts["totals"]["produced"]
    noun = "record" if produced == 1 else "records"
    text = f"{len(facts.rows)} numbers and {produced} {noun} as predicted, {facts.trace.shown} frames as allowed"
    return Conformance.CONFORMS, text + _which_outcome(facts.prediction)


def _which_outcome(prediction: Mapping[str, Any]) -> str:
    """Say which outcome of an open race was measured."""
    measured = prediction.get("measured_outcome")
    if measured is None:
        return ""
    return f", outcome {measured['number']} of {measured['of']}: {'; '.join(measured['race'])}"


def _promise(facts: Facts) -> tuple[PromiseKept, str | None]:
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


def _losses(facts: Facts) -> Iterable[Mapping[str, Any]]:
    for record in _lost(facts):
        if record["fate"] == "present":
            yield {"label": record["label"], "promise": "broken", "reason": f"not predicted: {record['decided_by']}"}
        elif record["promise"] in LOST_PROMISES:
            yield {"label": record["label"], "promise": record["promise"], "reason": record["promise_reason"]}


def exit_code(verdicts: Iterable[tuple[Conformance, PromiseKept | None]], *, require_promise: bool = False) -> int:
    """Return the process's exit code: 1 deviates, 4 harness error, 3 inconclusive, 0 conforms, in that order."""
    codes = {EXIT_CODES[conformance] for conformance, _ in verdicts} | {0}
    if require_promise and any(p is PromiseKept.BROKEN_AS_PREDICTED for _, p in verdicts):
        codes.add(1)
    return next(code for code in EXIT_PRECEDENCE if code in codes)
