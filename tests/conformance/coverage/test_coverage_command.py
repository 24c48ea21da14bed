"""What does ``coverage`` answer where no broker is run, and what does it refuse?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.cli import main
from conformance.commands.coverage import sampled
from conformance.schedules.schedule_file import read_schedule
from oracle.brokers.edge_schedule import claims, cover_schedules
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import judged
from tests.oracle.brokers.held import KRAFT, held

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ("--kafka", "4.4.0", "--epochs", "1")
"""A graph of some forty edges."""


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["coverage", *arguments]) == 0
    return capsys.readouterr().out


def test_nothing_is_covered_before_anything_was_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, *SMALL, "--runs-dir", str(tmp_path)).splitlines()

    assert lines[0].startswith("Kafka 4.4.0 (kraft), replicas=2 records=1 epochs=1: ")
    assert lines[1] == "held and probed on both sides: 0 (0.0 %)"
    assert not [*tmp_path.iterdir()]


def test_runs_are_counted_once_and_files_are_merged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = next(iter(cover_schedules(held("4.4.0", KRAFT))))
    run = write_ideal_run(tmp_path / "runs", "4.4.0", "kraft", Scenario(one.schedule.id, one.schedule, "a cover"))
    judged(run)
    here, there = ("--runs-dir", str(tmp_path / "here")), ("--runs-dir", str(tmp_path / "there"))
    for _ in range(2):
        answer = json.loads(told(capsys, "--kafka", "4.4.0", *here, "--count", str(tmp_path / "runs"), "--json"))
        assert answer["whole"]["held"] - len(one.edges) in {0, 1}
        assert not {edge["id"] for edge in answer["missing"]} & set(one.edges)

    merged = told(capsys, "--kafka", "4.4.0", *there, "--merge", str(tmp_path / "here" / "4.4.0-kraft.json"), "--json")
    assert json.loads(merged)["whole"] == answer["whole"]
    assert json.loads(merged)["decisions"] == answer["decisions"]
    assert answer["decisions"]["pairs"] > 0
    told(capsys, "--kafka", "4.4.0", *here, "--write", str(tmp_path / "rest"))
    rest = [read_schedule(path).schedule for path in (tmp_path / "rest" / "schedules").glob("*.yaml")]
    left = {edge["id"] for edge in answer["missing"] if edge["why_not"] is None}
    assert {edge for schedule in rest for edge in claims(schedule)} >= left


def test_the_shortest_schedule_to_an_edge_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(told(capsys, *SMALL, "--runs-dir", str(tmp_path), "--json"))
    edge = next(one["id"] for one in answer["missing"] if one["why_not"] is None)
    path = told(capsys, *SMALL, "--runs-dir", str(tmp_path), "--edge", edge).strip()

    assert claims(read_schedule(tmp_path / path).schedule)[-1] == edge


def test_a_sample_is_drawn_by_the_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = (*SMALL, "--runs-dir", str(tmp_path), "--sample", "7", "--seed")
    first, again, other = (json.loads(told(capsys, *sample, seed, "--json"))["sample"] for seed in ("1", "1", "2"))
    assert first == again
    assert first["edges"] == other["edges"] == 7
    graph = held("4.4.0", KRAFT).edges
    assert sampled(graph, 1, 7) == sampled(graph, 1, 7) != sampled(graph, 2, 7)
    assert "of 7 edges that seed 2 draws: 0 held, 0 passed, " in told(capsys, *sample, "2")


def test_only_what_was_drawn_is_to_be_held(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = {}
    for count in (1, 7):
        sample = (*SMALL, "--runs-dir", str(tmp_path / str(count)), "--sample", str(count), "--seed", "5")
        answer = json.loads(told(capsys, *sample, "--json"))["sample"]
        paths = told(capsys, *sample, "--write", str(tmp_path / f"rest{count}")).split()
        left[count] = answer["edges"] - answer["cannot_be_held"], len(paths)
    assert left[1][1] <= left[1][0]
    assert 0 < left[7][1] <= left[7][0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--edge", "nothing"), "edge nothing: there is no such edge in this graph"),
        (("--kafka", "9.9.9"), "9.9.9"),
        (("--merge", "nowhere.json"), "nowhere.json does not exist"),
        (("--merge", "other-decisions.json"), "decisions that cannot be read"),
        (("--count", "nowhere"), "nowhere"),
        (("--sample", "9999"), "--sample 9999: this graph has "),
    ],
)
def test_what_cannot_be_answered_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    broken = {"kafka": "4.4.0", "metadata": "kraft", "graphs": {}, "decisions": {"kill": ["a run"]}}
    (tmp_path / "other-decisions.json").write_text(json.dumps(broken))
    assert main(["coverage", *SMALL, "--runs-dir", str(tmp_path), *arguments]) == 2
    assert words in capsys.readouterr().err
