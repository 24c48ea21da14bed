"""What does ``coverage`` say in words? Of the graph by step and by rule, of a sample, and of what rules decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.commands.parser import table_lines
from conformance.coverage.summary import share_of
from reports.coverage_page import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.commands.coverage import CoverageRequest
    from conformance.coverage.covered import Covered
    from conformance.coverage.summary import CoverageSummary, DecisionSummary, Share

MISSING_MAX = 12
"""So many edges that are missing an answer in words names; --json has all."""


def coverage_lines(
    asked: CoverageRequest, covered: Covered, summary: CoverageSummary, decided: DecisionSummary
) -> Iterator[str]:
    """Yield the lines of an answer in words."""
    yield from _graph_lines(asked, summary)
    yield from _sample_lines(asked, covered)
    yield from _decision_lines(decided)


def _graph_lines(asked: CoverageRequest, summary: CoverageSummary) -> Iterator[str]:
    rules, whole = asked.line.rules, summary.whole
    yield f"Kafka {rules.version} ({rules.metadata.value}), {asked.name}: {summary.states} states, {whole.edges} edges"
    yield f"held and probed on both sides: {whole.held} ({percent(whole.held, whole.edges)})"
    yield f"passed on the wire only: {whole.passed}"
    for why, count in summary.why_not.items():
        yield f"cannot be held: {count}, {why}"
    yield from ("", *_table("by step", summary.by_step), "", *_table("by rule", summary.by_rule))
    left = [one for one in summary.missing if one.why_not is None]
    if left:
        runs = "" if asked.sample is not None else " (--time runs them)"
        yield from ("", f"{len(left)} edges are left that a schedule can hold{runs}, the nearest first:")
        yield from table_lines([(one.id, (one.action,)) for one in left[:MISSING_MAX]])


def sample_share(asked: CoverageRequest, covered: Covered) -> Share | None:
    """Return how many of the drawn edges were covered; None if none were drawn."""
    sample = asked.sample
    if sample is None:
        return None
    drawn = (edge for edge in asked.graph.edges.edges if edge.id in sample)
    return share_of(drawn, asked.graph, covered.graph(asked.name))


def _sample_lines(asked: CoverageRequest, covered: Covered) -> Iterator[str]:
    drawn = sample_share(asked, covered)
    if drawn is None:
        return
    yield ""
    yield (
        f"of {drawn.edges} edges that seed {asked.seed} draws: {drawn.held} held, {drawn.passed} passed, "
        f"{drawn.cannot_be_held} cannot be held, {drawn.left} left"
    )


def _decision_lines(decided: DecisionSummary) -> Iterator[str]:
    yield ""
    yield (
        f"over the whole vocabulary: {decided.pairs} pairs of a step and a rule that decided it, and {decided.triples} "
        "triples with the point of a held frame"
    )
    rows = [
        (rule, (", ".join(f"{step} {points}" if points > 1 else step for step, points in steps.items()),))
        for rule, steps in decided.by_rule.items()
    ]
    yield from table_lines(rows) if rows else ()
    yield f"rules that decided no step yet: {', '.join(decided.never) or 'none'}"


def _table(kind: str, shares: Mapping[str, Share]) -> Iterator[str]:
    heading = (kind, ("held", "passed", "cannot be held", "edges"))
    rows = [
        (name, tuple(map(str, (share.held, share.passed, share.cannot_be_held, share.edges))))
        for name, share in shares.items()
    ]
    yield from table_lines([heading, *rows])
