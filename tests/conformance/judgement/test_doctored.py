"""Is every change of a run's files told? Each path is doctored by rule, with its digests as they were and renewed.

As they were: every doctoring is refused by a digest. Renewed: a path counts as told once another value of it is: its
form may tell that it is missing. What only digests hold is listed with the reason why no other file knows it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING

import pytest

from conformance.commands.judgement import measure_again
from conformance.observation.check import check_trace
from conformance.record.digests import check_digests, write_digests
from conformance.record.directory import RunDirectoryError
from conformance.record.run import read_run
from conformance.stages import judging
from tests.conformance.judgement.doctorings import (
    CHANGED,
    JSON_FILES,
    LINE_FILES,
    TABLES,
    doctorings,
    files_of,
    freeze_as_before,
    read_rows,
    says_the_same,
    write_rows,
)
from tests.conformance.judgement.recorded_runs import FOLDER, names, unpacked

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.directory import RunDirectory
    from conformance.record.trace_check import TraceResult
    from tests.conformance.judgement.doctorings import Doctoring, Rows

pytestmark = pytest.mark.slow
RUN_ONLY = (
    "basis",
    "cluster_runs[]",
    "digests.jars",
    "environment.*",
    "explanation",
    "harness_failure.message",
    "quirks[]",
    "refused_connections",
    "seconds",
    "stalls[]*",
    "steps[]",
)
WIRE_ONLY = {
    "decoded.partitions[].is_deleted": "an order to a broker; nothing that the broker sends repeats it",
    "decoded.partitions[].is_listed": "how a fetch session writes a request down; the numbers are those of the session",
    "decoded.partitions[].isr*": "any ISR of the replicas is sound by itself; which one is due, the trace check says",
    "decoded.partitions[].last_stable_offset": "consumers alone read it, and nobody uses transactions",
    "decoded.partitions[].log_start_offset": "a bound: it may lie anywhere before the offset that is fetched",
    "decoded.partitions[].metadata[]": "an answer may have any piece of the log; what it has is compared",
    "decoded.partitions[].record_bytes": "how large batches are is not predicted; that there are some is compared",
    "decoded.partitions[].partition_epoch": "rises by itself, by more than one where the controller changed more",
    "*_seq": "bounds: a frame may be on its way as the trace begins and ends",
    "decoded.session_epoch": "whether a fetch goes on with a session matters from 2.1 to 2.4 alone, in another epoch",
    "decoded.replica_epoch": "new after every start, and then on one connection alone",
}
"""What of the wire no other frame and file repeats, path by path."""
SCHEDULE_ONLY = (
    "fetch_sessions",
    "steps[].await_outcome.records",
    "steps[].consume.offset",
    "steps[].list_offsets.timestamp_of",
    "steps[].produce.timeout_ms",
    "steps[].send_to.timeout_ms",
)
SEED = 13
DRAWS = 6
"""How many doctorings of one path are drawn at most, from all the runs that have it: as many as places and ways."""
OTHERS = 2
"""How many of these are none of its value's changes, if it has changes."""
SHARE_MAX = 0.13
KNOWN_LATER = ("second_look",)
"""Fields of run.json that no digest holds: they are written after the run was judged."""
ABOUT = "run.json alone says it; words, times as whole seconds, or one of several"
WORDS = "words for people"
UNORDERED = "the order of these lines means nothing"
STEPS = "what a step asks for beside its deed; the words on the timeline alone repeat it"
ASKED = "what questions of a few entries are answered from"
ONLY_DIGESTS: dict[str, str] = {
    **dict.fromkeys((f"run.json: {name}" for name in RUN_ONLY), ABOUT),
    "run.json: settings.imposed.*": "what brokers are given is written here alone, but for a fetch's wait and sessions",
    **{f"wire.ndjson: {name}": why for name, why in WIRE_ONLY.items()},
    **dict.fromkeys((f"schedule.json: {name}" for name in SCHEDULE_ONLY), STEPS),
    "answers.ndjson: a line swapped": UNORDERED,
    "replica_logs/replica_logs: a line swapped": UNORDERED,
    "topic/part: a line swapped": UNORDERED,
    "prediction/questions.json: questions[].in_words": WORDS,
    "prediction/prediction.json: alternatives[].race*": WORDS,
    "prediction/prediction.json: alternatives[].records[].was_committed": "of an outcome that may not come",
    "prediction/prediction.json: *records[].decided_by": WORDS,
    "prediction/prediction.json: answers[].asked": WORDS,
    "prediction/prediction.json: steps[].replicas.*.high_watermark": "probes may be late; checkpoints tell",
    "prediction/prediction.json: races[]": WORDS,
    "prediction/prediction.json: rules*": WORDS,
    "prediction/prediction.json: format": WORDS,
    "observations.ndjson: epoch_files*": ASKED,
    "observations.ndjson: isr_notices": ASKED,
    "observations.ndjson: or_if_diverging_counts*": ASKED,
    "observations.ndjson: told_leaders*": ASKED,
}
"""What only digests hold: file and path, and why no other file knows better."""


