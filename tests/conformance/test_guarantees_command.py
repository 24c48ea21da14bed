"""Does ``guarantees`` print the table that is kept, search where it is asked to, and write a cell's schedule?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.commands.guarantees import kept_table, table_text
from conformance.schedule_file import read_schedule
from oracle.brokers.guarantee_table import decode

if TYPE_CHECKING:
    from pathlib import Path


def test_it_prints_the_releases_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guarantees", "--kafka", "2.8.0,3.9.2", "--metadata", "zookeeper"]) == 0
    printed = capsys.readouterr().out
    assert "2.8.0 zookeeper" in printed
    assert "acks=all min.isr=1 unclean=off replicas=2" in printed
    assert "promise broken: lost in" in printed
    assert "None found is no proof" in printed
    assert "kraft" not in printed


def test_markdown_and_json_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guarantees", "--kafka", "2.8.0", "--markdown"]) == 0
    assert "| acks=0 min.isr=3 unclean=on replicas=3 | nothing is acknowledged |" in capsys.readouterr().out
    assert main(["guarantees", "--kafka", "2.8.0", "--json"]) == 0
    (row,) = decode(json.loads(capsys.readouterr().out)).rows
    assert row == kept_table().row_of("2.8.0 zookeeper")


def test_a_minor_names_all_its_patches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guarantees", "--kafka", "2.8", "--json"]) == 0
    named = [name for row in json.loads(capsys.readouterr().out)["rows"] for name in row["releases"]]
    assert {"2.8.0 zookeeper", "2.8.2 zookeeper"} <= set(named)


def test_a_patch_release_has_the_row_of_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guarantees", "--kafka", "2.8.1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert "2.8.2 zookeeper" in row["releases"]


def test_it_searches_with_the_cap_that_is_named_and_writes_what_it_finds(tmp_path: Path) -> None:
    out = tmp_path / "table.json"
    named = ["--kafka", "0.10.2.2", "--regenerate", "--max-states", "20", "--out", str(out), "--quiet"]
    assert main(["guarantees", *named]) == 0
    table = decode(json.loads(out.read_text(encoding="utf-8")))
    assert set(table.max_states.values()) == {20}
    assert out.read_text(encoding="utf-8") == table_text(table)


@pytest.mark.parametrize("wrong", [["--kafka", "0.9"], ["--write-schedule", "x.yaml"]])
def test_what_it_cannot_answer_is_a_usage_error(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guarantees", *wrong]) == 2
    assert capsys.readouterr().err.startswith("kafka-conformance: ")


def test_it_writes_a_schedule_that_run_reads(tmp_path: Path) -> None:
    out = tmp_path / "lost.yaml"
    assert main(["guarantees", "--kafka", "2.8.0", "--write-schedule", str(out)]) == 0
    assert read_schedule(out).schedule.id == "found/lost"


def test_a_cell_that_loses_nothing_has_no_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "lost.yaml"
    assert main(["guarantees", "--kafka", "2.8.2", "--write-schedule", str(out)]) == 1
    assert "none found within bounds" in capsys.readouterr().err
    assert not out.exists()
