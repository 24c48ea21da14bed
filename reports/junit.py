"""What does a CI server read? JUnit XML, a suite a cluster, a test case a scenario.

DEVIATES and INCONCLUSIVE are failures, HARNESS_ERROR is an error, NOT_RUN is skipped. A promise
broken as predicted is no failure: the brokers did what their version does. It is a property of its
test case, and in its output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.record.verdict import Conformance
from reports.verdict_words import CONFORMANCE_LOOKS, NOT_JUDGED, PROMISE_LOOKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.model import RunView
    from reports.wire import Wire

_RESULTS = {
    Conformance.DEVIATES: "failure",
    Conformance.INCONCLUSIVE: "failure",
    Conformance.HARNESS_ERROR: "error",
    Conformance.NOT_RUN: "skipped",
}
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render_junit(runs: Sequence[RunView]) -> str:
    """Return junit.xml."""
    root = Element("testsuites", {"name": "kafka-conformance", **_counts(runs)})
    suites: dict[str, list[RunView]] = {}
    for run in runs:
        suites.setdefault(_suite_name(run), []).append(run)
    for name, members in suites.items():
        suite = SubElement(root, "testsuite", {"name": name, **_counts(members)})
        started = [run.started for run in members if run.started]
        if started:
            suite.set("timestamp", min(started).isoformat(timespec="seconds"))
        for run in members:
            _case(suite, run)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite_name(run: RunView) -> str:
    return ".".join(part for part in (f"kafka-{run.kafka}", run.metadata, run.label, run.backend) if part)


def _counts(runs: Sequence[RunView]) -> dict[str, str]:
    results = [_RESULTS.get(run.verdict.conformance) for run in runs]
    counts = {name: str(results.count(result)) for name, result in _COUNTED.items()}
    return {"tests": str(len(runs)), **counts, "time": f"{sum(run.seconds or 0 for run in runs):.3f}"}


def _case(suite: Element, run: RunView) -> None:
    classname = run.schedule_id.replace("/", ".") or run.run
    case = SubElement(suite, "testcase", classname=classname, name=run.name, time=f"{run.seconds or 0:.3f}")
    properties = SubElement(case, "properties")
    for key, value in _properties(run).items():
        SubElement(properties, "property", name=key, value=value)
    result = _RESULTS.get(run.verdict.conformance)
    if result:
        body = SubElement(case, result, message=run.verdict.reason)
        if result != "skipped":
            body.set("type", run.verdict.conformance.value)
        body.text = "\n".join(f"{item.kind}: {item.text}" for item in run.verdict.findings) or None
    SubElement(case, "system-out").text = _output(run)


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
