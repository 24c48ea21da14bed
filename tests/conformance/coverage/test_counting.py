"""Does a run count for the edges that its brokers were held and probed on, and for no other?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.coverage.counting import NotCountedError, decisions_of_run, edges_of_run, schedule_that_counts
from conformance.coverage.covered import CoveredEdges
from conformance.coverage.summary import summarised
from conformance.record.reconciliation import read_checkpoints, write_checkpoints
from conformance.record.verdict import Conformance
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from oracle.brokers.edge_schedule import CoverSchedule, cover_schedules
from oracle.rules.by_version import rules_for
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import change_run, judged, read_json, read_lines, write_json, write_lines
from tests.oracle.brokers.held import KRAFT, edges, held

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.coverage.counting import RunEdges
    from conformance.record.directory import RunDirectory


@cache
def written() -> CoverSchedule:
    """Return the first schedule of the cover, which holds many edges."""
    return next(iter(cover_schedules(held("4.4.0", KRAFT))))


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Return a run of that schedule, as brokers do it that do as the model says."""
    schedule = written().schedule
    found = write_ideal_run(tmp_path, "4.4.0", "kraft", Scenario(schedule.id, schedule, "a cover"))
    assert judged(found).conformance is Conformance.CONFORMS
    return found


def counted(run: RunDirectory) -> RunEdges:
    """Return what a run has been through in the graph of 4.4.0."""
    graph = edges("4.4.0", KRAFT)
    return edges_of_run(run, schedule_that_counts(run, graph.model.rules), graph)


def test_a_run_that_conforms_holds_what_its_schedule_was_written_for(run: RunDirectory) -> None:
    found = counted(run)

    assert found.held >= set(written().edges)
    assert len(found.held - set(written().edges)) <= 1, "the way back at the end may take one more"
    assert not found.passed & found.held


def test_an_edge_beside_a_checkpoint_that_was_not_measured_does_not_count(run: RunDirectory) -> None:
    write_checkpoints(run, [one for one in read_checkpoints(run) if not one.name.startswith("1. ")])

    found = counted(run)

    assert found.held >= set(written().edges[2:])
    assert not found.held & set(written().edges[:2])
    assert set(written().edges[:2]) <= found.passed


def test_an_edge_beside_a_number_that_differs_does_not_count(run: RunDirectory) -> None:
    checkpoints = read_json(run, "reconciliation/checkpoints.json")
    last = next(one for one in reversed(checkpoints) if written().edges[-1] in one["name"])
    last["rows"][0]["agrees"] = False
    write_json(run, "reconciliation/checkpoints.json", checkpoints)

    assert counted(run).held == set(written().edges[:-1])


def test_a_step_that_did_not_end_has_passed_nothing(run: RunDirectory) -> None:
    write_checkpoints(run, ())
    marks = [one for one in read_lines(run, "timeline.ndjson") if one["event"] != "step_finished"]
    write_lines(run, "timeline.ndjson", marks)
    judged(run)
    verdict = read_json(run, "verdict.json")
    write_json(run, "verdict.json", verdict | {"conformance": "CONFORMS"})
    write_checkpoints(run, ())

    found = counted(run)
    assert (found.held, found.passed) == (frozenset(), frozenset())


def test_a_run_that_deviates_does_not_count(run: RunDirectory) -> None:
    write_json(run, "verdict.json", read_json(run, "verdict.json") | {"conformance": "DEVIATES"})

    with pytest.raises(NotCountedError, match="without the verdict CONFORMS"):
        counted(run)


def test_a_run_of_other_rules_does_not_count(run: RunDirectory) -> None:
    change_run(run, rules_of="4.4.0~maximal-isr", rules_metadata="kraft")

    with pytest.raises(NotCountedError, match=r"held against the rules of 4\.4\.0~maximal-isr/kraft"):
        counted(run)


def test_a_run_whose_files_have_changed_does_not_count(run: RunDirectory) -> None:
    write_json(run, "schedule.json", read_json(run, "schedule.json") | {"requirement": "another"})

    with pytest.raises(NotCountedError, match=r"schedule\.json has changed since the run ended"):
        counted(run)


def test_a_run_of_another_partition_does_not_count(tmp_path: Path) -> None:
    unclean = write_ideal_run(tmp_path, "4.4.0", "kraft", RESTARTED_FOLLOWER)
    judged(unclean)

    with pytest.raises(NotCountedError, match="of other replicas or settings"):
        counted(unclean)


def decided(run: RunDirectory) -> set[tuple[str, str]]:
    """Return the pairs of step and rule that a run has been through."""
    rules = rules_for("4.4.0", KRAFT)
    return {one.pair for one in decisions_of_run(run, schedule_that_counts(run, rules), rules)}


def test_what_rules_decided_counts_whatever_the_partition(tmp_path: Path) -> None:
    unclean = write_ideal_run(tmp_path, "4.4.0", "kraft", RESTARTED_FOLLOWER)
    judged(unclean)

    assert ("start", "truncate-on-fetch") in decided(unclean)


def test_of_a_step_that_did_not_end_nothing_was_decided(run: RunDirectory) -> None:
    pairs = decided(run)
    assert "kill" in {step for step, _ in pairs}
    kills = {index for index, step in enumerate(written().schedule.steps) if step.word == "kill"}
    marks = [
        one
        for one in read_lines(run, "timeline.ndjson")
        if not (one["event"] == "step_finished" and one["step"] in kills)
    ]
    write_lines(run, "timeline.ndjson", marks)
    rules = rules_for("4.4.0", KRAFT)
    found = {one.pair for one in decisions_of_run(run, written().schedule, rules)}

    assert found == {(step, rule) for step, rule in pairs if step != "kill"}


def test_what_is_left_is_told_by_step_and_by_rule() -> None:
    graph = held("4.4.0", KRAFT)
    nothing, first = summarised(graph, CoveredEdges()), written().edges
    some = summarised(graph, CoveredEdges(dict.fromkeys(first, ("a run",)), {graph.edges.edges[0].id: ("a run",)}))

    assert nothing.whole.edges == len(graph.edges.edges) == len(nothing.missing)
    assert nothing.whole.held == 0
    assert some.whole.held == len(first) == len(nothing.missing) - len(some.missing)
    for shares in (some.by_step, some.by_rule):
        assert sum(share.held for share in shares.values()) >= len(first)
    assert sum(share.edges for share in some.by_step.values()) == some.whole.edges
    assert sum(some.why_not.values()) == len(graph.why_not) == nothing.whole.cannot_be_held
    assert graph.edges.edges[0].id in graph.why_not, "it was passed: that is not held against it"
    assert (some.whole.passed, some.whole.cannot_be_held) == (1, len(graph.why_not) - 1)
    assert some.whole.left == sum(one.why_not is None for one in some.missing)
