"""``kafka-conformance``: the command line. Thin: it parses, calls one command, and returns its exit code.

Exit codes: 0 conforms; 1 deviates; 2 usage; 3 inconclusive; 4 harness error. Precedence 1 > 4 > 3 > 0.
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

try:
    from conformance.commands.catalogue import add_catalogue
    from conformance.commands.choosing import USAGE_ERRORS, Choice
    from conformance.commands.explored_models import add_explore
    from conformance.commands.faults import add_faults
    from conformance.commands.guarantee_arguments import add_guarantees
    from conformance.commands.help_texts import (
        EPILOG,
        JUDGE,
        JUDGE_EPILOG,
        PREDICT,
        PREDICT_EPILOG,
        REPORT,
        REPORT_EPILOG,
        RUN,
        RUN_EPILOG,
        Parser,
        help_of,
        own_version,
        refuse,
    )
    from conformance.commands.judgement import JudgeOptions, judge_again
    from conformance.commands.matrix import add_matrix
    from conformance.commands.prediction import predict_scenarios
    from conformance.commands.reference import report_runs, schedule_help
    from conformance.commands.running import RunOptions, run_scenarios
    from conformance.commands.tracing import add_trace
    from conformance.commands.versions import add_track_record, add_versions
    from conformance.console import Console
    from conformance.judgement.verdicts import EXIT_CODES
    from conformance.record.directory import RunDirectoryError
    from conformance.record.verdict import Conformance
    from conformance.spark_master import DEFAULT_MASTER
except KeyboardInterrupt:  # imports take a second, and no run has begun
    sys.stderr.write("kafka-conformance: interrupted\n")
    sys.exit(130)

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = 2
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
INTERRUPTED = 130
TERMINATED = 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parsed = build_parser().parse_args(_without_null_characters(arguments))
    console = Console(as_json=getattr(parsed, "json", False), quiet=getattr(parsed, "quiet", False))
    logging.getLogger().addHandler(logging.NullHandler())  # what libraries log, our errors and evidence say in words
    signal.signal(signal.SIGTERM, _terminate)
    signal.signal(signal.SIGINT, _interrupt)
    try:
        return int(parsed.command(console, parsed))
    except (*USAGE_ERRORS, RunDirectoryError) as error:
        console.complain(str(error))
        return USAGE
    except BrokenPipeError:
        sys.stdout = None  # nobody reads any more
        return 0
    except OSError as error:
        if error.errno in FULL:
            console.complain(_cut_short(error, parsed))
            return EXIT_CODES[Conformance.HARNESS_ERROR]
        console.complain(f"{error.filename or ''}: {error.strerror or error}".lstrip(": "))
        return USAGE
    except KeyboardInterrupt:
        had_brokers = hasattr(parsed, "backend")
        console.complain("interrupted; all brokers of this run were ended" if had_brokers else "interrupted")
        return INTERRUPTED
    except Exception as defect:  # noqa: BLE001 - Python's own exit code of an exception is the one of a deviation
        traceback.print_exc()
        console.complain(f"the tester failed, not the brokers: {defect!r}")
        return EXIT_CODES[Conformance.HARNESS_ERROR]


def _without_null_characters(arguments: Sequence[str] | None) -> Sequence[str]:
    """Refuse what no file and no scenario can be named, and what a shell cannot pass on."""
    given = sys.argv[1:] if arguments is None else arguments
    if any("\0" in argument for argument in given):
        Console().complain("an argument has a null character, which no name can have")
        sys.exit(USAGE)
    return given


def _cut_short(error: OSError, parsed: argparse.Namespace) -> str:
    """Say what is incomplete and where, since a write to an open file does not name it."""
    written = {"run": "run", "runs_dir": "run", "out": "file"}
    option = next((name for name in written if getattr(parsed, name, None) is not None), None)
    place, what = (getattr(parsed, option), written[option]) if option else ("", "answer")
    if _is_of_answer(error):
        place, what = "standard output", "answer"
    return f"{error.filename or place}: {os.strerror(error.errno or 0)}; the {what} is incomplete".lstrip(": ")


def _is_of_answer(error: OSError) -> bool:
    """Tell whether it was standard output that could not be written to."""
    return any(frame.f_code is Console.answer.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))


def _interrupt(number: int, _frame: object) -> NoReturn:
    """Interrupt once; whoever presses Ctrl-C again must not interrupt the clean-up."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _terminate(number: int, _frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    sys.exit(TERMINATED)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser: argparse.ArgumentParser = Parser(
        prog="kafka-conformance",
        description="Tests whether real Apache Kafka brokers replicate as the protocol says they must.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {own_version()}", help="the tester's own")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_catalogue(commands)
    _add_predict(commands)
    _add_run(commands)
    add_matrix(commands)
    _add_judge(commands)
    add_trace(commands)
    add_faults(commands)
    add_track_record(commands)
    add_explore(commands)
    add_guarantees(commands)
    _add_reference(commands)
    add_versions(commands)
    return parser


