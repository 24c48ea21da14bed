"""How does a run begin? With a directory that says what is to be run, and on what."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination, basis_of
from conformance.record.directory import RunDirectory, run_name, topic_name
from conformance.record.run import EXAMINATION, Digests, Environment, Run, RunSettings, write_run
from conformance.record.schedule import write_schedule
from conformance.schedules.topic_settings import user_settings
from fault_injection.releases import UsageError, find_java

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.cluster_pool import ClusterPool


CONTROLLER = 100
"""The node id of the controller of every cluster."""


def begin_run(runs: Path, pool: ClusterPool, entry: Entry, seed: int, record_id_base: int) -> RunDirectory:
    """Create the run directory of a catalogue entry and describe in it what is to be run, and on what."""
    release, metadata = pool.line.release, pool.line.metadata.value
    run = RunDirectory.create(runs, run_name(release.version, metadata, entry.name))
    about = Run(
        run=run.path.name,
        scenario=entry.name,
        schedule_id=entry.id,
        requirement=entry.requirement,
        explanation=entry.explanation,
        sources=tuple(entry.sources),
        variant=entry.variant,
        basis=basis_of(entry).value,
        kafka=release.version,
        metadata=metadata,
        build=release.build,
        label=pool.line.label,
        rules_of=pool.line.rules_of,
        rules_metadata=None if pool.line.rules_of is None else metadata,
        backend=pool.backend.name,
        quirks=tuple(release.quirks) if pool.jars.files else (),
        seed=seed,
        record_id_base=record_id_base,
        no_fetch_sessions=None if pool.fetch_sessions else True,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        digests=Digests(jars=pool.jars.digest),
        environment=environment(),
    )
    write_run(run, _with_subject(about, entry))
    if not isinstance(entry, Examination):
        write_schedule(run, entry.schedule)
    return run


def _with_subject(about: Run, entry: Entry) -> Run:
    """Return what only a scenario or only an examination has besides."""
    if isinstance(entry, Examination):
        return replace(about, kind=EXAMINATION, steps=tuple(entry.subject.steps()))
    return replace(
        about,
        topic=topic_name(entry.name, about.run),
        brokers=tuple(entry.schedule.brokers),
        controller=CONTROLLER,
        settings=RunSettings(user=user_settings(entry.schedule)),
    )


# Where did a run happen? Interpreter, system and tester, without naming the machine.


def environment() -> Environment:
    """Describe where a run happened, without naming the machine."""
    return Environment(
        java=_java_version(),
        python=platform.python_version(),
        os=platform.system(),
        cores=os.cpu_count(),
        tester=tester_version(),
    )


def _java_version() -> str:
    try:
        return find_java().version_text
    except UsageError:
        return "none"


def tester_version() -> str:
    """Return the installed version of the tester."""
    try:
        return version("kafka-conformance")
    except PackageNotFoundError:
        return "uninstalled"
