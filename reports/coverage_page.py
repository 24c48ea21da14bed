"""How does the page about the coverage of a model come about? Counted edges go in, one file without script comes out.

What it shows of a graph is read through protocols: reports know nothing of those who count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from reports.html import style_sheet, template_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class ShareText(Protocol):
    """How many edges of one kind were covered."""

    @property
    def held(self) -> int:
        """With both sides held and probed."""

    @property
    def passed(self) -> int:
        """On the wire only."""

    @property
    def edges(self) -> int:
        """All of the kind."""

    @property
    def cannot_be_held(self) -> int:
        """Those of which no schedule holds both sides, and that were not passed either."""

    @property
    def left(self) -> int:
        """All others."""


class EdgeText(Protocol):
    """An edge that was not held on both sides."""

    @property
    def id(self) -> str:
        """What ``coverage --edge`` takes."""

    @property
    def action(self) -> str:
        """What happens, in words."""

    @property
    def why_not(self) -> str | None:
        """Why no schedule holds it."""


class CoverageText(Protocol):
    """What is covered of a graph."""

    @property
    def states(self) -> int:
        """States of the graph."""

    @property
    def whole(self) -> ShareText:
        """Of all edges."""

    @property
    def by_step(self) -> Mapping[str, ShareText]:
        """By the step that takes an edge."""

    @property
    def by_rule(self) -> Mapping[str, ShareText]:
        """By each rule that decides what an edge changes."""

    @property
    def why_not(self) -> Mapping[str, int]:
        """How many edges no schedule holds, by the reason."""

    @property
    def missing(self) -> Sequence[EdgeText]:
        """Every edge that was not held."""


class DecisionsText(Protocol):
    """Which rules decided which steps of runs."""

    @property
    def triples(self) -> int:
        """Triples of step, rule and point of a held frame."""

    @property
    def pairs(self) -> int:
        """Pairs of step and rule."""

    @property
    def by_rule(self) -> Mapping[str, Mapping[str, int]]:
        """For each rule the steps that it decided, with the number of points."""

    @property
    def never(self) -> Sequence[str]:
        """The rules that decided no step."""


def percent(held: int, edges: int) -> str:
    """Return a share in words; 100 % is all of them and nothing less."""
    if held == edges:
        return "100 %"
    return f"{min(1000 * held // max(edges, 1), 999) / 10:.1f} %"


def write_coverage_page(out: Path, line: str, graph: str, summary: CoverageText, decided: DecisionsText) -> Path:
    """Write the page of a graph.

    Args:
        out: its path.
        line: the release, in words.
        graph: the bounds of the graph, in words.
        summary: what is covered.
        decided: which rules decided which steps, whatever the graph.
    """
    environment = template_environment()
    environment.filters["percent"] = lambda share: percent(share.held, share.edges)
    environment.filters["width"] = lambda part, share: f"{100 * part / max(share.edges, 1):.2f}%"
    page = environment.get_template("coverage.html.j2").render(
        line=line,
        graph=graph,
        summary=summary,
        decided=decided,
        whole=summary.whole,
        kinds=(("Step", summary.by_step), ("Rule behind what changes", summary.by_rule)),
        left=[one for one in summary.missing if one.why_not is None],
        unheld=[one for one in summary.missing if one.why_not is not None],
        css=style_sheet("report.css", "coverage.css"),
    )
    out.write_text(page, encoding="utf-8")
    return out
