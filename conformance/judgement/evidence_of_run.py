"""Does run.json say everything that a run says of itself, and the same as the other files?

Pure. What stands there alone, such as the machine, can only be missing; what another file or field repeats is compared.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from conformance.record.directory import FIRST_FORMAT, is_run_name, topic_name
from conformance.record.run import BACKENDS, record_id_base_of
from conformance.record.verdict import Conformance
from conformance.schedules.topic_settings import user_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.judgement.evidence_of_frames import Frames
    from conformance.record.run import HarnessFailure, Run
    from oracle.schedule import Schedule

ALWAYS = ("run", "scenario", "explanation", "basis", "backend", "seed", "started", "environment")
"""What run.json says of every run."""
ON_BROKERS = ("controller", "cluster_runs", "refused_connections", "undecodable_frames")
"""What it says besides of a scenario's run that took its course."""
FETCH_WAIT = "replica.fetch.wait.max.ms"
SESSIONS = "max.incremental.fetch.session.cache.slots"
ROUNDED_S = 2.0
"""By how much seconds and the times of start and end, which are whole seconds, may differ."""
_NODE = re.compile(r"(broker|controller|zookeeper)-\d+ ")


def told_complaints(about: Run) -> Iterator[str]:
    """Yield what run.json does not say, or says of itself in two ways; the first format said less."""
    if about.format == FIRST_FORMAT:
        return
    yield from (f"run.json does not say {name}" for name in ALWAYS if getattr(about, name) is None)
    where = about.environment
    if where is not None and not (where.java and where.python and where.os and where.cores and where.tester):
        yield "run.json does not say all of the environment"
    if about.backend is not None and about.backend not in BACKENDS:
        yield f"run.json says backend {about.backend}"
    if about.backend == "process" and about.digests.jars is None:
        yield "run.json does not say which jars were run"
    if about.seed is not None and about.record_id_base != record_id_base_of(about.seed):
        yield f"run.json says seed {about.seed}, and ids of records of another one"
    if not is_run_name(about.run, about.kafka, about.metadata, about.scenario or ""):
        yield f"run.json says run {about.run}, which is none of {about.scenario} on {about.kafka}/{about.metadata}"
    if about.not_run is None:
        yield from _of_times(about)
    if about.harness_failure is not None and about.harness_failure.lost_node != _names_lost_node(about.harness_failure):
        yield "run.json says in two ways whether a node was lost"


def _of_times(about: Run) -> Iterator[str]:
    if about.seconds is None and about.harness_failure is None:
        yield "run.json does not say how long the run took"
    if about.seconds is not None and about.started and about.finished:
        took = datetime.fromisoformat(about.finished) - datetime.fromisoformat(about.started)
        if took.total_seconds() < 0 or abs(took.total_seconds() - about.seconds) > ROUNDED_S:
            yield "run.json says how long the run took in two ways"
    if about.prediction is not None and about.started and about.finished and not about.is_repredicted:
        frozen_at = datetime.fromisoformat(about.prediction.frozen_at)
        rounded = timedelta(seconds=ROUNDED_S)
        if not datetime.fromisoformat(about.started) <= frozen_at <= datetime.fromisoformat(about.finished) + rounded:
            yield "run.json says that the prediction was frozen when there was no run"


def _names_lost_node(failure: HarnessFailure) -> bool:
    return failure.kind == Conformance.HARNESS_ERROR and _NODE.match(failure.message) is not None


def run_complaints(about: Run, schedule: Schedule, frames: Frames | None) -> Iterator[str]:
    """Yield what run.json and the other files of a scenario's run tell differently."""
    yield from told_complaints(about)
    for name, told, expected in (
        ("schedule_id", about.schedule_id, schedule.id),
        ("requirement", about.requirement, schedule.requirement),
        ("sources", about.sources, tuple(schedule.sources)),
        ("brokers", about.brokers, tuple(schedule.brokers)),
        ("settings.user", dict(about.settings.user), user_settings(schedule)),
    ):
        if told != expected:
            yield f"run.json says {name} {told}, the schedule {expected}"
    if about.harness_failure is None:
        yield from _of_whole_run(about, schedule, frames)


def _of_whole_run(about: Run, schedule: Schedule, frames: Frames | None) -> Iterator[str]:
    ids = frozenset() if frames is None else frames.topic_ids
    if ids and about.topic_id is not None and about.topic_id not in ids:
        yield f"run.json says topic id {about.topic_id}, the wire trace {', '.join(sorted(ids))}"
    if about.undecodable_frames and not about.build:  # a user's build may speak newer versions
        yield f"run.json tells {about.undecodable_frames} frames that nobody could decode"
    if about.format == FIRST_FORMAT:
        return
    yield from (f"run.json does not say {name}" for name in ON_BROKERS if getattr(about, name) is None)
    if about.topic != topic_name(about.scenario or "", about.run):
        yield f"run.json says topic {about.topic}, which is not that of run {about.run}"
    waited = about.settings.imposed.get(FETCH_WAIT)
    if waited != str(schedule.fetch_wait_max_ms):
        yield f"run.json says {FETCH_WAIT} {waited}, the schedule {schedule.fetch_wait_max_ms}"
    were_off, were_on = SESSIONS in about.settings.imposed, frames is not None and frames.in_sessions
    are_asked_for = schedule.fetch_sessions and not about.no_fetch_sessions
    if were_off if are_asked_for else were_on:
        yield "followers fetched in sessions, or did not, otherwise than the schedule, or the option, says"
    if frames is not None and frames.nodes and about.controller not in frames.nodes:
        yield f"run.json says controller {about.controller}, which no frame knows"
