"""``matrix``: the catalogue on one release after another, and one table of requirement by release.

What is finished is not run again, so an interrupted matrix goes on where it ended: the folder of a matrix has one
folder a line with its runs and report, and the table over all lines that are there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import LADDER, lines
from conformance.commands.choosing import Choice, add_schedules, scenarios_of
from conformance.commands.matrix_line import LineOptions, line_folder, run_line
from conformance.commands.matrix_table import MatrixTable, seeds_of_lines, sessions_of_lines, sessions_text
from conformance.commands.parser import (
    IN_ORDER,
    NAMED_TOO,
    ROUNDS_MAX,
    add_json,
    add_lanes,
    add_require_promise,
    check_writable,
    given,
    refuse,
    whole_number,
)
from conformance.commands.versions import cached_text, ladder_text
from conformance.line import NEWEST
from conformance.run_options import RUN_OPTIONS, RunOptions, add_run_options, check_options, run_options
from conformance.session import backend_for, new_seed
from conformance.spark_extra import SparkMissingError, require_spark
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    import argparse

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.line import Line
    from conformance.run_options import OwnKafka
    from fault_injection.cluster.backends.choice import BackendName


@dataclass(frozen=True, slots=True)
class MatrixRequest:
    """What to run, and where.

    Attributes:
        lines: releases in metadata modes, in this order; if nothing is run, those that must be there.
        choice: the entries that are run.
        repeat: how many rounds of each line, one after the other.
        runs: the matrix's directory.
        options: how they are run; a seed of None takes the one of the matrix that is there, or a new one.
        only_table: run nothing, only write the table over what is there.
        lanes: how many clusters of a line run side by side.
    """

    lines: tuple[Line, ...]
    runs: Path
    choice: Choice
    options: RunOptions
    repeat: int = 1
    require_promise: bool = False
    only_table: bool = False
    lanes: int = 1


def run_matrix(console: Console, asked: MatrixRequest) -> int:
    """Run what is not finished, write the table and return the exit code.

    Raises:
        UsageError: the directory is of a matrix with another seed, or with other fetch sessions, or something is not
            there.
    """
    require_spark()
    if asked.only_table:
        return _conclude(console, asked, MatrixTable.over(asked.runs, expected=_expected(asked)))
    lines = _checked(asked)
    for line in asked.lines:
        lines.asked_of(line).write(lines.folder(line))
    table = MatrixTable.over(asked.runs, seed=lines.seed)
    table.write()
    with console.entries(len(asked.lines) * len(lines.entries) * lines.rounds):
        for line in asked.lines:
            _run(console, lines, line, table)
    return _conclude(console, asked, table)


def _run(console: Console, lines: LineOptions, line: Line, table: MatrixTable) -> None:
    """Run a line and take it into the table; whatever goes wrong with it leaves the others to be run."""
    folder, asked = lines.folder(line), lines.asked_of(line)
    try:
        run_line(console, lines, line, asked.problems)
    except Exception as error:  # noqa: BLE001 - the others are still to be run, and the sentence says what it was
        what = str(error) if isinstance(error, UsageError | SparkMissingError) else repr(error)
        asked.problems.append(f"{line.words} could not be run: {what}")
        console.complain(asked.problems[-1])
    finally:
        asked.write(folder)
        table.read(folder)
        table.write()
        console.progress(f"{line.words}: {table.words_of(folder)}")


def _expected(asked: MatrixRequest) -> dict[Path, str]:
    """Return the lines that were named, by the folders that they must have."""
    return {_folder_of(asked, line): line.words for line in asked.lines}


def _folder_of(asked: MatrixRequest, line: Line) -> Path:
    if asked.options.backend != "auto":
        return line_folder(asked.runs, line, asked.options.backend)
    folders = [line_folder(asked.runs, line, "process"), line_folder(asked.runs, line, "docker")]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def _checked(asked: MatrixRequest) -> LineOptions:
    """Check what can be checked at once before the first line."""
    check_options(asked.options)
    entries = scenarios_of(asked.choice)
    check_writable(asked.runs)
    _check_fetch_sessions(asked)
    seed = _seed(asked)
    options = replace(asked.options, backend=_backend(asked.options))
    return LineOptions(asked.runs, asked.choice, entries, asked.repeat, seed, options, asked.lanes)


def _check_fetch_sessions(asked: MatrixRequest) -> None:
    """Refuse to put runs with fetch sessions and runs without into one matrix: a cell does not say which it has."""
    fetch_sessions = asked.options.fetch_sessions
    if (not fetch_sessions) in sessions_of_lines(asked.runs):
        there = sessions_text(fetch_sessions=not fetch_sessions)
        change = "give" if fetch_sessions else "leave out"
        raise UsageError(
            f"{asked.runs} holds a matrix with {there}: {change} --no-fetch-sessions, or take another directory."
        )


def _seed(asked: MatrixRequest) -> int:
    before, wanted = MatrixTable.seed_of(asked.runs), asked.options.seed
    if before is not None and wanted not in {None, before}:
        raise UsageError(f"{asked.runs} holds a matrix with seed {before}: give that seed, or another directory.")
    if before is not None:
        return before
    if wanted is not None:
        return wanted
    if len(seeds_of_lines(asked.runs)) > 1:
        raise UsageError(
            f"{asked.runs} holds lines of several seeds: give the one to go on with, or another directory."
        )
    return new_seed()


def _backend(options: RunOptions) -> BackendName:
    """Settle on one backend for all lines: the cells of a line that is resumed are of the same one."""
    backend, _ = backend_for(options)
    backend.close()
    return "docker" if backend.name == "docker" else "process"


def _conclude(console: Console, asked: MatrixRequest, table: MatrixTable) -> int:
    """Write the table once more, say what came out and return the exit code."""
    table.write()
    if console.as_json:
        console.answer_json(json.loads(table.file.read_text(encoding="utf-8")))
    else:
        for text in table.summary():
            console.answer(text)
    return table.exit_code(require_promise=asked.require_promise)


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
  kafka-conformance matrix 'HW-*' --kafka 4.4.0 --backend process --lanes 2       two clusters side by side
  kafka-conformance matrix --kafka-home build --label fork --runs-dir nightly     your own Kafka, a line beside them
  kafka-conformance matrix --only-table --runs-dir nightly            the table again, over runs that are there
  kafka-conformance matrix --only-table --kafka ladder                the same; exit 4 unless the ladder is there

exit codes: 0 conforms or does not apply, 1 deviates, 2 usage, 3 inconclusive, 4 harness error,
130 Ctrl-C, 143 SIGTERM; of several runs 1 before 4 before 3 before 0
"""
RUNS = Path("runs/matrix")
FOR_A_TABLE = ("--kafka", "--backend", "--runs-dir", "--require-promise")
FOR_A_RUN = (
    *("GLOB", "--schedule", "--profile", "--repeat", "--lanes", "--quiet"),
    *(option for option in RUN_OPTIONS if option not in FOR_A_TABLE),
)


