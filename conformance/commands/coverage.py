"""``coverage``: how much of a release's model have real brokers been through, and what runs the rest on purpose?"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from conformance.commands.coverage_lines import coverage_lines, sample_share
from conformance.commands.explored_brokers import add_partition, bounds_of
from conformance.commands.hunting import SCHEDULES_MAX
from conformance.commands.parser import add_json, add_lanes, check_writable, duration, given, whole_number
from conformance.coverage.counting import NotCountedError, decisions_of_run, edges_of_run, schedule_that_counts
from conformance.coverage.covered import covered_file, graph_name, read_covered, read_other, write_covered
from conformance.coverage.summary import decisions_summarised, summarised
from conformance.hunting.growing import BLOCK
from conformance.hunting.journal import UNRUN, Journal
from conformance.hunting.lane import HuntLane, NumberedSchedule
from conformance.judgement.verdicts import exit_code
from conformance.lanes import Lanes
from conformance.line import NEWEST, held_against, line_named
from conformance.record.directory import RunDirectory
from conformance.record.run import open_run, runs_given
from conformance.run_options import add_run_options, check_options, run_options
from conformance.session import seed_of
from fault_injection.releases import UsageError
from oracle.brokers.edge_schedule import cover_schedules, shortest_schedule
from oracle.brokers.edges import EdgeGraph
from oracle.brokers.held_graph import HeldGraph
from reports.coverage_page import write_coverage_page

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.coverage.covered import Covered
    from conformance.hunting.journal import HuntedSchedule
    from conformance.line import Line
    from conformance.run_options import RunOptions
    from oracle.brokers.edge_schedule import CoverSchedule

DESCRIPTION = """Says how much of a release's model real brokers have been through with every number as predicted, and
runs the rest on purpose. The model's graph has every state that the partition can reach within the bounds, and an edge
for each half step that the rules allow there: a request reaches its leader, an answer its follower, a record is sent, a
broker dies or starts. An edge counts as held if a run that conforms has held and probed the brokers in its source and
in its target, with nothing else between; edges that brokers only passed, on the wire, are counted apart. Over the
whole vocabulary of steps it counts which rules decided which steps: those that, swapped, would have led elsewhere. What
is covered adds up in one file a release."""
EPILOG = """examples:
  kafka-conformance coverage --kafka 4.4.0                          what is covered, and what is left
  kafka-conformance coverage --kafka 4.4.0 --time 30m --lanes 2     run schedules that hold what was never held
  kafka-conformance coverage --kafka 4.4.0 --count runs hunts/runs  add what other runs have been through
  kafka-conformance coverage --kafka 4.4.0 --merge theirs.json      add what another machine has covered
  kafka-conformance coverage --kafka 4.4.0 --edge 5c51c779b4a2      write the shortest schedule that holds an edge
  kafka-conformance coverage --kafka 2.8.2 --stops                  the graph with graceful stops, counted by itself
  kafka-conformance coverage --stops --sample 50 --seed 7 --time 1h run what holds 50 of its edges, drawn by a seed
  kafka-conformance hunt --time 20m --guided-by coverage/4.4.0-kraft.json    prefer what no run has met

The graph has no pause, cut, isolation, election on request, reassignment, change of settings or deletion, no follower
that is silent for too long, and its brokers hear a decision at once: what it covers says nothing about those.

