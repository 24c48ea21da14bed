"""How is one line of the matrix run? Every pending cell on brokers of one release, as ``run`` does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.shared_clusters import in_running_order
from conformance.commands.choosing import Choice
from conformance.commands.matrix_cells import Asked, Progress, progress_of, put_aside, round_folder
from conformance.commands.running import await_spark, check_predictable
from conformance.commands.versions import jars_text
from conformance.laboratory import Laboratory
from conformance.pipeline import Pipeline
from conformance.schedules.schedule_file import ScheduleFileError
from conformance.second_look import SecondLook
from conformance.spark_master import is_local
from conformance.spark_room import SparkRoom
from fault_injection.cluster.backends.choice import BackendName, choose_backend
from fault_injection.releases import jars_of, schema_jar, spark_connector_jars
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode as OracleMode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.catalogue.ladder import Line
    from conformance.commands.matrix_cells import Cell
    from conformance.console import Console
    from fault_injection.releases import JarSet
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class LineOptions:
    """How every line is run.

    Attributes:
        runs: the matrix's directory; a line has a folder in it.
        backend: ``docker`` or ``process``, the same for all lines.
        rounds: how many times each entry is run.
        fetch_sessions: False has followers list every partition in every fetch of a schedule's run.
    """

    runs: Path
    entries: Sequence[Entry]
    rounds: int
    seed: int
    backend: BackendName
    jre_image: str | None
    spark_master: str
    fetch_sessions: bool = True

    def folder(self, line: Line) -> Path:
        """Return where a line's runs and report are."""
        return line_folder(self.runs, line, self.backend)

    def asked_of(self, line: Line) -> Asked:
        """Return what a line is to run."""
        names = tuple(entry.name for entry in self.entries)
        return Asked(line.text, self.seed, names, self.rounds, self.fetch_sessions)


def line_folder(runs: Path, line: Line, backend: BackendName) -> Path:
    """Return where the runs and the report of a line are in a matrix's directory."""
    return runs / f"{line.release.version}-{line.metadata.value}-{backend}"


def run_line(console: Console, options: LineOptions, line: Line, problems: list[str]) -> None:
    """Run what is not finished of a line; says what is skipped, and what is run again and why.

    Args:
        console: told what is going on.
        options: how lines are run.
        line: the line.
        problems: gets a sentence for each cell that cannot be run, as no rule of the release satisfies its schedule.

    Raises:
        UsageError: the release's jars, or what runs its brokers, cannot be had.
    """
    folder = options.folder(line)
    entries, rules = in_running_order(options.entries), rules_of_line(line)
    progress = progress_of(folder, entries, options.rounds, options.seed, rules)
    _announce(console, line, progress)
    jars = _jars(console, line) if progress.pending else None
    put_aside(folder, progress.unfinished)
    if jars is None:
        return
    with SparkRoom(options.spark_master) as spark, _laboratory(console, options, line, jars) as laboratory:
        spark.start()
        if not is_local(options.spark_master):
            await_spark(console, spark, options.spark_master)
        looks = SecondLook()
        for number, cell in enumerate(progress.pending, start=1):
            runs = round_folder(folder, cell.round)
            pipeline = Pipeline(laboratory, spark, runs, options.seed, console.progress)
            where = f"{line.text} [{number}/{len(progress.pending)}]"
            problem = run_cell(console, pipeline, looks, cell, where)
            if problem is not None:
                problems.append(f"{line.text}: {problem}")
                console.complain(f"{where} {problem}")


def _laboratory(console: Console, options: LineOptions, line: Line, jars: JarSet) -> Laboratory:
    backend, why = choose_backend(options.backend, options.jre_image)
    console.progress(f"{line.text}: seed {options.seed}. {why}")
    return Laboratory(
        release=line.release,
        metadata=line.metadata,
        jars=jars,
        backend=backend,
        progress=console.progress,
        fetch_sessions=options.fetch_sessions,
    )


def rules_of_line(line: Line) -> RuleSet:
    """Return the rules of a line's release."""
    return rules_for(line.release.version, OracleMode(line.metadata.value))


def _jars(console: Console, line: Line) -> JarSet:
    """Return the release's jars, when all others that are needed are there too."""
    jars = jars_of(line.release)
    schema_jar()
    spark_connector_jars()
    console.progress(f"{line.text}: {jars_text(jars)}")
    return jars


def run_cell(console: Console, pipeline: Pipeline, looks: SecondLook, cell: Cell, where: str) -> str | None:
    """Run a cell; say why it has no verdict if it has none: no rule satisfies its schedule, or the tester fails."""
    name, lab = f"{cell.entry.name}, round {cell.round}", pipeline.laboratory
    console.progress(f"{where} {name}: {cell.entry.requirement}")
    try:
        check_predictable(Choice(), [cell.entry], lab.release, lab.metadata.value)
        finished = looks.run(pipeline, cell.entry)
    except ScheduleFileError as error:
        return f"cannot be predicted: {error}"
    except Exception as error:  # noqa: BLE001 - a defect of ours must not keep the other cells from being run
        return f"{name} could not be run: {error!r}"
    promise = f" + {finished.verdict.promise.value}" if finished.verdict.promise else ""
    words = f"{finished.verdict.conformance.value}{promise}"
    console.progress(f"{where} {name}: {words} ({finished.seconds:.1f} s)")
    return None


def _announce(console: Console, line: Line, progress: Progress) -> None:
    total, finished = len(progress.finished) + len(progress.pending), len(progress.finished)
    skipped = f", {finished} finished and skipped" if finished else ""
    console.progress(f"{line.text}: {total} {'cell' if total == 1 else 'cells'}{skipped}")
    for one in progress.unfinished:
        console.progress(f"{line.text}: {one.scenario}, round {one.round} is run again: {one.path.name} {one.why}")
