"""What was run, on what, and how did it end? ``run.json``: it grows while the run goes on."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from conformance.record.directory import FORMAT_VERSION, READABLE, RunDirectory, RunDirectoryError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RUN_FILE = "run.json"
EXAMINATION = "examination"
"""The ``kind`` of a run that has answers and no records; any other run is a scenario's."""

BACKENDS = ("process", "docker")
"""Where brokers run, as run.json calls it."""
INTERRUPTED = "the tester was interrupted before the run ended"
"""The message of a run that Ctrl-C or SIGTERM ended."""


@dataclass(frozen=True, slots=True)
class HarnessFailure:
    """What ended a run early.

    Attributes:
        kind: the conformance verdict that it means.
        lost_node: whether somebody else, or the machine, ended a node of the cluster.
    """

    kind: str
    message: str
    lost_node: bool = False


@dataclass(frozen=True, slots=True)
class Frozen:
    """When a prediction was frozen, before the first broker was touched.

    Attributes:
        sha256: over the names and contents of the prediction's files.
        frozen_at: ISO 8601, UTC, milliseconds.
        frozen_ns: monotonic nanoseconds.
    """

    sha256: str
    frozen_at: str
    frozen_ns: int


@dataclass(frozen=True, slots=True)
class Digests:
    """What the brokers were started from: SHA-256 of their jars, digest of their image."""

    jars: str | None = None
    image: str | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a run happened: versions of Java, Python and the tester, the system, and how many cores it has."""

    java: str = ""
    python: str = ""
    os: str = ""
    cores: int | None = None
    tester: str = ""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """A topic's and brokers' settings: the user's, and those that the tester imposes."""

    user: Mapping[str, str] = field(default_factory=dict)
    imposed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stall:
    """One stall of the machine.

    Attributes:
        at_ns: the last turn of the watch before it, monotonic nanoseconds.
        for_ms: how long it was, milliseconds.
    """

    at_ns: int
    for_ms: int


@dataclass(frozen=True, slots=True)
class TriedAgain:
    """What came of trying a finding again on fresh clusters.

    Attributes:
        before: the runs that its cluster had seen before.
        alone: the verdict of the run that was tried alone.
        after_predecessors: the verdict of the run that was tried after them; None if it was not.
        text: what that means, in words.
        tries: how often it was tried alone.
        came_back: in how many of these runs there was a finding again.
    """

    before: tuple[str, ...]
    alone: str
    text: str
    after_predecessors: str | None = None
    tries: int = 1
    came_back: int | None = None


def record_id_base_of(seed: int) -> int:
    """Return the id of a run's first record: runs of one seed share ids, runs of two never do."""
    return (seed & 0x7FFF_FFFF) << 16


@dataclass(frozen=True, slots=True)
class Run:
    """run.json.

    Attributes:
        format: of the run directory.
        run: the directory's name.
        scenario: the catalogue entry's name; ``variant`` is the part after the row's id.
        basis: how its prediction was made, in the words of ``catalogue.examination.Basis``.
        kafka: the release; ``rules_of`` another one whose rules judged the run, if one did.
        build: the version that the jar of a user's own Kafka has, which was run as that release; None of a release.
        label: what the user calls that Kafka.
        quirks: what of the release's files is not as it was released.
        record_id_base: the id of the first record.
        no_fetch_sessions: True if followers list every partition in every fetch, whatever a schedule says (the clusters
            of examinations set it themselves); else None.
        started: ISO 8601, UTC; ``finished`` likewise, None of a run that was cut off.
        seconds: how long the run took until its topic was read, without the time that somebody looked at it.
        kind: ``EXAMINATION``, or None of a scenario's run; ``steps`` are an examination's, in words.
        not_run: why the entry does not apply to the release.
        not_healed: why the cluster was replaced after the run.
        cluster_runs: the runs that the cluster had seen before.
        end_offset: the leader's high watermark before the topic was read.
        undecodable_frames: frames that no schema of the tester decodes.
        refused_connections: connections at the gate that never were a broker's.
        evidence: SHA-256 of the run's files as it ended, by name; None of a run of format 1, or that goes on.
    """

    kafka: str
    metadata: str
    format: int = FORMAT_VERSION
    run: str = ""
    scenario: str | None = None
    schedule_id: str | None = None
    requirement: str | None = None
    explanation: str | None = None
    sources: tuple[str, ...] = ()
    variant: str | None = None
    basis: str | None = None
    backend: str | None = None
    quirks: tuple[str, ...] = ()
    seed: int | None = None
    record_id_base: int = 0
    no_fetch_sessions: bool | None = None
    started: str | None = None
    finished: str | None = None
    seconds: float | None = None
    digests: Digests = field(default_factory=Digests)
    environment: Environment | None = None
    harness_failure: HarnessFailure | None = None
    kind: str | None = None
    steps: tuple[str, ...] | None = None
    topic: str | None = None
    topic_id: str | None = None
    brokers: tuple[int, ...] = ()
    controller: int | None = None
    settings: RunSettings = field(default_factory=RunSettings)
    prediction: Frozen | None = None
    build: str | None = None
    label: str | None = None
    rules_of: str | None = None
    rules_metadata: str | None = None
    not_run: str | None = None
    not_healed: str | None = None
    cluster_runs: tuple[str, ...] | None = None
    second_look: TriedAgain | None = None
    end_offset: int | None = None
    undecodable_frames: int | None = None
    refused_connections: int | None = None
    stalls: tuple[Stall, ...] = ()
    evidence: Mapping[str, str] | None = None

    @property
    def is_examination(self) -> bool:
        """Return whether the run has answers and no records."""
        return self.kind == EXAMINATION

    @property
    def is_repredicted(self) -> bool:
        """Return whether this is the second judgement of a run, in a directory of its own inside the run."""
        return "/" in self.run

    @property
    def rules(self) -> tuple[str, str]:
        """Release and metadata mode by whose rules the run is judged."""
        return self.rules_of or self.kafka, self.rules_metadata or self.metadata


