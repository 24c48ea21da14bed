"""What can a program read? One line a run and the counts of both verdicts, as report.json."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from reports.verdict_words import Conformance, Promise

if TYPE_CHECKING:
    from collections.abc import Sequence

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
            "promise": {word.value: promise[word] for word in Promise},
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
        "backend": run.backend,
        "conformance": run.verdict.conformance.value,
        "promise": None if promise is Promise.NOT_JUDGED else promise.value,
        "reason": run.verdict.reason,
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