def _add_predict(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "predict", help="say what must happen on a release; needs no cluster", **help_of(PREDICT, PREDICT_EPILOG)
    )
    _add_choice(parser)
    parser.add_argument("--explain", action="store_true", help="say of every record and number which step and rule")
    _add_json(parser)
    parser.set_defaults(command=lambda console, a: predict_scenarios(console, _choice(a), with_story=a.explain))


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run", help="run scenarios on real brokers and write the report", **help_of(RUN, RUN_EPILOG)
    )
    _add_choice(parser)
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
    _add_require_promise(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    _add_json(parser)
    parser.set_defaults(command=lambda console, a: run_scenarios(console, _run_options(a)))


def _run_options(parsed: argparse.Namespace) -> RunOptions:
    if parsed.globs or parsed.schedule:
        refuse(parsed, ["--profile"], "chooses scenarios where none is named: leave one of the two out.")
    return RunOptions(
        choice=_choice(parsed),
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


def _add_judge(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("judge", help="judge an old run again from its files", **help_of(JUDGE, JUDGE_EPILOG))
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--repredict", action="store_true", help="predict anew; a second verdict beside the first")
    parser.add_argument("--rules-of", metavar="VERSION", help="predict with another release's rules")
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help="metadata mode of those rules")
    parser.add_argument("--spark-master", default=DEFAULT_MASTER, help=f"Spark master (default: {DEFAULT_MASTER})")
    _add_require_promise(parser)
    _add_json(parser)
    parser.set_defaults(
        command=lambda console, a: judge_again(
            console,
            JudgeOptions(a.run, a.repredict, a.rules_of, a.metadata, a.spark_master, a.require_promise),
        )
    )


def _add_reference(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    report = commands.add_parser("report", help="write one report over existing runs", **help_of(REPORT, REPORT_EPILOG))
    report.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="run directories, or directories of runs; files beside them are passed over",
    )
    report.add_argument(
        "--out", type=Path, default=Path("report.html"), metavar="F", help="the page (default: report.html)"
    )
    _add_json(report)
    report.set_defaults(command=lambda console, a: report_runs(console, a.runs, a.out))
    helping = commands.add_parser("schedule-help", help="document the steps of a schedule file")
    _add_json(helping)
    helping.set_defaults(command=lambda console, _: schedule_help(console))


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "globs", nargs="*", metavar="GLOB", help="scenarios, such as TR-01 or TR (default: the profile)"
    )
    parser.add_argument(
        "--schedule",
        type=Path,
        metavar="F",
        action="append",
        default=[],
        help="a YAML schedule of your own; several are taken in order, and run one after another on one cluster",
    )
    parser.add_argument(
        "--kafka", default="newest", metavar="V", help="release, such as 4.4.0 or 0.10.2 (default: newest)"
    )
    parser.add_argument(
        "--metadata", choices=("zookeeper", "kraft"), help="metadata mode (default: the release's newer)"
    )


def _choice(parsed: argparse.Namespace) -> Choice:
    profile = getattr(parsed, "profile", None) or "quick"
    own = {name: getattr(parsed, name, None) for name in ("kafka_home", "image")}
    return Choice(tuple(parsed.globs), tuple(parsed.schedule), parsed.kafka, parsed.metadata, profile, **own)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer as JSON on standard output")


def _add_require_promise(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--require-promise", action="store_true", help="exit 1 also when a promise broke as predicted")


if __name__ == "__main__":
    sys.exit(main())
