"""Which options does ``matrix`` have? Its part of the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import LADDER, lines
from conformance.commands.ignored_options import refuse
from conformance.commands.matrix import MatrixOptions, print_ladder, run_matrix
from conformance.commands.whole_numbers import whole_number
from conformance.spark_master import DEFAULT_MASTER

if TYPE_CHECKING:
    from conformance.catalogue.ladder import Line
    from conformance.console import Console

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
    "--profile",
    "--repeat",
    "--jre-image",
    "--seed",
    "--spark-master",
    "--no-fetch-sessions",
    "--quiet",
)
FOR_A_TABLE = ("--kafka", "--backend", "--runs-dir", "--require-promise")


def add_matrix(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its options."""
    parser = commands.add_parser(
        "matrix",
        help="run the catalogue on several releases and write one table of requirement by release",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("globs", nargs="*", metavar="GLOB", help="scenario names, such as TR-* (default: the profile)")
    parser.add_argument(
        "--kafka",
        metavar="LIST",
        help="releases, such as 0.10.2.2,3.9.2/zookeeper,4.4.0 (default: ladder); with --only-table: must be there",
    )
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
    parser.add_argument("--require-promise", action="store_true", help="exit 1 also when a promise broke as predicted")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--json", action="store_true", help="answer as JSON on standard output")
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
    if parsed.globs:
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
