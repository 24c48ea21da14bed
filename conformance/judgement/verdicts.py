"""What does a run mean? Two questions, two answers, from facts alone.

Did the brokers behave as the model of their version says? Was the durability promise of the
settings kept? Pure: plain values in, a frozen verdict out; nothing else decides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.judgement.promises import losses, losses_by_answers, promise_kept, promises_of_answers
from conformance.record.verdict import (
    AWAITED_STATE,
    LEADER_EPOCH,
    NOT_HELD,
    QUESTION,
    TRACE,
    UNSAMPLED,
    Conformance,
    Finding,
    PromiseKept,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.judgement.comparison import ComparedRow
    from conformance.judgement.promises import Facts, PromisedAnswer
    from conformance.record.answers import ComparedAnswer
    from conformance.record.prediction import FrozenPrediction
    from conformance.record.reconciliation import DeviationSample


EXIT_CODES = {
    Conformance.CONFORMS: 0,
    Conformance.NOT_RUN: 0,
    Conformance.DEVIATES: 1,
    Conformance.INCONCLUSIVE: 3,
    Conformance.HARNESS_ERROR: 4,
}
EXIT_PRECEDENCE = (1, 4, 3, 0)
STALL = "stall"
"""The kind of a finding about a time that a stall of the machine, measured meanwhile, may explain."""
EVIDENCE_INCOMPLETE = "evidence incomplete"
"""How a reason begins that names what is missing, twice, out of order or at odds with other evidence."""
WIRE_UNCHECKED = "the wire trace was not checked"
"""How the reason of a run begins whose frames could not be replayed."""


def against_expectation(
    verdict: Verdict, accepted: str, codes: Sequence[str] = (), expired: str | None = None
) -> Verdict:
    """Return the verdict in the light of an accepted finding; one that does not happen any more fails.

    Args:
        verdict: what the run showed.
        accepted: issue and reason of the accepted finding.
        codes: what it accepts, in the words of ``CODES``; empty accepts everything but an unpredicted loss.
        expired: the last day on which it was accepted, if the run came later.
    """
    if verdict.promise is PromiseKept.BROKEN:
        return verdict  # an unpredicted loss is never accepted
    if verdict.conformance is Conformance.DEVIATES:
        return _of_listed(verdict, accepted, codes, expired)
    if verdict.conformance is Conformance.CONFORMS:
        reason = f"conforms although listed as an accepted finding ({accepted}): remove the entry; {verdict.reason}"
        return replace(verdict, conformance=Conformance.DEVIATES, reason=reason)
    return verdict


def _of_listed(verdict: Verdict, accepted: str, codes: Sequence[str], expired: str | None) -> Verdict:
    """Return a deviation that is listed: accepted, unless the entry has expired or more deviates than it names."""
    if expired is not None:
        return replace(verdict, reason=f"accepted until {expired} and no longer ({accepted}); {verdict.reason}")
    beyond = [code for code in verdict.codes if codes and code not in codes]
    if beyond:
        return replace(verdict, reason=f"not in what is accepted ({accepted}): {', '.join(beyond)}; {verdict.reason}")
    return replace(verdict, accepted=accepted, reason=f"accepted finding ({accepted}): {verdict.reason}")


def judge(facts: Facts) -> Verdict:
    """Answer both questions."""
    findings = (
        *_row_findings(facts.rows),
        *_epoch_findings(facts),
        *_question_findings(facts.asked),
        *_record_findings(facts),
        *_trace_findings(facts),
        *_every_run_findings(facts),
    )
    conformance, reason = _conformance(facts, findings)
    codes, held = _codes(facts.interruption, findings), tuple(facts.every_run)
    if facts.counts is None or conformance is Conformance.HARNESS_ERROR:
        return Verdict(conformance, None, reason, findings, codes=codes, every_run=held)
    promise, why = promise_kept(facts)
    lost = tuple(losses(facts))
    whole = f"{reason}; {why}" if why else reason
    return Verdict(conformance, promise, whole, findings, lost, codes=codes, every_run=held, promise_reason=why)


def judge_answers(
    asked: Sequence[ComparedAnswer],
    interruption: tuple[str, str] | None,
    promised: Sequence[PromisedAnswer] = (),
    refused: str | None = None,
) -> Verdict:
    """Judge an examination: every answer must be the predicted one.

    Args:
        asked: the questions with both answers; of one that ended early only those that were answered.
        interruption: (verdict word, message) of what ended it early; None if nothing did.
        promised: what was promised; most examinations promise nothing.
        refused: the first frame that the rules do not allow, if there is one.
    """
    findings = (*_question_findings(asked), *([Finding("frame", refused, TRACE)] if refused is not None else []))
    conforms = (Conformance.CONFORMS, f"{_counted(len(asked), 'answer')} as predicted")
    conformance, reason = _what_speaks_against(interruption, findings) or conforms
    promise, why = promises_of_answers(promised) if interruption is None else (None, None)
    whole = f"{reason}; {why}" if why else reason
    lost = tuple(losses_by_answers(promised)) if promise is not None else ()
    return Verdict(
        conformance, promise, whole, findings, lost, codes=_codes(interruption, findings), promise_reason=why
    )


def _codes(interruption: tuple[str, str] | None, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return what deviates, each word once."""
    codes = {finding.code or finding.kind for finding in findings}
    if interruption is not None and interruption[0] == Conformance.DEVIATES:
        codes.add(AWAITED_STATE)
    return tuple(sorted(codes))


