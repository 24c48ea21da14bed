"""Does the page of coverage say what was counted, and is 100 % all of it?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conformance.coverage.covered import CoveredEdges
from conformance.coverage.summary import decisions_summarised, summarised
from conformance.hunting.deciding import NOTHING_HELD, RuleDecision
from oracle.rules.by_version import one_rule_apart, rules_for
from reports.coverage_page import percent, write_coverage_page
from tests.oracle.brokers.held import KRAFT, held
from tests.reports.browser import objections

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("some", "of_all", "words"), [(0, 802, "0.0 %"), (246, 802, "30.6 %"), (9999, 10000, "99.9 %"), (10, 10, "100 %")]
)
def test_a_share_is_rounded_down(some: int, of_all: int, words: str) -> None:
    assert percent(some, of_all) == words


def page_of(folder: Path, covered: CoveredEdges, met: frozenset[RuleDecision] = frozenset()) -> str:
    page = write_coverage_page(
        folder / "page.html",
        "Kafka 4.4.0 (kraft)",
        "a graph",
        summarised(held("4.4.0", KRAFT), covered),
        decisions_summarised(met, rules_for("4.4.0", KRAFT)),
    )
    return page.read_text(encoding="utf-8")


def test_the_page_names_every_edge_that_is_missing_and_no_other(tmp_path: Path) -> None:
    graph = held("4.4.0", KRAFT)
    covered = CoveredEdges(dict.fromkeys(list(graph.arcs_by_edge())[:100], ("a run",)))
    page = page_of(tmp_path, covered)

    assert set(re.findall(r'"mono">([0-9a-f]{12})<', page)) == {one.id for one in graph.edges.edges} - set(covered.held)
    assert f"100 of {len(graph.edges.edges)} edges held" in page
    assert all(f"cannot be held: {why.value}" in page for why in graph.why_not.values())
    assert "<script" not in page


def test_a_whole_cover_has_no_gap_but_what_cannot_be_held(tmp_path: Path) -> None:
    graph = held("4.4.0", KRAFT)
    page = page_of(tmp_path, CoveredEdges(dict.fromkeys(graph.arcs_by_edge(), ("a run",))))

    assert "Every edge that a schedule can hold was held." in page
    assert set(re.findall(r'"mono">([0-9a-f]{12})<', page)) == set(graph.why_not)
    assert "100 %" not in re.findall(r"<h1>(.*)</h1>", page)[0]


def test_the_page_names_each_rule_with_the_steps_that_it_decided(tmp_path: Path) -> None:
    rules = sorted(one_rule_apart(rules_for("4.4.0", KRAFT)))
    met = {RuleDecision("kill", rules[0], NOTHING_HELD), RuleDecision("kill", rules[0], "fetch_request")}
    page = page_of(tmp_path, CoveredEdges(), frozenset(met))

    assert "1 pairs of step and rule, and 2 triples" in page
    assert f'"mono">{rules[0]}</th><td><ul class="steps"><li>kill <b>2</b></li></ul>' in page
    assert f"{len(rules) - 1} rules decided no step yet: {', '.join(rules[1:])}." in page


@pytest.mark.browser
def test_nothing_can_be_objected_to_in_a_browser(tmp_path: Path) -> None:
    page_of(tmp_path, CoveredEdges({}))
    assert objections(tmp_path / "page.html") == []
