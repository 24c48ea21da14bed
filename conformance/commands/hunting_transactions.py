"""``hunt --transactions``: scripts of transactions that nobody wrote down, run on real brokers."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import lines
from conformance.commands.parser import check_writable
from conformance.commands.report_page import write_page
from conformance.hunting.journal import RUNS, UNRUN, HuntedSchedule, counted
from conformance.hunting.transactional import ScriptHunt, journal_of, rules_held
from conformance.judgement.verdicts import exit_code
from conformance.lanes import Lanes
from conformance.line import held_against
from conformance.record.verdict import Conformance, PromiseKept
from conformance.run_options import check_options
from fault_injection.releases import UsageError
from oracle.rules.transactions import TRANSACTION_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.hunting.blocks import HuntRequest
    from conformance.line import Line

REPORTED_MAX = 20
"""So many runs a report shows at most: the findings, then the latest of the others."""
BROKEN = {PromiseKept.BROKEN_AS_PREDICTED: "as predicted", PromiseKept.BROKEN: "and not predicted"}


def add_transactional(parser: Parser) -> None:
    """Add the options of a hunt for scripts of transactions."""
    parser.add_argument(
        "--transactions", action="store_true", help="hunt for scripts of transactions (docs/transactions.md)"
    )
    parser.add_argument(
        "--transaction-version",
        type=int,
        choices=TRANSACTION_VERSIONS,
        help="with --transactions: the clusters' transaction.version (default: that of the release's new clusters)",
    )


def hunt_transactions(console: Console, asked: HuntRequest) -> int:
    """Hunt on every release, write the report, and return the exit code.

    Raises:
        UsageError: it is not said how long, or a release has no transactions.
    """
    check_options(asked.options)
    if asked.schedules is None and asked.seconds is None:
        raise UsageError("say how long: --schedules N or --time T")
    level = asked.transaction_version
    chosen = [held_against(line, asked.options.rules_of) for line in lines(asked.kafka, asked.options.own)]
    for line in chosen:
        _check(line, level)
    check_writable(asked.directory)
    seed = journal_of(asked.directory, level).seed(asked.options.seed)
    done: list[HuntedSchedule] = []
    try:
        for line in chosen:
            _hunt_on(console, ScriptHunt(asked, line, seed), done)
    finally:
        if not asked.is_dry:
            _summarise(console, asked, seed, done)
    return exit_code((one.counted, None) for one in done)


def _check(line: Line, level: int | None) -> None:
    """Check that a release has transactions of that version.

    Raises:
        UsageError: it has none.
    """
    try:
        rules_held(line, level)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _hunt_on(console: Console, hunting: ScriptHunt, done: list[HuntedSchedule]) -> None:
    """Run the scripts of one line; what has its verdict is in ``done``, and in the journal."""
    line, asked = hunting.line, hunting.asked
    if asked.is_dry:
        for one in (one for block in hunting.blocks() for one in block):
            name, text = hunting.lane.name(one.number), hunting.lane.text(one.number, one.acts)
            console.answer(str(hunting.journal.write(line, name, text, "drawn, and not run", UNRUN, asked.options)))
        return
    words = f"Kafka {line.text}, scripts of transactions of seed {hunting.seed}."
    lane, journal = hunting.lane, hunting.journal
    with Lanes(asked.lanes, lane.order(asked.options, words), lane.run, console.progress) as lanes:
        for hunted in lanes.results(hunting.blocks()):
            done.append(hunted)
            journal.note(hunted)
            if asked.until_found and hunted.counted is Conformance.DEVIATES:
                return


def _summarise(console: Console, asked: HuntRequest, seed: int, done: Sequence[HuntedSchedule]) -> None:
    """Write the report, and say what came of the hunt."""
    report = report_of(asked.directory, done)
    if console.as_json:
        answer = {"seed": seed, "summary": counted(done), "answers": sum(one.answers for one in done)}
        console.answer_json({**answer, "report": report, "scripts": [asdict(one) for one in done]})
        return
    for one in done:
        if one.is_finding:
            console.answer(f"{one.line}  {one.number}  {one.words}")
            console.answer((asked.directory / (one.finding or "")).read_text(encoding="utf-8"))
    for line in summary(done):
        console.answer(line)
    level = "" if asked.transaction_version is None else f"transaction.version {asked.transaction_version}, "
    console.answer(f"{level}seed {seed}" + ("" if report is None else f"; report: {report}"))


def summary(done: Sequence[HuntedSchedule]) -> Iterator[str]:
    """Yield what came of the scripts of each line, in one sentence."""
    for line in dict.fromkeys(one.line for one in done):
        here = [one for one in done if one.line == line]
        differing = sum(one.is_finding for one in here)
        verdicts = ", ".join(f"{times} {word}" for word, times in counted(here).items() if word != Conformance.CONFORMS)
        differ = f"{differing} differ ({verdicts})" if differing else "all as predicted"
        answers = sum(one.answers for one in here)
        yield f"{line}: {len(here)} scripts, {answers} answers compared, {differ}; {broken(here)}"


def broken(done: Sequence[HuntedSchedule]) -> str:
    """Return how many scripts broke what was promised, and whether that was predicted."""
    times = Counter(one.promise for one in done if one.promise in BROKEN)
    told = (f"in {number} scripts, {BROKEN[PromiseKept(promise)]}" for promise, number in times.items() if promise)
    return f"promise broken {', '.join(told)}" if times else "no promise broken"


def report_of(directory: Path, done: Sequence[HuntedSchedule]) -> Path | None:
    """Write the report of a hunt's findings and latest runs; None if nothing was run."""
    shown = [one for one in done if one.is_finding] + [one for one in reversed(done) if not one.is_finding]
    if not shown:
        return None
    runs = [directory / RUNS / (one.shrunk_run or one.run) for one in shown[:REPORTED_MAX]]
    return write_page(runs, directory / "report.html")
