"""``matrix``: the catalogue on one release after another, and one table of requirement by release.

What is finished is not run again, so an interrupted matrix goes on where it ended: the folder of a matrix has one
folder a line with its runs and report, and the table over all lines that are there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import LADDER, Line, lines
from conformance.commands.choosing import Choice, add_schedules, scenarios_of
from conformance.commands.matrix_line import LineOptions, line_folder, run_line
from conformance.commands.matrix_table import MatrixTable, seeds_of_lines, sessions_of_lines, sessions_text
from conformance.commands.parser import add_json, add_require_promise, check_writable, refuse, whole_number
from conformance.commands.running import backend_for, check_jre_image, new_seed
from conformance.commands.versions import cached_text, ladder_text
from conformance.spark_extra import require_spark
from conformance.spark_master import DEFAULT_MASTER, check_master
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    import argparse

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from fault_injection.cluster.backends.choice import BackendName


@dataclass(frozen=True, slots=True)
class MatrixOptions:
    """What to run, and where.

    Attributes:
        lines: releases in metadata modes, in this order; if nothing is run, those that must be there.
        globs: catalogue entries by name; empty means the whole profile.
        schedules: the user's own YAML files, or directories of them, instead of the catalogue.
        repeat: how many rounds of each line, one after the other.
        runs: the matrix's directory.
        fetch_sessions: False has followers list every partition in every fetch of a schedule's run.
        seed: None takes the one of the matrix that is there, or a new one.
        only_table: run nothing, only write the table over what is there.
    """

    lines: tuple[Line, ...]
    runs: Path
    globs: tuple[str, ...] = ()
    schedules: tuple[Path, ...] = ()
    profile: str = "full"
    repeat: int = 1
    backend: BackendName = "auto"
    jre_image: str | None = None
    spark_master: str = DEFAULT_MASTER
    seed: int | None = None
    fetch_sessions: bool = True
    require_promise: bool = False
    only_table: bool = False


def run_matrix(console: Console, options: MatrixOptions) -> int:
    """Run what is not finished, write the table and return the exit code.

    Raises:
        UsageError: the directory is of a matrix with another seed, or with other fetch sessions, or something is not
            there.
    """
    require_spark()
    if options.only_table:
        return _conclude(console, options, MatrixTable.over(options.runs, expected=_expected(options)))
    lines = _checked(options)
    for line in options.lines:
        lines.asked_of(line).write(lines.folder(line))
    table = MatrixTable.over(options.runs, seed=lines.seed)
    table.write()
    for line in options.lines:
        _run(console, lines, line, table)
    return _conclude(console, options, table)


def _run(console: Console, lines: LineOptions, line: Line, table: MatrixTable) -> None:
    """Run a line and take it into the table; whatever goes wrong with it leaves the others to be run."""
    folder, asked = lines.folder(line), lines.asked_of(line)
    try:
        run_line(console, lines, line, asked.problems)
    except Exception as error:  # noqa: BLE001 - the others are still to be run, and the sentence says what it was
        what = str(error) if isinstance(error, UsageError) else repr(error)
        asked.problems.append(f"{line.text} could not be run: {what}")
        console.complain(asked.problems[-1])
    finally:
        asked.write(folder)
        table.read(folder)
        table.write()
        console.progress(f"{line.text}: {table.words_of(folder)}")


def _expected(options: MatrixOptions) -> dict[Path, str]:
    """Return the lines that were named, by the folders that they must have."""
    return {_folder_of(options, line): line.text for line in options.lines}


def _folder_of(options: MatrixOptions, line: Line) -> Path:
    if options.backend != "auto":
        return line_folder(options.runs, line, options.backend)
    folders = [line_folder(options.runs, line, "process"), line_folder(options.runs, line, "docker")]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def _checked(options: MatrixOptions) -> LineOptions:
    """Check what can be checked at once before the first line."""
    check_jre_image(options.backend, options.jre_image)
    check_master(options.spark_master)
    entries = scenarios_of(Choice(options.globs, options.schedules, profile=options.profile))
    check_writable(options.runs)
    _check_fetch_sessions(options)
    return LineOptions(
        runs=options.runs,
        entries=entries,
        rounds=options.repeat,
        seed=_seed(options),
        backend=_backend(options),
        jre_image=options.jre_image,
        spark_master=options.spark_master,
        fetch_sessions=options.fetch_sessions,
    )


def _check_fetch_sessions(options: MatrixOptions) -> None:
    """Refuse to put runs with fetch sessions and runs without into one matrix: a cell does not say which it has."""
    if (not options.fetch_sessions) in sessions_of_lines(options.runs):
        there = sessions_text(fetch_sessions=not options.fetch_sessions)
        change = "give" if options.fetch_sessions else "leave out"
        raise UsageError(
            f"{options.runs} holds a matrix with {there}: {change} --no-fetch-sessions, or take another directory."
        )


def _seed(options: MatrixOptions) -> int:
    before = MatrixTable.seed_of(options.runs)
    if before is not None and options.seed not in {None, before}:
        raise UsageError(f"{options.runs} holds a matrix with seed {before}: give that seed, or another directory.")
    if before is not None:
        return before
    if options.seed is not None:
        return options.seed
    if len(seeds_of_lines(options.runs)) > 1:
        raise UsageError(
            f"{options.runs} holds lines of several seeds: give the one to go on with, or another directory."
        )
    return new_seed()


def _backend(options: MatrixOptions) -> BackendName:
    """Settle on one backend for all lines: the cells of a line that is resumed are of the same one."""
    backend, _ = backend_for(options.backend, options.jre_image)
    backend.close()
    return "docker" if backend.name == "docker" else "process"


def _conclude(console: Console, options: MatrixOptions, table: MatrixTable) -> int:
    """Write the table once more, say what came out and return the exit code."""
    table.write()
    if console.as_json:
        console.answer_json(json.loads(table.file.read_text(encoding="utf-8")))
    else:
        for text in table.summary():
            console.answer(text)
    return table.exit_code(require_promise=options.require_promise)


def print_ladder(console: Console) -> int:
    """Print the lines of the ladder, and which jars are there already."""
    if console.as_json:
        console.answer_json([line.text for line in LADDER])
        return 0
    for line in LADDER:
        console.answer(f"{line.text:20} {cached_text(line)}")
    console.answer(ladder_text(LADDER))
    console.answer("--kafka " + ",".join(line.text for line in LADDER))
    return 0


# Which options does ``matrix`` have? Its part of the command line.


DESCRIPTION = """Runs the catalogue on one release after another, each as `run` does, and writes one table of
requirement by release over all of them: matrix.html, matrix.json and matrix.md (for the summary of a CI job), with
links to the report of each release. What is finished is skipped: the same command goes on where it was interrupted,
and repeats what ended in a failure of the tester. What was asked for and is not there is a harness error."""
EPILOG = """examples:
  kafka-conformance matrix --ladder                                   the releases that it takes by itself
  kafka-conformance matrix --runs-dir nightly                         the whole catalogue on the whole ladder
  kafka-conformance matrix --kafka 0.10.2.2,3.9.2/zookeeper,4.4.0 --repeat 2
  kafka-conformance matrix 'HW-*' --kafka 4.4.0 --backend process
  kafka-conformance matrix --only-table --runs-dir nightly            the table again, over runs that are there
  kafka-conformance matrix --only-table --kafka ladder                the same; exit 4 unless the ladder is there

