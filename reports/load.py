"""How does a run directory become a view? Every part that exists is read; what is broken is said.

A directory that cannot be read never stops a report: it becomes a run with the verdict HARNESS_ERROR and the reason,
beside the healthy ones. Control characters in any text become U+FFFD, so that no name in a run can break a page.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from conformance.record.answers import read_compared, read_predicted
from conformance.record.directory import RunDirectory, RunDirectoryError, cleaned
from conformance.record.observations import read_observations
from conformance.record.prediction import OUTCOME_FILE, PREDICTION_FILE, read_prediction
from conformance.record.reconciliation import read_checkpoints, read_counts, read_record_classes
from conformance.record.replica_logs import read_replica_logs
from conformance.record.run import RUN_FILE, read_run
from conformance.record.schedule import SCHEDULE_FILE, read_schedule_in_words
from conformance.record.timeline import read_timeline
from conformance.record.trace_check import read_trace_check
from conformance.record.transaction_course import COURSE_FILE, read_course
from conformance.record.verdict import Conformance, read_verdict
from oracle.vocabulary import ELIGIBLE_LEADER_REPLICAS
from reports.load_results import checkpoint_views, final_logs, records_of, verdict_view, wire_of
from reports.load_story import race_of, raced_steps, story_of
from reports.model import EvidenceFile, Files, QuestionView, RunView, VerdictView
from reports.version_matrix import metadata_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from conformance.record.prediction import FrozenPrediction
    from conformance.record.run import Run

T = TypeVar("T")


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
    view, run = _unread(path, ""), RunDirectory(path)
    if not (path / RUN_FILE).exists():
        return _unread(path, f"there is no {RUN_FILE} in this directory")
    try:
        about = cleaned(read_run(run))
        view = _described(path, about)
        return _with_parts(run, view, about)
    except RunDirectoryError as error:
        return replace(view, verdict=_unreadable(_without_place(str(error), path)))


def _described(path: Path, about: Run) -> RunView:
    name, variant = about.scenario or path.name, about.variant or ""
    scenario = name.removesuffix(f"/{variant}")
    return RunView(
        name=name,
        anchor=_slug(scenario, variant, about.kafka, about.metadata, about.label or "", about.backend or ""),
        path=path,
        run=about.run or path.name,
        scenario=scenario,
        schedule_id=about.schedule_id or "",
        requirement=about.requirement or "",
        sources=about.sources,
        variant=variant,
        kafka=about.kafka,
        metadata=about.metadata,
        backend=about.backend or "",
        seed="" if about.seed is None else str(about.seed),
        started=_time(about.started),
        seconds=about.seconds,
        verdict=_unreadable("the run was not judged"),
        explanation=about.explanation or "",
        is_examination=about.is_examination,
        rules=" ".join((about.rules_of, metadata_words(about.rules[1]))) if about.rules_of else "",
        basis=about.basis or "",
        told_steps=about.steps or (),
        user_settings=about.settings.user,
        imposed_settings=about.settings.imposed,
        environment=_environment(about),
        quirks=about.quirks,
        identity=_identity(about),
        label=about.label or "",
        build=about.build or "",
    )


def _with_parts(run: RunDirectory, view: RunView, about: Run) -> RunView:
    files = _files(run)
    verdict, prediction = files.verdict, files.prediction
    records = records_of(about, files)
    race = race_of(prediction)
    return replace(
        view,
        seconds=view.seconds if view.seconds is not None or verdict is None else verdict.seconds,
        verdict=verdict_view(verdict, about),
        race=race,
        story=replace(story_of(files, f"{about.topic}-0" if about.topic else ""), raced_steps=raced_steps(race)),
        checkpoints=checkpoint_views(files.checkpoints),
        has_elr=prediction is None or ELIGIBLE_LEADER_REPLICAS in prediction.rules,
        records=records,
        final_logs=final_logs(about, files, records),
        evidence=load_evidence(run.path),
        asked=_asked(run),
        course=_clean(read_course, run),
        wire=wire_of(_clean(read_trace_check, run)),
        every_run=() if verdict is None else verdict.every_run,
    )


def _files(run: RunDirectory) -> Files:
    """Read what several parts of the view are made of."""
    return Files(
        schedule=_clean(read_schedule_in_words, run) if run.has(SCHEDULE_FILE) else None,
        prediction=_prediction(run),
        verdict=_clean(read_verdict, run),
        timeline=cleaned(read_timeline(run, may_be_cut=True)),
        observations=cleaned(read_observations(run, may_be_cut=True)),
        counts=_clean(read_counts, run),
        classes=_clean(read_record_classes, run),
        checkpoints=_clean(read_checkpoints, run),
        replica_logs=_clean(read_replica_logs, run) if any((run.path / "replica_logs").glob("*.parquet")) else None,
    )


def _prediction(run: RunDirectory) -> FrozenPrediction | None:
    """Read the prediction; where a race was open, the outcome that fits."""
    name = next((name for name in (OUTCOME_FILE, PREDICTION_FILE) if run.has(name)), None)
    return None if name is None else cleaned(read_prediction(run, name))


def _clean(read: Callable[[RunDirectory], T], run: RunDirectory) -> T:
    return cleaned(read(run))


def _environment(about: Run) -> dict[str, str]:
    where = about.environment
    if where is None:
        return {}
    facts = {"java": where.java, "python": where.python, "os": where.os, "cores": where.cores, "tester": where.tester}
    return {name: str(value) for name, value in facts.items() if value not in {None, ""}}


def _identity(about: Run) -> dict[str, str]:
    frozen = about.prediction
    facts = {
        "Prediction frozen at": None if frozen is None else frozen.frozen_at,
        "Prediction sha256": None if frozen is None else frozen.sha256,
        "Jars": about.digests.jars,
        "Image": about.digests.image,
        "Topic": about.topic,
        "Brokers": ", ".join(str(broker) for broker in about.brokers),
        "Controller": about.controller,
        "Runs before on its cluster": ", ".join(about.cluster_runs or ()),
        "The cluster afterwards": about.not_healed,
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
    return VerdictView(Conformance.HARNESS_ERROR, None, f"The run directory cannot be used: {reason}.")


def _without_place(text: str, path: Path) -> str:
    """Return an error without the directory, which the page names already."""
    return text.replace(f"{path}/", "")


def _slug(*parts: str) -> str:
    words = "-".join(part for part in parts if part)
    return "run-" + re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _time(value: str | None) -> datetime | None:
    try:
        return None if value is None else datetime.fromisoformat(value)
    except ValueError:
        return None


def _asked(run: RunDirectory) -> tuple[QuestionView, ...]:
    """Return every question; first those that were answered or judged, then those that were never reached."""
    compared = _clean(read_compared, run)
    known = {one.what for one in compared}
    unreached = (one for one in _clean(read_predicted, run) or () if one.what not in known)
    return (
        *(
            QuestionView(one.what, one.predicted or "", one.measured or "", one.why_not or "", one.agrees, one.parts)
            for one in compared
        ),
        *(QuestionView(one.what, one.in_words, "", "", agrees=None) for one in unreached),
    )


_FILES: Mapping[str, str] = {
    "verdict.json": "both verdicts and every finding",
    "prediction/prediction.json": "what the model said before the first step",
    "outcome/prediction.json": "where a race was open: the outcome that fits what was measured",
    "prediction/questions.json": "what was asked besides, and what the model said before the first step",
    COURSE_FILE: "what each request of a script of transactions does by the rules, frozen with the answers",
    "schedule.json": "the steps, as both interpreters read them",
    "run.json": "versions, settings, digests, seed",
    "observations.ndjson": "every number that was measured",
    "answers.ndjson": "every answer, as it was measured",
    "timeline.ndjson": "every step, fault and held frame with its time",
    "wire.ndjson": "every frame between the brokers, and between them and the controller",
    "trace_check.json": "what the model says of these frames",
    "ledger": "what was sent, and what the producer was told",
    "topic": "what was read back from the topic",
    "replica_logs": "the decoded segments of every replica",
    "reconciliation/counts.json": "how many records fell into each class",
    "reconciliation/samples.json": "offending records",
    "reconciliation/records.json": "each record's class, predicted and measured",
    "reconciliation/checkpoints.json": "every number of every checkpoint, compared",
    "reconciliation/questions.json": "every answer, compared",
}
"""Which files a doubting reader can open: those of the run directory that exist, with what they say."""


def load_evidence(path: Path) -> tuple[EvidenceFile, ...]:
    """Return the run's files that exist, in reading order, the brokers' own logs last."""
    fixed = [EvidenceFile(name, path / name, says) for name, says in _FILES.items() if (path / name).exists()]
    logs = sorted((path / "brokers").glob("*/server.log"))
    brokers = [EvidenceFile(str(log.relative_to(path)), log, f"what broker {log.parent.name} logged") for log in logs]
    return (*fixed, *brokers)
