"""What was the verdict, what did the wire check find, and what did each checkpoint compare?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance, Finding
from reports.model import CheckpointView, ComparisonView, VerdictView
from reports.version_matrix import metadata_words
from reports.wire import Wire, WireFrame, WireInvariant, WireViolation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.record.reconciliation import ComparedCheckpoint
    from conformance.record.run import Run
    from conformance.record.trace_check import TraceResult, TraceViolation
    from conformance.record.verdict import Verdict

INTERRUPTED = "the tester was interrupted before the run ended"
"""What run.json says of a run that Ctrl-C or SIGTERM ended."""


def verdict_view(verdict: Verdict | None, about: Run) -> VerdictView:
    """Return both answers with their reasons; a run without verdict.json is a harness error."""
    failure = about.harness_failure
    if verdict is None:
        reason = failure.message if failure else "The run ended before it was judged: there is no verdict.json."
        findings = (Finding(failure.kind, reason),) if failure else ()
        is_cut_short = failure is None or reason == INTERRUPTED
        return VerdictView(Conformance.HARNESS_ERROR, None, reason, findings, is_cut_short=is_cut_short)
    is_cut_short = failure is not None and failure.message == INTERRUPTED
    return VerdictView(
        conformance=verdict.conformance,
        promise=verdict.promise,
        reason=verdict.reason,
        findings=verdict.findings,
        losses=verdict.losses,
        promise_reason=verdict.promise_reason or "",
        is_cut_short=is_cut_short and verdict.conformance is Conformance.HARNESS_ERROR,
    )


def wire_of(checked: TraceResult | None) -> Wire | None:
    """Return what the check of the wire trace found; None for a run that was never checked."""
    if checked is None:
        return None
    version, _, metadata = checked.rules_of.partition(" ")
    return Wire(
        rules_of=f"{version} {metadata_words(metadata)}".strip(),
        frames=checked.frames,
        shown=checked.checked,
        events=checked.events,
        invariants=tuple(WireInvariant(each.number, each.statement, each.held) for each in checked.invariants),
        violation=None if checked.violation is None else _violation(checked.violation),
        why_not=checked.why_not or "",
    )


def _violation(said: TraceViolation) -> WireViolation:
    return WireViolation(
        where=f"At {said.at_s:.3f} s" if said.frame is None else f"Frame {said.frame}",
        observed=said.observed,
        allowed=said.allowed,
        invariant=f"{said.invariant}, {said.name.replace('_', ' ')}",
        rule=said.rule,
        frames=tuple(
            WireFrame(each.seq, each.at_s, each.text, is_the_one=each.seq == said.frame) for each in said.frames
        ),
    )


def checkpoint_views(compared: Iterable[ComparedCheckpoint]) -> tuple[CheckpointView, ...]:
    """Return the checkpoints in schedule order, as the judge compared them."""
    return tuple(
        CheckpointView(
            number,
            one.name,
            tuple(
                ComparisonView(row.what, number_words(row.predicted), number_words(row.measured), agrees=row.agrees)
                for row in one.rows
            ),
        )
        for number, one in enumerate(compared, start=1)
    )


def number_words(value: object) -> str:
    """Return a checkpoint's value as words: none, 2, or {1, 2}."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return "{" + ", ".join(str(item) for item in value) + "}"
        case _:
            return str(value)
