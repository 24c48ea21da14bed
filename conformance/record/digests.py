"""Are a run's files still those that it ended with? Their SHA-256 are in run.json, and one of run.json itself.

What judging writes is not bound: it is made anew from what is. The prediction has a hash of its own, taken before the
first step. Neither is what came of trying a run again, which is known later.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.record.answers import ANSWERS_FILE
from conformance.record.directory import FIRST_FORMAT, RunDirectoryError, as_plain
from conformance.record.observations import OBSERVATIONS_FILE
from conformance.record.run import RUN_FILE, read_run, update_run
from conformance.record.schedule import SCHEDULE_FILE
from conformance.record.timeline import TIMELINE_FILE, read_timeline
from conformance.record.wire import WIRE_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.directory import RunDirectory
    from conformance.record.run import Run

FILES = (SCHEDULE_FILE, TIMELINE_FILE, OBSERVATIONS_FILE, WIRE_FILE, ANSWERS_FILE)
TABLES = ("ledger", "topic", "replica_logs")
"""Folders of Parquet files: one digest over the names and contents of all of them."""
_LATER_FIELDS = frozenset({"build", "label", "no_fetch_sessions", "evidence"})
"""What run.json of the first format never has, not even as null."""
_KNOWN_LATER = ("evidence", "second_look")


def write_digests(run: RunDirectory, **fields: Any) -> None:  # noqa: ANN401 - the fields of Run
    """Write the digests of a run that has ended, before it is judged, and with them, at once, fields of run.json."""
    about = replace(read_run(run), **fields)
    update_run(run, **fields, evidence={**_files(run), RUN_FILE: _of_run(about)})


def renew_digest(run: RunDirectory, name: str) -> None:
    """Write the digest of one file anew: it was made again from the others. Nothing to do for a run without digests."""
    about = read_run(run)
    if about.evidence is not None:
        update_run(run, evidence={**about.evidence, **{k: v for k, v in _files(run).items() if k == name}})


def check_digests(run: RunDirectory) -> None:
    """Refuse a run whose files are not those that it ended with.

    Raises:
        RunDirectoryError: one was changed, added or removed since, or run.json has no digests; names it.
    """
    about = read_run(run)
    if about.format == FIRST_FORMAT and (about.rules_of is None or about.evidence is None):
        _require_first_format(run)
    if about.evidence is None:
        if about.format == FIRST_FORMAT:
            return
        why = "they were removed, or a tester between two releases made it: run it again"
        raise RunDirectoryError(f"{run.path}: evidence incomplete: {RUN_FILE} has no digests of the run's files; {why}")
    found = {**_files(run), RUN_FILE: _of_run(about)}
    for name in sorted({*found, *about.evidence}):
        if name not in found:
            raise RunDirectoryError(f"{run.path}: evidence incomplete: {name} is missing")
        if found[name] != about.evidence.get(name):
            raise RunDirectoryError(f"{run.path}: evidence incomplete: {name} has changed since the run ended")


def _require_first_format(run: RunDirectory) -> None:
    """Refuse a run that says the first format and has what only later ones write: its digests may have been removed."""
    written = sorted(_LATER_FIELDS & run.read(RUN_FILE, dict[str, object]).keys())
    marks = read_timeline(run, may_be_cut=True)
    if written or any(mark.action or mark.processes or mark.file for mark in marks):
        what = f"{RUN_FILE} has {written[0]}" if written else f"{TIMELINE_FILE} tells more"
        raise RunDirectoryError(f"{run.path}: evidence incomplete: it says format {FIRST_FORMAT}, and {what}")


def _files(run: RunDirectory) -> dict[str, str]:
    files = {name: _of([run.path / name]) for name in FILES if run.has(name)}
    tables = {name: sorted((run.path / name).glob("[!.]*.parquet")) for name in TABLES}
    return files | {name: _of(paths) for name, paths in tables.items() if paths}


def _of(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _of_run(about: Run) -> str:
    """Return the digest of what run.json says; a field that says nothing may be missing, as one of a later tester."""
    told = as_plain(about).items()
    fixed = {name: value for name, value in told if name not in _KNOWN_LATER and value not in (None, [], {})}
    return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()