@dataclass
class Doctored:
    """The recorded runs, unpacked, and how each is judged as it is."""

    runs: dict[str, RunDirectory]
    honest: dict[str, object] = field(default_factory=dict)
    rows: dict[tuple[str, str], Rows] = field(default_factory=dict)
    checked: dict[object, TraceResult] = field(default_factory=dict)

    def by_path(self, only: str | None = None) -> dict[tuple[str, str], list[tuple[str, Doctoring]]]:
        """Return the doctorings that are drawn of each path, smaller runs first where frames are replayed."""
        found: dict[tuple[str, str], list[tuple[str, Doctoring]]] = defaultdict(list)
        for name, run in self.runs.items():
            for file in files_of(run) if only is None else {only}.intersection(files_of(run)):
                self.rows[name, file] = read_rows(run, file)
                for one in doctorings(file, self.rows[name, file]):
                    if says_the_same(one, self.rows[name, file]):
                        continue
                    found[file, one.path].append((name, one))
        drawing = random.Random(SEED)
        for (file, _), them in found.items():
            drawing.shuffle(them)
            if file == "wire.ndjson":
                them.sort(key=lambda one: (not self.honest[one[0]][1], (FOLDER / f"{one[0]}.tar.xz").stat().st_size))
            changed, others = _changes(them), [one for one in them if one[1].way != CHANGED]
            them[:] = [*changed[: DRAWS - OTHERS], *others[: OTHERS if changed else DRAWS]]
        return found

    def check(self, run: RunDirectory) -> TraceResult:
        """Return what comes of a trace's check; the same files have the same result."""
        about = read_run(run)
        evidence = about.evidence or {}
        replayed = [evidence.get(name) for name in ("wire.ndjson", "timeline.ndjson", "schedule.json", "ledger")]
        key = (*replayed, about.topic, about.topic_id, about.rules, tuple(sorted(about.settings.imposed.items())))
        if key not in self.checked:
            self.checked[key] = check_trace(run)
        return self.checked[key]

    def judged(self, name: str, one: Doctoring, *, renewed: bool) -> object:
        """Return how a run is judged with one change of one file; the file is as it was afterwards."""
        run = self.runs[name]
        kept = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file() and _is_kept(path, run, one)}
        try:
            write_rows(run, one.file, one.change(self.rows[name, one.file]))
            if renewed:
                _renew(run, one)
            return told_of(run)
        except (RunDirectoryError, ValueError, TypeError, OverflowError) as refused:  # cannot be written, or sealed
            return f"refused: {refused}"
        finally:
            for path in run.path.rglob("*.parquet"):
                if _is_kept(path, run, one) and path not in kept:
                    path.unlink()
            for path, content in kept.items():
                path.write_bytes(content)


def _is_kept(path: Path, run: RunDirectory, one: Doctoring) -> bool:
    name = str(path.relative_to(run.path))
    folder = one.file.partition("/")[0]
    return name in ("run.json", "answers.ndjson", one.file) or ("/" in one.file and name.startswith(f"{folder}/"))


def _renew(run: RunDirectory, one: Doctoring) -> None:
    if one.file.startswith("prediction"):
        freeze_as_before(run)
    if not (one.file == "run.json" and one.path.startswith("evidence")):
        write_digests(run)


def told_of(run: RunDirectory) -> object:
    """Return what a run's files mean, as ``judge`` says it where no table changed; a refusal is one meaning."""
    try:
        about = read_run(run)
        check_digests(run)
        if not (about.is_examination or about.not_run or about.harness_failure):
            measure_again(run)
        verdict = judging.judge_run(run)
    except RunDirectoryError as refused:
        return f"refused: {refused}"
    return verdict.conformance, verdict.promise, "evidence incomplete" in verdict.reason


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Doctored:
    folder = tmp_path_factory.mktemp("runs")
    runs = {name: unpacked(name, folder) for name in names()}
    return Doctored({name: run for name, run in runs.items() if read_run(run).evidence is not None})


@pytest.fixture
def doctored(made: Doctored, monkeypatch: pytest.MonkeyPatch, ideal_traces: None) -> Doctored:  # noqa: ARG001 - order
    """Return the recorded runs; a trace is replayed once for the same files, and after ``ideal_traces`` has patched."""
    monkeypatch.setattr(judging, "check_trace", made.check)
    made.honest = made.honest or {name: told_of(run) for name, run in made.runs.items()}
    return made


@pytest.mark.parametrize("file", [*JSON_FILES, *LINE_FILES, *TABLES])
def test_every_change_is_told(doctored: Doctored, file: str) -> None:
    unseen: list[str] = []
    only_digests: list[str] = []
    for (_, path), them in sorted(doctored.by_path(file).items()):
        unseen += [
            one.text
            for name, one in them
            if not str(doctored.judged(name, one, renewed=False)).startswith("refused") and path not in KNOWN_LATER
        ]
        counted = _changes(them) or them
        if all(doctored.judged(name, one, renewed=True) == doctored.honest[name] for name, one in counted):
            only_digests.append(f"{file}: {path}")

    assert unseen == []
    assert [path for path in only_digests if not _listed(path)] == []


def test_few_paths_are_held_by_digests_alone(doctored: Doctored) -> None:
    paths = [f"{file}: {path}" for file, path in doctored.by_path()]
    listed = [path for path in paths if _listed(path)]

    assert len(listed) < SHARE_MAX * len(paths), f"{len(listed)} of {len(paths)} paths: {listed}"
    assert all(any(one in _listed(path) for path in paths) for one in ONLY_DIGESTS), (
        "no run has it: take it off the list"
    )


def _changes(them: list[tuple[str, Doctoring]]) -> list[tuple[str, Doctoring]]:
    return [one for one in them if one[1].way == CHANGED]


def _listed(path: str) -> list[str]:
    """Return the entries of the list that name a path; ``[]`` is no pattern."""
    return [one for one in ONLY_DIGESTS if fnmatch(path.replace("[]", "()"), one.replace("[]", "()"))]