exit codes: 0 all that was run conforms, 1 something deviates, 2 usage, 3 inconclusive, 4 harness error,
130 Ctrl-C, after which what has its verdict is in the file
"""


@dataclass(frozen=True, slots=True)
class CoverageRequest:
    """What ``coverage`` is asked for.

    Attributes:
        file: where what is covered adds up.
        directory: of the runs.
        schedules: how many are run at most; None for as many as there is time.
        seconds: for how long; None for no limit.
        lanes: how many clusters run side by side.
        seed: of record ids, and of the sample.
        sample: ids of the edges that were drawn; None if none were, and all are wanted.
    """

    line: Line
    graph: HeldGraph
    file: Path
    directory: Path
    schedules: int | None
    seconds: float | None
    lanes: int
    seed: int
    sample: frozenset[str] | None
    options: RunOptions

    @property
    def name(self) -> str:
        """Return the name of the graph."""
        return graph_name(self.graph.edges.model.bounds)

    @property
    def is_to_run(self) -> bool:
        """Return whether brokers are to be run."""
        return self.schedules is not None or self.seconds is not None

    def cover(self, covered: Covered) -> Iterator[CoverSchedule]:
        """Yield schedules that hold what is asked for and was never held."""
        return cover_schedules(self.graph, covered.graph(self.name).held, asked=self.sample)


def add_coverage(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("--kafka", default=NEWEST, metavar="V", help="release, such as 2.8.2 or 3.9/zookeeper")
    parser.add_argument("--schedules", type=whole_number(1, SCHEDULES_MAX), metavar="N", help="run so many at most")
    parser.add_argument("--time", type=duration, metavar="T", help="run for so long: 90s, 20m or 1h")
    add_lanes(parser)
    parser.add_argument("--count", nargs="+", type=Path, default=[], metavar="RUN", help="add these runs, or all in it")
    parser.add_argument("--merge", nargs="+", type=Path, default=[], metavar="FILE", help="add what other files have")
    parser.add_argument(
        "--sample",
        type=whole_number(1, SCHEDULES_MAX),
        metavar="N",
        help="only for N edges of the graph that SEED draws",
    )
    parser.add_argument("--edge", metavar="ID", help="only write the shortest schedule that holds this edge")
    parser.add_argument("--write", type=Path, metavar="DIR", help="only write the schedules that would hold the rest")
    parser.add_argument("--file", type=Path, metavar="FILE", help="default: that of the release, in RUNS-DIR")
    parser.add_argument("--runs-dir", type=Path, default=Path("coverage"), help="where it all goes (default: coverage)")
    bounds = parser.add_argument_group("the graph", "its bounds, and what may happen in it")
    for option, default in (("--replicas", 2), ("--records", 1), ("--epochs", 2)):
        bounds.add_argument(option, type=whole_number(1, 9), default=default, metavar="N", help=f"default: {default}")
    add_partition(bounds)
    add_run_options(parser.add_argument)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    parser.set_defaults(command=_command)


def _command(console: Console, parsed: argparse.Namespace) -> int:
    asked = _asked(parsed)
    covered = read_covered(asked.file, asked.line.rules)
    if parsed.edge is not None:
        return _write_edge(console, asked, parsed.edge)
    if parsed.write is not None:
        return _write_rest(console, asked, covered, parsed.write)
    _add(console, asked, covered, parsed)
    hunted: list[HuntedSchedule] = []
    try:
        if asked.is_to_run:
            _run(console, asked, covered, hunted)
    finally:
        _tell(console, asked, covered, hunted)
    return exit_code((one.counted, None) for one in hunted)


def _asked(parsed: argparse.Namespace) -> CoverageRequest:
    options = run_options(given(parsed))
    check_options(options)
    line = held_against(line_named(parsed.kafka, own=options.own), options.rules_of)
    graph = HeldGraph(EdgeGraph(line.rules, bounds_of(parsed)))
    file = parsed.file or covered_file(parsed.runs_dir, line.rules)
    seed = seed_of(options)
    sample = None if parsed.sample is None else sampled(graph.edges, seed, parsed.sample)
    return CoverageRequest(
        line, graph, file, parsed.runs_dir, parsed.schedules, parsed.time, parsed.lanes or 1, seed, sample, options
    )


def sampled(graph: EdgeGraph, seed: int, count: int) -> frozenset[str]:
    """Return ids of edges that a seed draws: of all, whether a schedule can hold them or not.

    Raises:
        UsageError: the graph has not so many.
    """
    ids = sorted(edge.id for edge in graph.edges)
    if count > len(ids):
        raise UsageError(f"--sample {count}: this graph has {len(ids)} edges")
    return frozenset(Random(seed).sample(ids, count))  # noqa: S311 - whoever checks gives the seed


def _write_edge(console: Console, asked: CoverageRequest, edge: str) -> int:
    """Write the shortest schedule to an edge.

    Raises:
        UsageError: there is no such edge, or no schedule holds it.
    """
    written = shortest_schedule(asked.graph, edge)
    if written is None:
        known = asked.graph.why_not.get(edge)
        why = "there is no such edge in this graph" if known is None else f"no schedule holds it: {known.value}"
        raise UsageError(f"edge {edge}: {why}; --json lists the edges that are missing")
    journal, words = Journal(asked.directory), "edge " + edge
    console.answer(str(journal.write_schedule(asked.line, written.schedule, words, UNRUN, asked.options)))
    return 0


def _write_rest(console: Console, asked: CoverageRequest, covered: Covered, directory: Path) -> int:
    check_writable(directory)
    journal = Journal(directory)
    for one in asked.cover(covered):
        edges = f"holds {len(one.edges)} edges"
        console.answer(str(journal.write_schedule(asked.line, one.schedule, edges, UNRUN, asked.options)))
    return 0


def _add(console: Console, asked: CoverageRequest, covered: Covered, parsed: argparse.Namespace) -> None:
    """Add what runs and other files have."""
    for path in parsed.merge:
        covered.merge(read_other(path))
    runs = [open_run(path) for path in runs_given(parsed.count)] if parsed.count else []
    counted = Counter(_count(asked, covered, run) for run in runs)
    for why, count in counted.items():
        console.progress(f"{count} runs {'counted' if why is None else f'not counted: {why}'}")
    if parsed.merge or parsed.count:
        write_covered(asked.file, covered)


def _count(asked: CoverageRequest, covered: Covered, run: RunDirectory) -> str | None:
    """Add what a run has been through; return why it does not count, or not for the graph."""
    rules = asked.line.rules
    try:
        schedule = schedule_that_counts(run, rules)
        covered.add_decisions(run.path.name, decisions_of_run(run, schedule, rules))
        covered.add(asked.name, run.path.name, edges_of_run(run, schedule, asked.graph.edges))
    except NotCountedError as why_not:
        return str(why_not)
    return None


def _run(console: Console, asked: CoverageRequest, covered: Covered, hunted: list[HuntedSchedule]) -> None:
    """Run schedules that hold what was never held; what each has been through is in the file as soon as it conforms."""
    check_writable(asked.directory)
    ends = None if asked.seconds is None else time.monotonic() + asked.seconds
    lane = HuntLane(asked.line, asked.seed, asked.directory, ends, "a cover")
    words = f"Kafka {asked.line.text}, the cover of {asked.name}, seed {asked.seed}."
    with Lanes(asked.lanes, lane.order(asked.options, words), lane.run, console.progress) as lanes:
        for one in lanes.results(_blocks(asked, covered, lane)):
            hunted.append(one)
            if not one.is_finding and (why := _count(asked, covered, RunDirectory(lane.runs / one.run))) is not None:
                console.progress(f"not counted: {why}")
            write_covered(asked.file, covered)


def _blocks(asked: CoverageRequest, covered: Covered, lane: HuntLane) -> Iterator[tuple[NumberedSchedule, ...]]:
    """Yield what is to be run, until nothing is left or the time is over."""
    written = islice(asked.cover(covered), asked.schedules)
    numbered = (NumberedSchedule(number, one.schedule) for number, one in enumerate(written))
    while not lane.is_over() and (block := tuple(islice(numbered, BLOCK))):
        yield block


def _tell(console: Console, asked: CoverageRequest, covered: Covered, hunted: list[HuntedSchedule]) -> None:
    summary, rules = summarised(asked.graph, covered.graph(asked.name)), asked.line.rules
    decided = decisions_summarised(covered.met, rules)
    page = asked.file.with_suffix(".html") if asked.file.exists() else None
    if page is not None:
        write_coverage_page(page, f"Kafka {rules.version} ({rules.metadata.value})", asked.name, summary, decided)
    if console.as_json:
        schedules = [asdict(one) for one in hunted]
        share = sample_share(asked, covered)
        drawn = None if share is None else {"seed": asked.seed, **asdict(share)}
        about = {"kafka": rules.version, "metadata": rules.metadata.value, "graph": asked.name, "page": page}
        answer = {**about, **asdict(summary), "sample": drawn, "decisions": asdict(decided), "schedules": schedules}
        console.answer_json(answer)
        return
    for line_of_text in coverage_lines(asked, covered, summary, decided):
        console.answer(line_of_text)
    for one in hunted:
        if one.is_finding:
            console.answer(f"{one.line}  {one.number}  {one.words}")
    if page is not None:
        console.answer(f"page: {page}")
