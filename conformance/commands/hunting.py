"""``hunt``: schedules that nobody wrote down, grown from the model's states and run on real brokers."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import lines
from conformance.commands.hunting_transactions import add_transactional, hunt_transactions, report_of
from conformance.commands.parser import add_json, add_lanes, check_writable, duration, given, refuse, whole_number
from conformance.coverage.covered import read_other
from conformance.hunting.aiming import AimedInBackground
from conformance.hunting.blocks import DrawnDecisions, HuntRequest, LineHunt
from conformance.hunting.growing import GrowthCount
from conformance.hunting.journal import UNRUN, HuntedSchedule, Journal, counted
from conformance.hunting.tally import tell_tally
from conformance.judgement.verdicts import exit_code
from conformance.lanes import Lanes
from conformance.line import NEWEST, held_against
from conformance.record.verdict import Conformance
from conformance.run_options import add_run_options, check_options, run_options
from fault_injection.releases import UsageError
from oracle.steps.step import STEP_CLASSES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from conformance.commands.parser import Parser
    from conformance.console import Console

DESCRIPTION = """Grows schedules step by step from what the model predicts, runs each on real brokers, and holds every
number and record against the prediction. Two of three blocks of schedules are aimed: the model is searched for some
that brokers without a rule of the release would not pass, and of hundreds that are drawn there those are taken that
hold brokers to a rule which few before them do. The others prefer steps that rules decide in ways that were never met.
A difference is tried again three times on a fresh cluster (one that comes back now and then is inconclusive), explained
by a swapped rule if one fits, shrunk, and written as a schedule of its own with the command that runs it. One seed
gives one version of the tester the same schedules on any machine; a hunt goes on where it stopped. With --transactions
it draws scripts of transactions instead, and holds every answer of the brokers against the prediction."""
EPILOG = """examples:
  kafka-conformance hunt --time 20m                       the newest release
  kafka-conformance hunt --kafka 2.8.2,4.4.0 --schedules 50 --seed 7
  kafka-conformance hunt --kafka 3.9/zookeeper --grow-only --schedules 3      only write the schedules
  kafka-conformance hunt --time 20m --until-found --rules-of '4.4.0~join-isr-at-epoch-start'   does it find that?
  kafka-conformance hunt --tally                          count what was hunted so far
  kafka-conformance hunt --transactions --kafka 3.9.2,4.4.0 --schedules 200 --seed 7
  kafka-conformance hunt --transactions --until-found --time 5m --rules-of '3.9.2~transaction-is-verified' --kafka 3.9.2

