"""Which options does ``run`` have? Its part of the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.choosing import add_choice, choice_given
from conformance.commands.parser import add_json, add_require_promise, refuse
from conformance.commands.running import RunOptions, run_scenarios
from conformance.spark_master import DEFAULT_MASTER

if TYPE_CHECKING:
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
    parser.add_argument("--backend", choices=("auto", "docker", "process"), default="auto", help="where brokers run")
    parser.add_argument("--jre-image", help="base image with a Java 17 runtime, for the docker backend")
    parser.add_argument(
        "--kafka-home",
        type=Path,
        metavar="DIR",
        help="your own Kafka: the directory of a distribution, with libs/*.jar",
    )
    parser.add_argument(
        "--image", metavar="NAME", help="your own Kafka: an image such as apache/kafka:4.4.0, for the docker backend"
    )
    parser.add_argument("--runs-dir", type=Path, default=Path("runs"), help="where run directories go (default: runs)")
    parser.add_argument("--report", type=Path, help="where the HTML report goes (default: RUNS-DIR/report.html)")
    parser.add_argument("--seed", type=int, help="seed of record ids; a run prints it (default: a new one)")
    parser.add_argument("--repeat", type=_count, default=1, metavar="N", help="run them N times in a row")
    parser.add_argument(
        "--no-fetch-sessions",
        action="store_true",
        help="have followers list every partition in every fetch (KIP-227 off); examinations set it themselves",
    )
    parser.add_argument("--keep-cluster", action="store_true", help="leave the brokers running until Ctrl-C")
    parser.add_argument("--spark-master", default=DEFAULT_MASTER, help=f"Spark master (default: {DEFAULT_MASTER})")
    add_require_promise(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    parser.set_defaults(command=lambda console, a: run_scenarios(console, _run_options(a)))


def _run_options(parsed: argparse.Namespace) -> RunOptions:
    if parsed.globs or parsed.schedule:
        refuse(parsed, ["--profile"], "chooses scenarios where none is named: leave one of the two out.")
    return RunOptions(
        choice=choice_given(parsed),
        runs=parsed.runs_dir,
        backend=parsed.backend,
        jre_image=parsed.jre_image,
        spark_master=parsed.spark_master,
        seed=parsed.seed,
        keep_cluster=parsed.keep_cluster,
        require_promise=parsed.require_promise,
        report=parsed.report,
        repeat=parsed.repeat,
        fetch_sessions=not parsed.no_fetch_sessions,
    )


def _count(text: str) -> int:
    """Return a whole number from 1 on; any other text is a usage error."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)
