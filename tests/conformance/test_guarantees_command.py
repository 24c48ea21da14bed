"""Does ``guarantees`` print the table that is kept, search where it is asked to, and write a cell's schedule?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from conformance.cli import build_parser, main
from conformance.commands import guarantees
from conformance.commands.guarantee_search import table_text
from conformance.commands.guarantees import TableOptions, chosen_rules
from conformance.kept_guarantees import kept_table
from conformance.schedules.schedule_file import read_schedule
from fault_injection.releases import find_release
from oracle.brokers.guarantee_table import GuaranteeTable, decode, questions, release_name
from oracle.brokers.questions import SEARCHED
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from pathlib import Path


def test_it_prints_the_releases_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guarantees", "--kafka", "2.8.0,3.9.2", "--metadata", "zookeeper", "--full"]) == 0
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


def test_a_line_is_its_newest_patch_as_for_every_other_command() -> None:
    for version in ("2.8", "3.4", "3.9", "4.0"):
        chosen = {(rules.version, rules.metadata.value) for rules in chosen_rules(TableOptions(releases=(version,)))}
        release = find_release(version)
        assert chosen == {(release.version, mode.value) for mode in release.metadata_modes}


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


def test_it_finds_the_same_in_several_lanes(tmp_path: Path) -> None:
    found = []
    for lanes in ("1", "2"):
        out = tmp_path / f"{lanes}.json"
        named = ["--kafka", "2.8.0", "--regenerate", "--max-states", "100", "--lanes", lanes, "--out", str(out)]
        assert main(["guarantees", *named, "--quiet"]) == 0
        found.append(out.read_text(encoding="utf-8"))
    assert found[0] == found[1]


def test_a_patch_release_is_searched_by_the_rules_that_it_has() -> None:
    (rules,) = chosen_rules(TableOptions(releases=("1.0.1",)))
    assert release_name(rules) == "1.0.0 zookeeper"
    assert questions(rules) == questions(rules_for("1.0.1", MetadataMode.ZOOKEEPER))


def test_every_name_chooses_and_none_twice() -> None:
    chosen = chosen_rules(TableOptions(releases=("newest", "2.8.1", "2.8.0", "2.8")))
    assert [release_name(rules) for rules in chosen] == [
        "2.8.0 zookeeper", "2.8.2 zookeeper", "3.0.2 zookeeper", "3.1.2 zookeeper", "4.4.0 kraft",
    ]  # fmt: skip


WRONG = (
    (["--kafka", "0.9"], "'0.9' is not a supported release"),
    (["--kafka", "3.9.2,nonsense"], "'nonsense' is not a supported release"),
    (["--kafka", ","], "'' is not a supported release"),
    (["--kafka", "3.9/zk"], "'zk' is no metadata mode; say zookeeper or kraft."),
    (["--kafka", "3.9/zookeeper", "--metadata", "kraft"], "contradict each other"),
    (["--kafka", ""], "'' is not a supported release"),
    (["--kafka", "nonsense", "--regenerate", "--out", "OUT"], "'nonsense' is not a supported release"),
    (["--kafka", "2.8.0", "--metadata", "kraft", "--regenerate"], "2.8.0 does not run in kraft mode"),
    (["--kafka", "3.9.2,2.8.0", "--metadata", "kraft"], "2.8.0 does not run in kraft mode"),
    (["--max-states", "20"], "--max-states bounds a search: it needs --regenerate"),
    (["--lanes", "2"], "--lanes is about a search: it needs --regenerate"),
    (["--max-states", "0", "--regenerate"], "'0' is not a whole number from 1"),
    (["--write-schedule", "OUT"], "needs one release"),
    (["--kafka", "2.8.0", "--write-schedule", "OUT", "--regenerate"], "--regenerate goes with the table"),
    (["--acks", "1", "--kafka", "2.8.0,3.9.2"], "settings are looked at on one release"),
    (["--acks", "1", "--markdown"], "--markdown goes with the table, not with settings"),
    (["--min-isr", "1", "--full"], "--full goes with the table"),
    (["--unclean", "--regenerate"], "--regenerate goes with the table"),
    (["--replicas", "2", "--out", "OUT"], "--out goes with the table"),
    (["--markdown", "--json"], "--markdown and --json are different forms of the table: give one of them."),
    (["--out", "OUT", "--full"], "--out and --full are different forms"),
)


@pytest.mark.parametrize(("wrong", "complaint"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_what_it_cannot_answer_is_a_usage_error(
    wrong: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kept"
    out.write_text("as it was", encoding="utf-8")
    try:
        code = main(["guarantees", *(str(out) if word == "OUT" else word for word in wrong)])
    except SystemExit as refused:
        code = int(refused.code or 0)
    told = capsys.readouterr()
    assert (code, told.out) == (2, "")
    assert complaint in told.err
    assert out.read_text(encoding="utf-8") == "as it was"


def test_a_table_without_the_release_names_an_option_that_there_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(guarantees, "kept_table", lambda: GuaranteeTable(dict.fromkeys(SEARCHED, 1), ()))
    assert main(["guarantees", "--kafka", "3.9.2"]) == 2
    (command,) = re.findall("`kafka-conformance (.*?)`", capsys.readouterr().err)
    assert build_parser().parse_args(command.split()).regenerate


def test_it_writes_a_schedule_that_run_reads(tmp_path: Path) -> None:
    out = tmp_path / "lost.yaml"
    assert main(["guarantees", "--kafka", "2.8.0", "--write-schedule", str(out)]) == 0
    assert read_schedule(out).schedule.id == "found/lost"


def test_a_schedule_that_is_written_is_told_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "lost.yaml"
    assert main(["guarantees", "--kafka", "2.8.0", "--write-schedule", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["release"], told["faults"]) == (str(out), "2.8.0 zookeeper", "kills")
    assert told["steps"] == len(read_schedule(out).schedule.steps)


def test_a_cell_that_loses_nothing_has_no_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "lost.yaml"
    assert main(["guarantees", "--kafka", "2.8.2", "--write-schedule", str(out)]) == 2
    said = capsys.readouterr().err
    assert "kills: none found, RF 2 searched whole (" in said
    assert said.rstrip().endswith("; there is one with --faults power-failure")
    assert not out.exists()