def not_run(reason: str) -> Verdict:
    """Return the verdict of a scenario that does not apply."""
    return Verdict(Conformance.NOT_RUN, None, reason)


def _row_findings(rows: Iterable[ComparedRow]) -> list[Finding]:
    return [
        Finding(row.kind, f"{row.what}: predicted {row.predicted}, measured {row.measured}", row.code)
        for row in rows
        if not row.agrees
    ]


def _epoch_findings(facts: Facts) -> list[Finding]:
    return [Finding("epoch", conflict, LEADER_EPOCH) for conflict in facts.conflicts]


def _question_findings(asked: Iterable[ComparedAnswer]) -> tuple[Finding, ...]:
    return tuple(
        Finding("question" if one.stall_ms is None else STALL, one.text, QUESTION) for one in asked if not one.agrees
    )


def _record_findings(facts: Facts) -> list[Finding]:
    if facts.counts is None or not facts.counts.deviations:
        return []
    sample = facts.samples.deviations
    findings = [
        Finding(row.kind, f"{_named(row)}: expected {row.expected}, measured {row.measured}", row.anomaly)
        for row in sample
    ]
    rest = facts.counts.deviations - len(sample)
    return [*findings, Finding("record", f"{rest} more deviations", UNSAMPLED)] if rest > 0 else findings


def _trace_findings(facts: Facts) -> list[Finding]:
    if facts.trace is None or facts.trace.violation is None:
        return []
    return [Finding("trace", facts.trace.violation.text, TRACE)]


def _every_run_findings(facts: Facts) -> list[Finding]:
    """Return where a requirement of every run did not hold at a probe; what broke it on the wire is told already."""
    on_the_wire = None if facts.trace is None or facts.trace.violation is None else facts.trace.violation.text
    return [
        Finding("every run", f"{held.requirement}: {words}", NOT_HELD)
        for held in facts.every_run
        for words in held.broken
        if words != on_the_wire
    ]


def _named(row: DeviationSample) -> str:
    """Name what deviates: a place in a replica's log, or a record; a phantom has no label and may have no id."""
    if row.broker is not None:
        return f"log of broker {row.broker}, offset {row.offset}"
    if row.label is not None:
        return row.label
    return "a foreign record" if row.record_id is None else f"record {row.record_id}"


def _conformance(facts: Facts, findings: Sequence[Finding]) -> tuple[Conformance, str]:
    if facts.counts is not None and not facts.counts.identity_holds:
        first = f": {findings[0].text}" if findings else ""
        return Conformance.HARNESS_ERROR, f"the reconciliation's own counts do not add up{first}"
    against = _what_speaks_against(facts.interruption, findings)
    if against is not None:
        return against
    if facts.counts is None:
        return Conformance.HARNESS_ERROR, "the records were never reconciled"
    if facts.trace is None or facts.trace.why_not is not None:
        why = facts.trace.why_not if facts.trace is not None else "nobody did"
        return Conformance.HARNESS_ERROR, f"{WIRE_UNCHECKED}: {why}"
    produced = facts.counts.totals.produced
    noun = "record" if produced == 1 else "records"
    answers = f", {_counted(len(facts.asked), 'answer')}" if facts.asked else ""
    text = (
        f"{len(facts.rows)} numbers{answers} and {produced} {noun} as predicted, {facts.trace.shown} frames as allowed"
    )
    return Conformance.CONFORMS, text + _which_outcome(facts.prediction)


def _what_speaks_against(
    interruption: tuple[str, str] | None, findings: Sequence[Finding]
) -> tuple[Conformance, str] | None:
    """Return what a run is that ended early or has findings; None if nothing speaks against it."""
    findings = sorted(findings, key=lambda finding: finding.kind == STALL)
    if interruption is not None:
        word, message = interruption
        if word == Conformance.DEVIATES or any(finding.kind != STALL for finding in findings):
            how = message if message.startswith(EVIDENCE_INCOMPLETE) else f"ended early: {message}"
            return Conformance.DEVIATES, f"{findings[0].text}; {how}" if findings else message
        return Conformance(word), message
    if findings:
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        if all(finding.kind == STALL for finding in findings):
            return Conformance.INCONCLUSIVE, findings[0].text + more
        return Conformance.DEVIATES, findings[0].text + more
    return None


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _which_outcome(prediction: FrozenPrediction) -> str:
    """Return which outcome of an open race was measured."""
    measured = prediction.measured_outcome
    if measured is None:
        return ""
    return f", outcome {measured.number} of {measured.of}: {'; '.join(measured.race)}"


def exit_code(verdicts: Iterable[tuple[Conformance, PromiseKept | None]], *, require_promise: bool = False) -> int:
    """Return the process's exit code: 1 deviates, 4 harness error, 3 inconclusive, 0 conforms, in that order."""
    codes = {EXIT_CODES[conformance] for conformance, _ in verdicts} | {0}
    if require_promise and any(p is PromiseKept.BROKEN_AS_PREDICTED for _, p in verdicts):
        codes.add(1)
    return next(code for code in EXIT_PRECEDENCE if code in codes)
