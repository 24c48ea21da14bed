"""Which entries does a name choose? An area, a family, in any case; else it is said what would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.registry import CATALOGUE, UnknownEntryError, file_of, name_alone, select
from oracle.vocabulary import AREAS

if TYPE_CHECKING:
    from conformance.catalogue.examination import Entry


def refused(name: str) -> str:
    with pytest.raises(UnknownEntryError) as refusal:
        select([name])
    return str(refusal.value)


@pytest.mark.parametrize("area", AREAS)
def test_an_area_is_all_that_begins_with_it(area: str) -> None:
    members = tuple(entry for entry in CATALOGUE if entry.name.startswith(f"{area}-"))

    assert members
    assert select([area]) == select([area.lower()]) == members


def test_names_and_patterns_are_read_in_any_case() -> None:
    assert select(["tr-*"]) == select(["TR"])
    assert [entry.name for entry in select(["tr-01"])] == ["TR-01"]
    assert [entry.name for entry in select(["kafka-1211"])] == ["regressions/KAFKA-1211"]
    assert select(["el-02/SAFE", "El-02/unsafe"]) == select(["EL-02/safe", "EL-02/unsafe"])


def test_every_entry_can_be_selected_alone() -> None:
    shared = {entry.name for entry in CATALOGUE if name_alone(entry) != entry.name}

    assert all(select([name_alone(entry)]) == (entry,) for entry in CATALOGUE)
    assert shared >= {"HW-14", "TR-05"}
    assert all(len(select([name])) > 1 for name in shared)


def test_a_slash_alone_is_no_family() -> None:
    assert refused("TR/").startswith("no entry matches 'TR/'; ")


@pytest.mark.parametrize("prefix", ["KAFKA", "regressions/KAFKA", "T", "TR-"])
def test_what_is_no_area_is_none(prefix: str) -> None:
    assert refused(prefix).startswith(f"no entry matches '{prefix}'; ")


@pytest.mark.parametrize("name", ["TR-91", "HW-99", "EL-09", "KAFKA-1391"])
def test_what_comes_close_is_named_upwards(name: str) -> None:
    told = re.search(r"did you mean (.*)\? kafka", refused(name))
    assert told is not None
    close = told[1].split(", ")

    assert len(close) == 3
    assert close == sorted(close)


def test_a_number_without_its_zero_has_one_answer() -> None:
    assert "; did you mean EL-03? kafka-conformance list" in refused("el-3")


@pytest.mark.parametrize("command", ["predict", "run", "explain", "list"])
@pytest.mark.parametrize(
    ("name", "quoted"), [("acks-1.yaml", "acks-1.yaml"), ("x.YML", "x.YML"), ("my own.yaml", "'my own.yaml'")]
)
def test_a_schedule_file_is_answered_with_its_option(
    capsys: pytest.CaptureFixture[str], command: str, name: str, quoted: str
) -> None:
    assert main([command, name]) == 2
    advice = f"`predict` and `run` take a file with a schedule as --schedule {quoted}"
    assert capsys.readouterr().err == f"kafka-conformance: no entry matches '{name}'; {advice}\n"


def test_a_file_that_is_there_is_no_name(tmp_path: Path) -> None:
    path = tmp_path / "schedule"
    path.touch()

    assert refused(str(path)).endswith(f" as --schedule {path}")
    assert "--schedule" not in refused(str(tmp_path))
    assert "--schedule" not in refused("x" * 5000)


@pytest.mark.parametrize(
    "entry", [entry for entry in CATALOGUE if entry.name.split("-")[0] in AREAS], ids=lambda one: one.name
)
def test_a_row_stands_in_a_file_of_its_name(entry: Entry) -> None:
    row = entry.name.split("/")[0].replace("-", "_").lower()

    assert Path(file_of(entry)).name.startswith(f"{row}_")
