"""``report``: one page over finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.parser import add_json, check_file
from conformance.record.run import open_run, runs_given
from conformance.spark_extra import require_spark
from reports import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.commands.parser import Parser
    from conformance.console import Console

DESCRIPTION = "Writes one HTML page over finished runs, from the verdicts and files in their directories."
EPILOG = """examples:
  kafka-conformance report runs                           every run in a directory
  kafka-conformance report runs/A runs/B --out both.html  two of them
"""


def add_report(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    add_runs(parser, out="report.html", what="the page")
    add_json(parser)
    parser.set_defaults(command=lambda console, a: report_runs(console, a.runs, a.out))


def add_runs(parser: Parser, *, out: str, what: str) -> None:
    """Add which runs are taken, and the file that is made of them."""
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="run directories, or directories of runs; files beside them are passed over",
    )
    parser.add_argument("--out", type=Path, default=Path(out), metavar="F", help=f"{what} (default: {out})")


def report_runs(console: Console, runs: Sequence[Path], out: Path) -> int:
    """Write a report over existing runs: of a directory of runs over all in it; files beside runs are passed over.

    Raises:
        RunDirectoryError: one of the directories is no run, or of another format version.
        UsageError: the page's directory does not exist, or what reads a run's tables is not installed.
    """
    require_spark()
    given = runs_given(runs)
    for run in given:
        open_run(run)
    check_file(out)
    path = write_report(given, out)
    if console.as_json:
        console.answer_json({"report": str(path)})
    else:
        console.answer(f"report: {path}")
    return 0
