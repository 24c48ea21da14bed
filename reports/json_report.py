"""What can a program read? One line a run and the counts of both verdicts, as report.json."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance, PromiseKept
from reports.html import render_html
from reports.junit import render_junit
from reports.load import load_runs
from reports.promises import broken_promise
from reports.verdict_words import NOT_JUDGED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reports.model import RunView
    from reports.wire import Wire


def render_json(runs: Sequence[RunView]) -> str:
    """Return report.json: every run with both verdicts, then the counts; zero counts are present."""
    conformance = Counter(run.verdict.conformance for run in runs)
    promise = Counter(run.verdict.promise for run in runs)
    report = {
        "runs": [_run(run) for run in runs],
        "summary": {
            "runs": len(runs),
            "conformance": {word.value: conformance[word] for word in Conformance},
            "promise": {**{word.value: promise[word] for word in PromiseKept}, NOT_JUDGED: promise[None]},
        },
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def _run(run: RunView) -> dict[str, object]:
    promise = run.verdict.promise
    return {
        "scenario": run.name,
        "variant": run.variant or None,
        "kafka": run.kafka,
        "metadata": run.metadata,
        "label": run.label or None,
        "build": run.build or None,
        "backend": run.backend,
        "conformance": run.verdict.conformance.value,
        "promise": None if promise is None else promise.value,
        "reason": run.verdict.reason,
        "promise_broken_by": None if (broken := broken_promise(run)) is None else broken.cause,
        "by_rules_of": run.rules or None,
        "seconds": run.seconds,
        "run": run.run,
        "questions": [
            {"what": one.what, "predicted": one.predicted, "measured": one.measured, "agrees": one.agrees}
            for one in run.asked
        ],
        "wire": _wire(run.wire),
    }


def _wire(wire: Wire | None) -> dict[str, object] | None:
    if wire is None:
        return None
    return {
        "answer": wire.answer.value,
        "says": wire.sentence,
        "rules_of": wire.rules_of,
        "frames": wire.frames,
        "shown": dict(wire.shown),
        "events": wire.events,
        "held": {str(invariant.number): invariant.held for invariant in wire.invariants},
    }


# Which files does a report consist of? One page for people, two beside it for machines.


JUNIT_NAME = "junit.xml"
JSON_NAME = "report.json"


def write_report(runs: Sequence[Path], out: Path) -> Path:
    """Write ``out`` (report.html) with ``junit.xml`` and ``report.json`` beside it.

    Args:
        runs: run directories; one that cannot be read is reported as HARNESS_ERROR.
        out: path of the HTML page; missing folders are made.

    Returns:
        The path of the page.
    """
    views = load_runs(runs)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(render_html(views, out.parent), encoding="utf-8")
    (out.parent / JUNIT_NAME).write_text(render_junit(views), encoding="utf-8")
    (out.parent / JSON_NAME).write_text(render_json(views), encoding="utf-8")
    return out
