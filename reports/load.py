"""How does a run directory become a view? Every part that exists is read; what is broken is said.

A directory that cannot be read never stops a report: it becomes a run with the verdict HARNESS_ERROR
and the reason, beside the healthy ones.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from reports.load_answers import load_answers
from reports.load_checkpoints import load_checkpoints
from reports.load_evidence import load_evidence
from reports.load_logs import load_final_logs
from reports.load_race import load_race, raced_steps
from reports.load_records import load_records
from reports.load_story import load_story
from reports.load_verdict import load_verdict
from reports.load_wire import load_wire
from reports.model import RunView, VerdictView
from reports.run_files import BrokenRunDirectory, read_object
from reports.verdict_words import Conformance, Promise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def load_runs(runs: Sequence[Path]) -> tuple[RunView, ...]:
    """Return one view a run directory, in the given order, with anchors that differ."""
    views: list[RunView] = []
    seen: dict[str, int] = {}
    for path in runs:
        view = load_run(path)
        seen[view.anchor] = seen.get(view.anchor, 0) + 1
        times = seen[view.anchor]
        views.append(view if times == 1 else replace(view, anchor=f"{view.anchor}--{times}"))
    return tuple(views)


def load_run(path: Path) -> RunView:
    """Return the view of one run directory; a broken one is a HARNESS_ERROR with its reason."""
    view = _unread(path, "")
    try:
        run = read_object(path / "run.json")
        if not run:
            return _unread(path, "there is no run.json in this directory")
        view = _described(path, run)
        return _with_parts(path, view, run)
    except BrokenRunDirectory as error:
        return replace(view, verdict=_unreadable(str(error)))
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        return replace(view, verdict=_unreadable(f"{type(error).__name__}: {error}"))


def _described(path: Path, run: Mapping[str, Any]) -> RunView:
    name, variant = str(run.get("scenario") or path.name), str(run.get("variant") or "")
    scenario = name.removesuffix(f"/{variant}")
    kafka, metadata = str(run.get("kafka") or "?"), str(run.get("metadata") or "")
    settings = run.get("settings") or {}
    return RunView(
        name=name,
        anchor=_slug(scenario, variant, kafka, metadata, str(run.get("backend") or "")),
        path=path,
        run=str(run.get("run") or path.name),
        scenario=scenario,
        schedule_id=str(run.get("schedule_id") or ""),
        requirement=str(run.get("requirement") or ""),
        sources=tuple(str(source) for source in run.get("sources") or ()),
        variant=variant,
        kafka=kafka,
        metadata=metadata,
        backend=str(run.get("backend") or ""),
        seed="" if run.get("seed") is None else str(run["seed"]),
        started=_time(run.get("started")),
        seconds=None if run.get("seconds") is None else float(run["seconds"]),
        verdict=_unreadable("the run was not judged"),
        explanation=str(run.get("explanation") or ""),
        is_examination=run.get("kind") == "examination",
        basis=str(run.get("basis") or ""),
        told_steps=tuple(str(step) for step in run.get("steps") or ()),
        user_settings=_words(settings.get("user")),
        imposed_settings=_words(settings.get("imposed")),
        environment=_words(run.get("environment")),
        quirks=tuple(str(quirk) for quirk in run.get("quirks") or ()),
        identity=_identity(run),
    )


def _with_parts(path: Path, view: RunView, run: Mapping[str, Any]) -> RunView:
    schedule = read_object(path / "schedule.json")
    outcome = path / "outcome" / "prediction.json"  # where a race was open: the outcome that fits
    prediction = read_object(outcome if outcome.exists() else path / "prediction" / "prediction.json")
    verdict_file = read_object(path / "verdict.json")
    records = load_records(path, run, schedule, prediction)
    race = load_race(prediction)
    return replace(
        view,
        seconds=view.seconds if view.seconds is not None else verdict_file.get("seconds"),
        verdict=load_verdict(verdict_file, run, prediction),
        race=race,
        story=replace(load_story(path, schedule, prediction), raced_steps=raced_steps(race)),
        checkpoints=load_checkpoints(path, prediction),
        records=records,
        final_logs=load_final_logs(path, run, prediction, records),
        evidence=load_evidence(path),
        asked=load_answers(path),
        wire=load_wire(read_object(path / "trace_check.json")),
    )


def _identity(run: Mapping[str, Any]) -> dict[str, str]:
    prediction, digests = run.get("prediction") or {}, run.get("digests") or {}
    facts = {
        "Prediction frozen at": prediction.get("frozen_at"),
        "Prediction sha256": prediction.get("sha256"),
        "Jars": digests.get("jars"),
        "Image": digests.get("image"),
        "Topic": run.get("topic"),
        "Brokers": ", ".join(str(broker) for broker in run.get("brokers") or ()),
        "Controller": run.get("controller"),
        "Runs before on its cluster": ", ".join(run.get("cluster_runs") or ()),
        "The cluster afterwards": run.get("not_healed"),
    }
    return {name: str(value) for name, value in facts.items() if value not in {None, ""}}


def _unread(path: Path, reason: str) -> RunView:
    return RunView(
        name=path.name,
        anchor=_slug(path.name),
        path=path,
        run=path.name,
        scenario=path.name,
        schedule_id="",
        requirement="",
        sources=(),
        variant="",
        kafka="?",
        metadata="",
        backend="",
        seed="",
        started=None,
        seconds=None,
        verdict=_unreadable(reason),
    )


def _unreadable(reason: str) -> VerdictView:
    return VerdictView(Conformance.HARNESS_ERROR, Promise.NOT_JUDGED, f"The run directory cannot be used: {reason}.")


def _slug(*parts: str) -> str:
    words = "-".join(part for part in parts if part)
    return "run-" + re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None


def _words(values: Mapping[str, object] | None) -> dict[str, str]:
    return {str(name): str(value) for name, value in (values or {}).items()}
