"""``run``: its options; scenarios on real brokers, with progress, verdicts and a report."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from conformance.catalogue.scenario import Scenario
from conformance.cluster_pool import brokers_for, cluster_kind
from conformance.commands.choosing import add_choice, check_predictable, choice_given, line_of, scenarios_of
from conformance.commands.parser import (
    IN_ORDER,
    NAMED_TOO,
    ROUNDS_MAX,
    add_json,
    add_lanes,
    add_require_promise,
    check_file,
    check_writable,
    given,
    refuse,
    whole_number,
)
from conformance.commands.report_page import write_page
from conformance.commands.stepping import Stepper
from conformance.judgement.verdicts import exit_code
from conformance.lanes import Lanes, SessionOrder
from conformance.record.run import read_run
from conformance.registry import entries_named
from conformance.run_options import RunOptions, add_run_options, check_options, run_options
from conformance.session import Task, in_pieces, in_running_order, seed_of, session_on
from fault_injection.releases import UsageError, is_pinned
from reports.version_matrix import metadata_words

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.commands.choosing import Choice
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.line import Line
    from conformance.pipeline import Finished
    from conformance.session import Session

DESCRIPTION = """Runs entries of the catalogue, or a schedule of your own, on real brokers that it starts and ends
itself; writes one directory a run, and report.html, junit.xml and report.json beside them. Each schedule is predicted
first."""
EPILOG = """examples:
  kafka-conformance run TR-01 --kafka 0.10.2.2            one scenario on an old release
  kafka-conformance run --schedule my.yaml --kafka 3.9    your own schedule (see schedule-help)
  kafka-conformance run 'EL-*' --kafka 3.9/zookeeper --backend process
  kafka-conformance run TR-01 --repeat 10                 is it the same every time?
  kafka-conformance run --profile full --lanes 2          two clusters side by side
  kafka-conformance run TR-01 --step                      look at each checkpoint before it goes on

exit codes: 0 conforms or does not apply, 1 deviates, 2 usage, 3 inconclusive, 4 harness error,
130 Ctrl-C, 143 SIGTERM; of several runs 1 before 4 before 3 before 0
"""


STEPPED = "leaves nobody who looks: --step shows each checkpoint on the terminal and waits for Enter."


def add_run(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    add_choice(parser)
    parser.add_argument(
        "--profile",
        choices=("quick", "full"),
        help="entries, if none is named: quick (the default; list --profile quick names them), or all",
    )
    add_run_options(parser.add_argument)
    parser.add_argument("--runs-dir", type=Path, default=Path("runs"), help="where run directories go (default: runs)")
    parser.add_argument("--report", type=Path, help="where the HTML report goes (default: RUNS-DIR/report.html)")
    parser.add_argument("--repeat", type=whole_number(1, ROUNDS_MAX), metavar="N", help="run them N times in a row")
    add_lanes(parser)
    parser.add_argument("--step", action="store_true", help="stand at each checkpoint, show it, and go on at Enter")
    parser.add_argument("--keep-cluster", action="store_true", help="leave the brokers running until Ctrl-C")
    add_require_promise(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    parser.set_defaults(command=lambda console, a: run_scenarios(console, _asked(a)))


def _asked(parsed: argparse.Namespace) -> RunRequest:
    if parsed.globs or parsed.schedule:
        refuse(parsed, ["--profile"], NAMED_TOO)
    if parsed.schedule:
        refuse(parsed, ["--lanes"], IN_ORDER)
    if parsed.step:
        refuse(parsed, ["--lanes", "--json", "--quiet"], STEPPED)
    if parsed.keep_cluster:
        refuse(parsed, ["--lanes"], "has several clusters, and --keep-cluster keeps one.")
    return RunRequest(
        choice=choice_given(parsed),
        runs=parsed.runs_dir,
        options=run_options(given(parsed)),
        keep_cluster=parsed.keep_cluster,
        require_promise=parsed.require_promise,
        report=parsed.report,
        repeat=parsed.repeat or 1,
        lanes=parsed.lanes or 1,
        is_stepped=parsed.step,
    )


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What ``run`` is asked for.

    Attributes:
        choice: what is run, and on which release.
        runs: directory that gets one run directory per scenario.
        options: how it is run.
        report: where report.html goes; None puts it beside the runs.
        repeat: how many times the chosen scenarios are run, one round after the other.
        lanes: how many clusters run side by side.
        is_stepped: whether each run stands at its checkpoints, for a person to look at.
    """

    choice: Choice
    runs: Path
    options: RunOptions = field(default_factory=RunOptions)
    keep_cluster: bool = False
    require_promise: bool = False
    report: Path | None = None
    repeat: int = 1
    lanes: int = 1
    is_stepped: bool = False


def run_scenarios(console: Console, asked: RunRequest) -> int:
    """Run the chosen scenarios and return the exit code."""
    check_options(asked.options)
    scenarios = scenarios_of(asked.choice)
    brokers_of_all(asked.choice, scenarios)
    line = line_of(asked.choice, asked.options)
    check_predictable(asked.choice, scenarios, line.rules)
    report = asked.report or asked.runs / "report.html"
    for directory in (asked.runs, report.parent):
        check_writable(directory)
    check_file(report)
    seed = seed_of(asked.options)
    ordered = (scenarios if asked.choice.schedules else in_running_order(scenarios)) * asked.repeat
    finished = _run_all(console, asked, line, ordered, seed)
    names = [scenario.name for scenario in scenarios]
    finished.sort(key=lambda one: names.index(one.scenario))
    report = write_page([f.run.path for f in finished], report)
    summarise(console, finished, report, seed)
    answers = ((f.verdict.counted, f.verdict.promise) for f in finished)
    return exit_code(answers, require_promise=asked.require_promise)


