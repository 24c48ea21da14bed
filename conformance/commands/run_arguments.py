"""Which options does ``run`` have? Its part of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.choosing import add_choice, choice_given
from conformance.commands.parser import ROUNDS_MAX, add_json, add_require_promise, given, refuse, whole_number
from conformance.commands.running import RunRequest, run_scenarios
from conformance.run_options import add_run_options, run_options

if TYPE_CHECKING:
    import argparse

    from conformance.commands.parser import Parser

DESCRIPTION = """Runs scenarios, or a schedule of your own, on real brokers that it starts and ends itself; writes one
directory a run, and report.html, junit.xml and report.json beside them. Each schedule is predicted first."""
EPILOG = """examples:
  kafka-conformance run TR-01 --kafka 0.10.2.2            one scenario on an old release
  kafka-conformance run --schedule my.yaml --kafka 3.9    your own schedule (see schedule-help)
  kafka-conformance run 'EL-*' --kafka 3.9/zookeeper --backend process
  kafka-conformance run TR-01 --repeat 10                 is it the same every time?

exit codes: 0 conforms or does not apply, 1 deviates, 2 usage, 3 inconclusive, 4 harness error,
130 Ctrl-C, 143 SIGTERM; of several runs 1 before 4 before 3 before 0
"""


def add_run(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    add_choice(parser)
    parser.add_argument(
        "--profile",
        choices=("quick", "full"),
        help="scenarios, if none is named: the foundation (quick, the default), or all",
    )
    add_run_options(parser.add_argument)
    parser.add_argument("--runs-dir", type=Path, default=Path("runs"), help="where run directories go (default: runs)")
    parser.add_argument("--report", type=Path, help="where the HTML report goes (default: RUNS-DIR/report.html)")
    parser.add_argument("--repeat", type=whole_number(1, ROUNDS_MAX), metavar="N", help="run them N times in a row")
    parser.add_argument("--keep-cluster", action="store_true", help="leave the brokers running until Ctrl-C")
    add_require_promise(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    parser.set_defaults(command=lambda console, a: run_scenarios(console, _asked(a)))


def _asked(parsed: argparse.Namespace) -> RunRequest:
    if parsed.globs or parsed.schedule:
        refuse(parsed, ["--profile"], "chooses scenarios where none is named: leave one of the two out.")
    return RunRequest(
        choice=choice_given(parsed),
        runs=parsed.runs_dir,
        options=run_options(given(parsed)),
        keep_cluster=parsed.keep_cluster,
        require_promise=parsed.require_promise,
        report=parsed.report,
        repeat=parsed.repeat or 1,
    )