exit codes: 0 everything conforms, 1 something deviates, 2 usage, 3 inconclusive, 4 harness error,
130 Ctrl-C, which ends with a report; 1 before 4 before 3 before 0
"""
SCHEDULES_MAX = 100_000
OF_SCHEDULES = ("--steps", "--drawn-only", "--guided-by", "--tally", "--rules")
"""Options that say nothing of scripts of transactions."""


def add_hunt(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument(
        "--kafka", default=NEWEST, metavar="V[,V…]", help="releases, such as 2.8.2 or 3.9/zookeeper (default: newest)"
    )
    parser.add_argument("--schedules", type=whole_number(1, SCHEDULES_MAX), metavar="N", help="so many on each release")
    parser.add_argument("--time", type=duration, metavar="T", help="for so long on each release: 90s, 20m or 1h")
    parser.add_argument(
        "--steps",
        type=step_patterns,
        default=(),
        metavar="P[,P…]",
        help="only schedules with such steps: 'kill*,reassign'",
    )
    add_lanes(parser)
    add_transactional(parser)
    parser.add_argument("--until-found", action="store_true", help="end at the first difference that comes back")
    parser.add_argument(
        "--drawn-only", action="store_true", help="draw every schedule by chance: aim none at a rule, prefer no step"
    )
    parser.add_argument(
        "--guided-by", type=Path, metavar="FILE", help="a coverage file: what it has met counts as met before the hunt"
    )
    parser.add_argument("--grow-only", action="store_true", help="write the schedules to RUNS-DIR, and run none")
    parser.add_argument("--tally", action="store_true", help="only count what RUNS-DIR has of all hunts so far")
    parser.add_argument(
        "--rules", action="store_true", help="with --tally: which rules the conforming runs would notice"
    )
    parser.add_argument("--runs-dir", type=Path, default=Path("hunts"), help="where it all goes (default: hunts)")
    add_run_options(parser.add_argument)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    parser.set_defaults(command=_command)


def _command(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.transactions:
        refuse(parsed, OF_SCHEDULES, "is about schedules, not about transactions.")
        return hunt_transactions(console, _asked(parsed))
    refuse(parsed, ["--transaction-version"], "is about scripts of transactions: give --transactions too.")
    if parsed.tally:
        return tell_tally(console, parsed.runs_dir, with_rules=parsed.rules)
    refuse(parsed, ["--rules"], "is about what was hunted: give --tally too.")
    return hunt(console, _asked(parsed))


def step_patterns(text: str) -> tuple[str, ...]:
    """Return patterns such as ``kill*,reassign``; each must match the word of a step."""
    patterns = tuple(pattern.strip() for pattern in text.split(",") if pattern.strip())
    for pattern in patterns:
        if not any(fnmatchcase(word, pattern) for word in STEP_CLASSES):
            raise ArgumentTypeError(f"no step is called {pattern!r}; kafka-conformance schedule-help has them")
    return patterns


def _asked(parsed: argparse.Namespace) -> HuntRequest:
    options = run_options(given(parsed))
    return HuntRequest(
        parsed.kafka,
        parsed.runs_dir,
        parsed.schedules,
        parsed.time,
        options,
        is_dry=parsed.grow_only,
        until_found=parsed.until_found,
        is_guided=not parsed.drawn_only,
        met=frozenset() if parsed.guided_by is None else read_other(parsed.guided_by).met,
        lanes=parsed.lanes or 1,
        patterns=parsed.steps,
        transaction_version=parsed.transaction_version,
    )


def hunt(console: Console, asked: HuntRequest) -> int:
    """Hunt on every release, write the report, and return the exit code."""
    check_options(asked.options)
    if asked.schedules is None and asked.seconds is None:
        raise UsageError("say how long: --schedules N or --time T")
    chosen = [held_against(line, asked.options.rules_of) for line in lines(asked.kafka, asked.options.own)]
    check_writable(asked.directory)
    journal = Journal(asked.directory)
    seed = journal.seed(asked.options.seed)
    done: list[HuntedSchedule] = []
    tally = GrowthCount()
    try:
        for line in chosen:
            with AimedInBackground(line.rules, str(seed), asked.patterns, is_wanted=asked.is_guided) as aims:
                guide = DrawnDecisions(asked, journal.hunted(line.text, seed, line.rules_of))
                _hunt_on(console, LineHunt(asked, journal, line, seed, tally, aims, guide), done)
    finally:
        if not asked.is_dry:
            _summarise(console, asked, seed, done, tally)
    return exit_code((one.counted, None) for one in done)


def _hunt_on(console: Console, hunting: LineHunt, done: list[HuntedSchedule]) -> None:
    """Run the schedules of one line; what has its verdict is in ``done``, and in the journal."""
    line, asked = hunting.line, hunting.asked
    if asked.is_dry:
        for one in (one for block in hunting.blocks() for one in block):
            path = hunting.journal.write_schedule(line, one.schedule, "grown, and not run", UNRUN, asked.options)
            console.answer(str(path))
        return
    words = f"Kafka {line.text}, schedules of seed {hunting.seed}."
    lane = hunting.lane
    with Lanes(asked.lanes, lane.order(asked.options, words), lane.run, console.progress) as lanes:
        for hunted in lanes.results(hunting.blocks()):
            done.append(hunted)
            hunting.journal.note(hunted)
            if asked.until_found and hunted.counted is Conformance.DEVIATES:
                return


def _summarise(
    console: Console, asked: HuntRequest, seed: int, done: Sequence[HuntedSchedule], tally: GrowthCount
) -> None:
    """Write the report, and say what came of the hunt."""
    findings = [one for one in done if one.is_finding]
    report = report_of(asked.directory, done)
    refused = sum(tally.refused.values())
    if console.as_json:
        answer = {"seed": seed, "summary": counted(done), "proposed": tally.proposed, "refused": refused}
        console.answer_json({**answer, "report": report, "schedules": [asdict(one) for one in done]})
        return
    for one in findings:
        console.answer(f"{one.line}  {one.number}  {one.words}")
    verdicts = ", ".join(f"{count} {word}" for word, count in counted(done).items()) or "none has its verdict"
    console.answer(f"{len(done)} schedules of seed {seed}: {verdicts}; {refused} of {tally.proposed} steps refused")
    if report is not None:
        console.answer(f"report: {report}")
