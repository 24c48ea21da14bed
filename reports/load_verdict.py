"""What was the verdict? Read from verdict.json; a run without one is a harness error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reports.model import Finding, Loss, VerdictView
from reports.run_files import BrokenRunDirectory
from reports.verdict_words import Conformance, Promise

if TYPE_CHECKING:
    from collections.abc import Mapping

INTERRUPTED = "the tester was interrupted before the run ended"
"""What run.json says of a run that Ctrl-C or SIGTERM ended."""


def load_verdict(verdict: Mapping[str, Any], run: Mapping[str, Any], prediction: Mapping[str, Any]) -> VerdictView:
    """Return both answers with their reasons.

    Raises:
        BrokenRunDirectory: the file holds a word that is no verdict.
    """
    if not verdict:
        return _without_verdict(run)
    conformance = _conformance(verdict.get("conformance"))
    failure = run.get("harness_failure") or {}
    return VerdictView(
        conformance=conformance,
        promise=_promise(verdict.get("promise")),
        reason=str(verdict.get("reason") or ""),
        findings=tuple(_finding(item) for item in verdict.get("findings") or ()),
        losses=tuple(_loss(item) for item in verdict.get("losses") or _predicted_losses(prediction)),
        is_cut_short=conformance is Conformance.HARNESS_ERROR and failure.get("message") == INTERRUPTED,
    )


def _without_verdict(run: Mapping[str, Any]) -> VerdictView:
    failure = run.get("harness_failure") or {}
    reason = failure.get("message") or "The run ended before it was judged: there is no verdict.json."
    kind = str(failure.get("kind") or "harness")
    findings = (Finding(kind, str(reason)),) if failure else ()
    is_cut_short = not failure or reason == INTERRUPTED
    return VerdictView(Conformance.HARNESS_ERROR, Promise.NOT_JUDGED, str(reason), findings, is_cut_short=is_cut_short)


def _conformance(word: object) -> Conformance:
    try:
        return Conformance(str(word))
    except ValueError as error:
        raise BrokenRunDirectory(f"verdict.json: {word!r} is no conformance verdict") from error


def _promise(word: object) -> Promise:
    if word is None:
        return Promise.NOT_JUDGED
    try:
        return Promise(str(word))
    except ValueError as error:
        raise BrokenRunDirectory(f"verdict.json: {word!r} is no promise verdict") from error


def _finding(item: Mapping[str, Any]) -> Finding:
    return Finding(kind=str(item.get("kind") or "finding"), text=str(item.get("text") or ""))


def _loss(item: Mapping[str, Any]) -> Loss:
    return Loss(
        label=str(item.get("label") or ""),
        promise=str(item.get("promise") or ""),
        reason=str(item.get("reason") or ""),
    )


def _predicted_losses(prediction: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"label": record.get("label"), "promise": record.get("promise"), "reason": record["promise_reason"]}
        for record in prediction.get("records") or ()
        if record.get("fate") == "lost" and record.get("promise_reason")
    ]
