"""How does a run begin? With a directory that says what is to be run, and on what."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from conformance.catalogue.examination import Examination, basis_of
from conformance.run_directory import RunDirectory, run_name, slug
from conformance.schedules.schedule_format import encode
from conformance.schedules.topic_settings import user_settings
from conformance.stages.environment import environment

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.laboratory import Laboratory

EXAMINATION = "examination"
"""The ``kind`` of a run that has answers and no records; any other run is a scenario's."""


def begin_run(runs: Path, lab: Laboratory, entry: Entry, seed: int, record_id_base: int) -> RunDirectory:
    """Create the run directory of a catalogue entry and describe in it what is to be run, and on what."""
    run = RunDirectory.create(runs, run_name(lab.release.version, lab.metadata.value, entry.name))
    run.update_run(
        run=run.path.name,
        scenario=entry.name,
        schedule_id=entry.id,
        requirement=entry.requirement,
        explanation=entry.explanation,
        sources=list(entry.sources),
        variant=entry.variant,
        basis=basis_of(entry).value,
        kafka=lab.release.version,
        metadata=lab.metadata.value,
        backend=lab.backend.name,
        quirks=list(lab.release.quirks) if lab.jars.files else [],
        seed=seed,
        record_id_base=record_id_base,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        digests={"jars": lab.jars.digest, "image": None},
        environment=environment(),
        harness_failure=None,
        **_subject(run, entry),
    )
    if not isinstance(entry, Examination):
        run.write_json("schedule.json", encode(entry.schedule))
    return run


def _subject(run: RunDirectory, entry: Entry) -> dict[str, Any]:
    """Return what only a scenario or only an examination has."""
    if isinstance(entry, Examination):
        return {"kind": EXAMINATION, "steps": list(entry.subject.steps())}
    return {
        "topic": f"{slug(entry.name)}-{run.path.name[:15].lower()}",
        "brokers": list(entry.schedule.brokers),
        "controller": 100,
        "settings": {"user": user_settings(entry.schedule), "imposed": {}},
    }
