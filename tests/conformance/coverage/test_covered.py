"""Does coverage add up, in whatever order runs and files come?"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from conformance.coverage.counting import RunEdges
from conformance.coverage.covered import (
    RUNS_MAX,
    CoverageFileError,
    Covered,
    covered_file,
    graph_name,
    read_covered,
    read_other,
    write_covered,
)
from oracle.brokers.questions import SearchBounds
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.vocabulary import Acks, HighWatermarkCheckpoint, MetadataMode

if TYPE_CHECKING:
    from pathlib import Path

RULES = rules_for("4.4.0", MetadataMode.KRAFT)
NAME = graph_name(SearchBounds(records=1, epochs=2))


def of_runs(*runs: str) -> Covered:
    covered = Covered("4.4.0", "kraft")
    for run in runs:
        covered.add(NAME, run, RunEdges(frozenset({"a", run}), frozenset({"b"})))
    return covered


def test_a_run_counts_once(tmp_path: Path) -> None:
    covered = of_runs("one", "one", "two")
    assert covered.graph(NAME).held == {"a": ("one", "two"), "one": ("one",), "two": ("two",)}
    assert covered.graph(NAME).passed == {"b": ("one", "two")}

    path = covered_file(tmp_path, RULES)
    write_covered(path, covered)
    assert path.name == "4.4.0-kraft.json"
    assert read_covered(path, RULES) == covered


def test_files_merged_in_any_order_give_one_file(tmp_path: Path) -> None:
    told = set()
    for order in permutations(("one", "two", "three", "four")):
        whole = Covered("4.4.0", "kraft")
        for run in (*order, order[0]):
            whole.merge(of_runs(run))
        write_covered(tmp_path / "whole.json", whole)
        told.add((tmp_path / "whole.json").read_bytes())
    assert len(told) == 1
    assert len(whole.graph(NAME).held["a"]) == RUNS_MAX
    assert set(whole.graph(NAME).held) == {"a", "one", "two", "three", "four"}


def test_a_file_of_another_release_is_refused(tmp_path: Path) -> None:
    write_covered(tmp_path / "x.json", of_runs("one"))
    with pytest.raises(CoverageFileError, match=r"of Kafka 4\.4\.0 \(kraft\), and not of 4\.3\.1 \(kraft\)"):
        read_covered(tmp_path / "x.json", rules_for("4.3.1", MetadataMode.KRAFT))


@pytest.mark.parametrize("content", [b"{", b'{"kafka": 4}'])
def test_what_is_no_coverage_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(CoverageFileError, match=r"x\.json is no coverage file"):
        read_other(tmp_path / "x.json")
    with pytest.raises(CoverageFileError, match=r"none\.json does not exist: give a file that `coverage` wrote"):
        read_other(tmp_path / "none.json")


def test_graphs_of_other_bounds_have_other_names() -> None:
    other = [
        SearchBounds(),
        SearchBounds(replicas=3),
        SearchBounds(records=1),
        SearchBounds(epochs=1),
        SearchBounds(acks=Acks.LEADER),
        SearchBounds(acks=Acks.NONE),
        SearchBounds(settings=TopicSettings(2)),
        SearchBounds(settings=TopicSettings(1, True)),
        SearchBounds(checkpointing=HighWatermarkCheckpoint.NEVER),
        SearchBounds(stops=True),
        SearchBounds(power_failure=True),
        SearchBounds(late_joins=True),
    ]
    assert len({graph_name(bounds) for bounds in other}) == len(other)
    assert graph_name(SearchBounds(stops=True, late_joins=True)) == "replicas=2 records=2 epochs=3 stops late-joins"