def add_matrix(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument(
        "globs", nargs="*", metavar="GLOB", help="names of entries, such as TR-* (default: the profile)"
    )
    parser.add_argument(
        "--kafka",
        metavar="LIST",
        help="releases, such as 0.10.2.2,3.9.2/zookeeper,newest (default: ladder, or that of your own Kafka);"
        " with --only-table: must be there",
    )
    add_schedules(parser, "instead of the catalogue; repeatable")
    parser.add_argument("--profile", choices=("quick", "full"), help="entries, if none is named (default: full)")
    parser.add_argument(
        "--repeat", type=whole_number(1, ROUNDS_MAX), metavar="N", help="run N rounds of each release (default: 1)"
    )
    add_lanes(parser)
    add_run_options(parser.add_argument)
    parser.add_argument("--runs-dir", type=Path, help=f"where it all goes (default: {RUNS})")
    add_require_promise(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--ladder", action="store_true", help="run nothing: print the ladder, and its jars")
    instead.add_argument("--only-table", action="store_true", help="run nothing: write the table over what is there")
    parser.set_defaults(command=_matrix)


def _lines(text: str | None, own: OwnKafka | None, *, only_table: bool) -> tuple[Line, ...]:
    """Return the lines that are named; if none is, a run takes the ladder and a table whatever is there.

    Raises:
        UsageError: a release that is not supported, or that the user's own Kafka is not of.
    """
    if own is not None:
        return lines(text or NEWEST, own)
    if text is None and only_table:
        return ()
    return LADDER if text in {None, "ladder"} else lines(text or "")


def _matrix(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.globs or parsed.schedule:
        refuse(parsed, ["--profile"], NAMED_TOO)
    if parsed.schedule:
        refuse(parsed, ["--lanes"], IN_ORDER)
    if parsed.ladder:
        refuse(parsed, (*FOR_A_TABLE, *FOR_A_RUN), "means nothing to --ladder, which only prints the ladder.")
        return print_ladder(console)
    if parsed.only_table:
        refuse(parsed, FOR_A_RUN, "is about what is run, and --only-table runs nothing.")
        if parsed.kafka is None:
            refuse(parsed, ["--backend"], "is about the lines that must be there: give --kafka too.")
    parsed.runs_dir = parsed.runs_dir or RUNS  # what is cut short is said by it
    options = run_options(given(parsed))
    if options.rules_of is not None:
        raise UsageError("a matrix holds each release against its own rules: --rules-of goes with run and hunt.")
    if options.own is not None and options.own.label is None:
        raise UsageError("a matrix tells builds apart by what you call them: give --label too.")
    profile = parsed.profile or "full"
    asked = MatrixRequest(
        lines=_lines(parsed.kafka, options.own, only_table=parsed.only_table),
        runs=parsed.runs_dir,
        choice=Choice(tuple(parsed.globs), tuple(parsed.schedule), profile=profile),
        options=options,
        repeat=parsed.repeat or 1,
        require_promise=parsed.require_promise,
        only_table=parsed.only_table,
        lanes=parsed.lanes or 1,
    )
    return run_matrix(console, asked)