def _run_all(console: Console, asked: RunRequest, line: Line, scenarios: Sequence[Entry], seed: int) -> list[Finished]:
    console.progress(_brokers_source(line))
    words = f"Kafka {line.release.version} ({line.metadata.value}), seed {seed}."
    tasks = [Task(entry, asked.runs, entry.name) for entry in scenarios]
    if asked.lanes > 1:
        return _run_in_lanes(console, asked, SessionOrder(line, asked.options, seed, words), scenarios)
    shared = brokers_of_all(asked.choice, scenarios)
    with session_on(line, asked.options, seed, console.progress, words, shared) as opened:
        session = replace(opened, look=Stepper(console).look) if asked.is_stepped else opened
        session.cluster_pool.is_kept = asked.keep_cluster or (bool(asked.choice.schedules) and len(tasks) > 1)
        with nullcontext() if asked.is_stepped else console.entries(len(tasks)):
            finished = session.run_all(tasks, begin=console.begin)
        if asked.keep_cluster and session.cluster_pool.running is not None:
            keep_until_interrupted(console, session.cluster_pool.running.bootstrap)
    return finished


def _run_in_lanes(
    console: Console, asked: RunRequest, order: SessionOrder, scenarios: Sequence[Entry]
) -> list[Finished]:
    finished = []
    pieces = (
        NamedEntries(tuple(entry.name for entry in piece), asked.runs) for piece in in_pieces(scenarios, asked.lanes)
    )
    with Lanes(asked.lanes, order, run_named, console.progress) as lanes, console.entries(len(scenarios)):
        for one in lanes.results(pieces):
            console.begin(one.scenario)
            finished.append(one)
    return finished


@dataclass(frozen=True, slots=True)
class NamedEntries:
    """Entries of the catalogue that a lane runs, which it finds by their names, and where their runs go."""

    names: tuple[str, ...]
    runs: Path


def run_named(session: Session, piece: NamedEntries) -> Iterator[Finished]:
    """Run entries of the catalogue in a lane."""
    yield from session.run_all([Task(entry, piece.runs, entry.name) for entry in entries_named(piece.names)])


def brokers_of_all(choice: Choice, scenarios: Sequence[Entry]) -> frozenset[int]:
    """Return the brokers that schedules of the user's need together, so that they run on one cluster.

    Raises:
        UsageError: they cannot share one.
    """
    schedules = [one.schedule for one in scenarios if isinstance(one, Scenario)] if choice.schedules else []
    kinds = {", ".join(f"{name}: {value}" for name, value in cluster_kind(it).items()) for it in schedules}
    if len(kinds) > 1:
        words = " and ".join(f"({kind})" for kind in sorted(kinds))
        raise UsageError(f"These schedules need clusters of different kinds, {words}: run them one at a time.")
    return frozenset(broker for schedule in schedules for broker in brokers_for(schedule))


def _brokers_source(line: Line) -> str:
    """Return where the brokers come from."""
    version = line.release.version
    if line.own is not None:
        build = line.release.build
        run_as = "" if build == version else f" as Kafka {version}"
        place = line.own.home or line.own.image
        return f"Kafka {build} of {place}{run_as}: what is in it is taken as it is, held against no released jar"
    known = "" if is_pinned(version) else "; no checksum of this patch is known to the tester"
    return f"looking for the jars of Kafka {version} (fetched once, then cached{known})"


def keep_until_interrupted(console: Console, bootstrap: str) -> None:
    """Leave the brokers running for a person to look at, until Ctrl-C."""
    console.progress(f"the cluster is kept at {bootstrap}; Ctrl-C ends it")
    with suppress(KeyboardInterrupt):
        Event().wait()


def summarise(console: Console, finished: Sequence[Finished], report: Path, seed: int) -> None:
    """Print verdicts, the rules that judged if they are not the release's own, and the report's place."""
    if console.as_json:
        console.answer_json(as_json(finished))
        return
    width = max((len(f.scenario) for f in finished), default=8)
    lines = []
    for one in finished:
        promise = one.verdict.promise.value if one.verdict.promise else "-"
        lines.append(
            f"{one.scenario:{width}}  {one.verdict.conformance.value:13} {promise:20} {one.seconds:5.1f} s  "
            f"{one.verdict.reason}"
        )
    console.answer("\n".join((*lines, f"seed {seed}; {_judged_by(finished)}report: {report}")))


def _judged_by(finished: Sequence[Finished]) -> str:
    """Return whose rules judged the runs, where they are not their release's own; else nothing."""
    judged = (read_run(one.run) for one in finished)
    rules = dict.fromkeys(f"{run.rules_of} {metadata_words(run.rules[1])}" for run in judged if run.rules_of)
    return f"judged by the rules of {', '.join(rules)}; " if rules else ""


def as_json(finished: Sequence[Finished]) -> dict[str, Any]:
    """Return the machine format of ``run --json``."""
    runs = []
    summary: dict[str, int] = {}
    for one in finished:
        about = read_run(one.run)
        promise = one.verdict.promise.value if one.verdict.promise else None
        runs.append(
            {
                "scenario": one.scenario,
                "kafka": about.kafka,
                "metadata": about.metadata,
                "build": about.build,
                "label": about.label,
                "backend": about.backend,
                "rules_of": about.rules_of,
                "conformance": one.verdict.conformance.value,
                "promise": promise,
                "reason": one.verdict.reason,
                "seconds": one.seconds,
                "run": str(one.run.path),
            }
        )
        for word in (one.verdict.conformance.value, promise):
            if word is not None:
                summary[word] = summary.get(word, 0) + 1
    return {"runs": runs, "summary": summary}