@dataclass(frozen=True, slots=True)
class _Format:
    format: int | None = None


def read_run(run: RunDirectory) -> Run:
    """Read run.json.

    Raises:
        RunDirectoryError: there is none, it is of another format, or it does not say what was run on what.
    """
    if not run.path.exists():
        raise RunDirectoryError(f"{run.path} does not exist")
    if not (run.path / RUN_FILE).is_file():
        raise RunDirectoryError(f"{run.path} is no run directory: it has no {RUN_FILE}")
    require_readable(run)
    return run.read(RUN_FILE, Run)


def require_readable(run: RunDirectory) -> None:
    """Refuse a run of a format that this tester does not read.

    Raises:
        RunDirectoryError: it is of another format; the text says what to do.
    """
    version = run.read(RUN_FILE, _Format).format
    if version is None:
        raise RunDirectoryError(f"{run.path / RUN_FILE} is of no run: it does not say format")
    if version not in READABLE:
        how = "run it again" if version < READABLE[0] else "use the tester that wrote it, or a newer one"
        known = " and ".join(map(str, READABLE))
        raise RunDirectoryError(f"{run.path} has format {version}, this tester reads {known}: {how}")


def write_run(run: RunDirectory, about: Run) -> None:
    """Write run.json."""
    run.write(RUN_FILE, about)


def update_run(run: RunDirectory, **fields: Any) -> Run:  # noqa: ANN401 - the fields of Run, which ``replace`` checks
    """Change fields of run.json and return it.

    Raises:
        TypeError: it has no such field.
    """
    about = replace(read_run(run), **fields)
    write_run(run, about)
    return about


NAMED = 3
"""How many runs of a directory are named to whoever gave the directory instead."""


def open_run(path: Path) -> RunDirectory:
    """Open an existing run.

    Raises:
        RunDirectoryError: it is none, of another format version, or its run.json does not say what was run on what.
    """
    if not (path / RUN_FILE).exists() and (runs := runs_in(path)):
        newest = ", ".join(map(str, runs[: -NAMED - 1 : -1]))
        others = f" and {len(runs) - NAMED} older ones" if len(runs) > NAMED else ""
        raise RunDirectoryError(f"{path} holds no run of its own; give a run directory that is in it: {newest}{others}")
    run = RunDirectory(path)
    read_run(run)
    return run


def runs_in(path: Path) -> list[Path]:
    """Return the run directories in a directory of runs or of release lines, the oldest first by name."""
    found = (file.parent for depth in ("*", "*/*") for file in path.glob(f"{depth}/run.json"))
    return sorted(found, key=lambda run: run.name)


def runs_given(paths: Sequence[Path]) -> list[Path]:
    """Return the run directories that were named: those in a directory of runs, and no files that lie beside runs.

    Raises:
        RunDirectoryError: there is none.
    """
    directories = [path for path in paths if not path.is_file()]
    if not directories:
        raise RunDirectoryError(f"{paths[0]} is a file; give run directories, or a directory of runs")
    runs = (runs_in(path) if not (path / "run.json").exists() else [path] for path in directories)
    return [run for path, found in zip(directories, runs, strict=True) for run in found or [path]]
