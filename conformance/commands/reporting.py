"""``report``: one page over finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.parser import add_json, check_file
from conformance.commands.report_page import write_page
from conformance.record.directory import as_plain
from conformance.record.run import open_run, runs_given
from conformance.spark_extra import require_spark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from reports.baseline import ChangesSince

DESCRIPTION = "Writes one HTML page over finished runs, from the verdicts and files in their directories."
EPILOG = """examples:
  kafka-conformance report runs                           every run in a directory
  kafka-conformance report runs/A runs/B --out both.html  two of them
  kafka-conformance report new --baseline old --out new/report.html
                                                          and what has changed since the report in old
"""


def add_report(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    add_runs(parser, out="report.html", what="the page")
    parser.add_argument(
        "--baseline",
        type=Path,
        metavar="OLD",
        help="an earlier report, as its report.json or its directory: what is new, fixed, flaky, slower since",
    )
    add_json(parser)
    parser.set_defaults(command=lambda console, a: report_runs(console, a.runs, a.out, a.baseline))


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


def report_runs(console: Console, runs: Sequence[Path], out: Path, baseline: Path | None = None) -> int:
    """Write a report over existing runs: of a directory of runs over all in it; files beside runs are passed over.

    Raises:
        RunDirectoryError: one of the directories is no run, or of another format version; or the baseline is no report.
        UsageError: the page's directory does not exist, or what reads a run's tables is not installed.
    """
    require_spark()
    given = runs_given(runs)
    for run in given:
        open_run(run)
    check_file(out)
    told: list[ChangesSince] = []
    path = write_page(given, out, baseline, told.append)
    if console.as_json:
        since_baseline = {"since_baseline": as_plain(told[0])} if told else {}
        console.answer_json({"report": str(path), **since_baseline})
        return 0
    for since in told:
        console.answer("\n".join(since.lines_of_text()))
    console.answer(f"report: {path}")
    return 0
