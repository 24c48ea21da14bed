"""What is covered of a graph, by step and by rule, and what is left? And which rules decided which steps at all?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.brokers.edges import RELEASE
from oracle.rules.by_version import one_rule_apart

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from conformance.coverage.covered import CoveredEdges
    from conformance.hunting.deciding import RuleDecision
    from oracle.brokers.edges import BrokerEdge
    from oracle.brokers.held_graph import HeldGraph
    from oracle.rules.rule_set import RuleSet

NO_RULE = "no rule that some release changed"


@dataclass(frozen=True, slots=True)
class Share:
    """How many edges of one kind were covered.

    Attributes:
        held: with both sides held and probed.
        passed: on the wire only.
        edges: how many there are.
        cannot_be_held: how many were not passed either, and no schedule can hold both sides of them.
    """

    held: int
    passed: int
    edges: int
    cannot_be_held: int

    @property
    def left(self) -> int:
        """How many are left."""
        return self.edges - self.held - self.passed - self.cannot_be_held


@dataclass(frozen=True, slots=True)
class MissingEdge:
    """An edge that was not held on both sides.

    Attributes:
        id: what ``--edge`` takes.
        action: what happens, in words.
        was_passed: whether brokers took it, on the wire.
        why_not: why no schedule holds it; None if one does.
    """

    id: str
    action: str
    was_passed: bool
    why_not: str | None


@dataclass(frozen=True, slots=True)
class CoverageSummary:
    """What is covered of a graph.

    Attributes:
        whole: of all edges.
        by_step: by the step that takes an edge, or the point at which a frame is let go.
        by_rule: by each rule that decides what an edge changes; an edge may have several.
        why_not: how many edges no schedule holds, by the reason.
        missing: every edge that was not held, in the order of the search.
    """

    states: int
    whole: Share
    by_step: Mapping[str, Share]
    by_rule: Mapping[str, Share]
    why_not: Mapping[str, int]
    missing: tuple[MissingEdge, ...]


def summarised(graph: HeldGraph, covered: CoveredEdges) -> CoverageSummary:
    """Return what is covered of a graph."""
    edges = graph.edges.edges
    kinds: dict[str, list[BrokerEdge]] = {}
    rules: dict[str, list[BrokerEdge]] = {}
    for edge in edges:
        kinds.setdefault(step_words(edge), []).append(edge)
        for rule in graph.edges.rules_of(edge) or (NO_RULE,):
            rules.setdefault(rule, []).append(edge)

    return CoverageSummary(
        len(graph.edges.states),
        share_of(edges, graph, covered),
        {name: share_of(kinds[name], graph, covered) for name in sorted(kinds)},
        {name: share_of(rules[name], graph, covered) for name in sorted(rules)},
        dict(Counter(why.value for why in graph.why_not.values())),
        tuple(
            MissingEdge(edge.id, str(edge.action), edge.id in covered.passed, graph.why_not.get(edge.id))
            for edge in edges
            if edge.id not in covered.held
        ),
    )


def share_of(edges: Iterable[BrokerEdge], graph: HeldGraph, covered: CoveredEdges) -> Share:
    """Return how many of some edges were covered."""
    ids = [edge.id for edge in edges]
    held = sum(edge in covered.held for edge in ids)
    passed = sum(edge in covered.passed and edge not in covered.held for edge in ids)
    unheld = sum(edge in graph.why_not and edge not in covered.passed for edge in ids)
    return Share(held, passed, len(ids), unheld)


@dataclass(frozen=True, slots=True)
class DecisionSummary:
    """Which rules decided which steps of runs that conform, over the whole vocabulary.

    Attributes:
        triples: how many triples of step, rule and point of a held frame there are.
        pairs: how many pairs of step and rule.
        by_rule: for each rule the steps that it decided, with the number of points at which frames were held then.
        never: the rules that decided none.
    """

    triples: int
    pairs: int
    by_rule: Mapping[str, Mapping[str, int]]
    never: tuple[str, ...]


def decisions_summarised(met: Collection[RuleDecision], rules: RuleSet) -> DecisionSummary:
    """Return what rules decided in runs.

    Args:
        met: each decision.
        rules: the release's.
    """
    of_step = Counter(one.pair for one in met)
    by_rule: dict[str, dict[str, int]] = {}
    for (step, rule), points in sorted(
        of_step.items(), key=lambda counted: (counted[0][1], -counted[1], counted[0][0])
    ):
        by_rule.setdefault(rule, {})[step] = points
    never = tuple(sorted(set(one_rule_apart(rules)) - set(by_rule)))
    return DecisionSummary(len(met), len(of_step), by_rule, never)


def step_words(edge: BrokerEdge) -> str:
    """Return the step that takes an edge, with the point of the frame that it lets go."""
    return edge.step if edge.step != RELEASE or edge.point is None else f"{RELEASE} {edge.point.value}"
