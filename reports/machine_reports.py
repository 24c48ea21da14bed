"""What can a program read? report.json, a line a run; and JUnit XML for a CI server."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from conformance.record.directory import as_plain
from conformance.record.verdict import Conformance, PromiseKept
from reports.baseline import JSON_NAME, changes_since, read_baseline
from reports.junit import JunitCase, JunitSuite, junit_text
from reports.load import load_runs
from reports.promises import broken_promise
from reports.run_pages import write_pages
from reports.verdict_words import CONFORMANCE_LOOKS, NOT_JUDGED, PROMISE_LOOKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reports.baseline import ChangesSince
    from reports.junit import JunitResult
    from reports.model import RunView
    from reports.operators import WhatIsLost
    from reports.wire import Wire


def render_json(runs: Sequence[RunView], since: ChangesSince | None = None) -> str:
    """Return report.json: every run with both verdicts, then the counts; zero counts are present.

    With a baseline also what has changed since.
    """
    conformance = Counter(run.verdict.conformance for run in runs)
    promise = Counter(run.verdict.promise for run in runs)
    report: dict[str, object] = {
        "runs": [_run(run) for run in runs],
        "summary": {
            "runs": len(runs),
            "conformance": {word.value: conformance[word] for word in Conformance},
            "promise": {**{word.value: promise[word] for word in PromiseKept}, NOT_JUDGED: promise[None]},
        },
    }
    if since is not None:
        report["since_baseline"] = as_plain(since)
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


def write_report(
    runs: Sequence[Path],
    out: Path,
    baseline: Path | None = None,
    tell: Callable[[ChangesSince], None] = lambda _: None,
    what_is_lost: WhatIsLost | None = None,
) -> Path:
    """Write ``out`` (report.html), and ``junit.xml``, ``report.json`` and the pages of many runs beside it.

    Args:
        runs: run directories; one that cannot be read is reported as HARNESS_ERROR.
        out: path of the HTML page; missing folders are made.
        baseline: an earlier report to compare with: its report.json, or the directory that has it.
        tell: told what has changed since the baseline, if there is one.
        what_is_lost: tells what the model finds of the settings of the runs.

    Returns:
        The path of the page.

    Raises:
        RunDirectoryError: the baseline is no report; nothing is written.
    """
    before = None if baseline is None else read_baseline(baseline)
    views = load_runs(runs)
    since = None if before is None else changes_since(before, views)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_pages(views, out, since, what_is_lost)
    (out.parent / JUNIT_NAME).write_text(render_junit(views), encoding="utf-8")
    (out.parent / JSON_NAME).write_text(render_json(views, since), encoding="utf-8")
    if since is not None:
        tell(since)
    return out


# What does a CI server read? JUnit XML, a suite a cluster, a test case a scenario.
#
# DEVIATES and INCONCLUSIVE are failures, HARNESS_ERROR is an error, NOT_RUN is skipped. A promise
# broken as predicted is no failure: the brokers did what their version does. It is a property of its
# test case, and in its output.


_RESULTS: dict[Conformance, JunitResult] = {
    Conformance.DEVIATES: "failure",
    Conformance.INCONCLUSIVE: "failure",
    Conformance.HARNESS_ERROR: "error",
    Conformance.NOT_RUN: "skipped",
}


def render_junit(runs: Sequence[RunView]) -> str:
    """Return junit.xml."""
    suites: dict[str, list[RunView]] = {}
    for run in runs:
        suites.setdefault(_suite_name(run), []).append(run)
    return junit_text([_suite(name, members) for name, members in suites.items()])


def _suite_name(run: RunView) -> str:
    return ".".join(part for part in (f"kafka-{run.kafka}", run.metadata, run.label, run.backend) if part)


def _suite(name: str, members: Sequence[RunView]) -> JunitSuite:
    started = [run.started for run in members if run.started]
    timestamp = min(started).isoformat(timespec="seconds") if started else None
    return JunitSuite(name, [_case(run) for run in members], timestamp)


def _case(run: RunView) -> JunitCase:
    result = _RESULTS.get(run.verdict.conformance)
    return JunitCase(
        classname=run.schedule_id.replace("/", ".") or run.run,
        name=run.name,
        output=_output(run),
        result=result,
        message=run.verdict.reason,
        kind=None if result == "skipped" else run.verdict.conformance.value,
        details="\n".join(f"{item.kind}: {item.text}" for item in run.verdict.findings),
        properties=_properties(run),
        seconds=run.seconds or 0,
    )


def _properties(run: RunView) -> dict[str, str]:
    return {
        "conformance": run.verdict.conformance.value,
        "promise": run.verdict.promise.value if run.verdict.promise else NOT_JUDGED,
        "seed": run.seed,
        "run": run.run,
        **({"answers": _answers(run)} if run.asked else {}),
        **_wire_properties(run.wire),
    }


def _answers(run: RunView) -> str:
    right = sum(one.agrees is True for one in run.asked)
    return f"{right} of {len(run.asked)} as predicted"


def _wire_properties(wire: Wire | None) -> dict[str, str]:
    if wire is None:
        return {}
    held = " ".join(f"{invariant.number}:{invariant.held}" for invariant in wire.invariants)
    return {
        "wire": wire.answer.value,
        "wire.frames": str(wire.frames),
        "wire.events": str(wire.events),
        "wire.held": held,
    }


def _output(run: RunView) -> str:
    lines = [
        run.requirement,
        f"conformance: {CONFORMANCE_LOOKS[run.verdict.conformance].word}. {run.verdict.reason}",
        f"promise: {PROMISE_LOOKS[run.verdict.promise].word}.",
        *([f"answers: {_answers(run)}"] if run.asked else ()),
        *([f"wire: {run.wire.sentence}"] if run.wire is not None else ()),
        *(f"lost {loss.label}: {loss.reason}" for loss in run.verdict.losses),
    ]
    return "\n".join(line for line in lines if line)