exit codes: 0 conforms or does not apply, 1 deviates, 2 usage, 3 inconclusive, 4 harness error,
130 Ctrl-C, 143 SIGTERM; of several runs 1 before 4 before 3 before 0
"""
ROUNDS_MAX = 1000
RUNS = Path("runs/matrix")
FOR_A_RUN = (
    "GLOB",
    "--schedule",
    "--profile",
    "--repeat",
    "--jre-image",
    "--seed",
    "--spark-master",
    "--no-fetch-sessions",
    "--quiet",
)
FOR_A_TABLE = ("--kafka", "--backend", "--runs-dir", "--require-promise")


def add_matrix(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("globs", nargs="*", metavar="GLOB", help="scenario names, such as TR-* (default: the profile)")
    parser.add_argument(
        "--kafka",
        metavar="LIST",
        help="releases, such as 0.10.2.2,3.9.2/zookeeper,4.4.0 (default: ladder); with --only-table: must be there",
    )
    add_schedules(parser, "instead of the catalogue; repeatable")
    parser.add_argument("--profile", choices=("quick", "full"), help="scenarios, if none is named (default: full)")
    parser.add_argument(
        "--repeat", type=whole_number(1, ROUNDS_MAX), metavar="N", help="run N rounds of each release (default: 1)"
    )
    parser.add_argument("--backend", choices=("auto", "docker", "process"), help="where brokers run (default: auto)")
    parser.add_argument("--jre-image", help="base image with a Java 17 runtime, for the docker backend")
    parser.add_argument("--runs-dir", type=Path, help=f"where it all goes (default: {RUNS})")
    parser.add_argument("--seed", type=int, help="seed of record ids (default: the matrix's own, or a new one)")
    parser.add_argument(
        "--no-fetch-sessions",
        action="store_true",
        help="have followers list every partition in every fetch, as in `run`; a matrix of its own, elsewhere",
    )
    parser.add_argument("--spark-master", help=f"Spark master (default: {DEFAULT_MASTER})")
    add_require_promise(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--ladder", action="store_true", help="run nothing: print the ladder, and its jars")
    instead.add_argument("--only-table", action="store_true", help="run nothing: write the table over what is there")
    parser.set_defaults(command=_matrix)


def _lines(text: str | None, *, only_table: bool) -> tuple[Line, ...]:
    """Return the lines that are named; if none is, a run takes the ladder and a table whatever is there."""
    if text is None and only_table:
        return ()
    return LADDER if text in {None, "ladder"} else lines(text or "")


def _matrix(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.globs or parsed.schedule:
        refuse(parsed, ["--profile"], "chooses scenarios where none is named: leave one of the two out.")
    if parsed.ladder:
        refuse(parsed, (*FOR_A_TABLE, *FOR_A_RUN), "means nothing to --ladder, which only prints the ladder.")
        return print_ladder(console)
    if parsed.only_table:
        refuse(parsed, FOR_A_RUN, "is about what is run, and --only-table runs nothing.")
        if parsed.kafka is None:
            refuse(parsed, ["--backend"], "is about the lines that must be there: give --kafka too.")
    parsed.runs_dir = parsed.runs_dir or RUNS  # what is cut short is said by it
    options = MatrixOptions(
        lines=_lines(parsed.kafka, only_table=parsed.only_table),
        runs=parsed.runs_dir,
        globs=tuple(parsed.globs),
        schedules=tuple(parsed.schedule),
        profile=parsed.profile or "full",
        repeat=parsed.repeat or 1,
        backend=parsed.backend or "auto",
        jre_image=parsed.jre_image,
        spark_master=parsed.spark_master or DEFAULT_MASTER,
        seed=parsed.seed,
        fetch_sessions=not parsed.no_fetch_sessions,
        require_promise=parsed.require_promise,
        only_table=parsed.only_table,
    )
    return run_matrix(console, options)
