"""Does CONTRIBUTING.md lead to a scenario that works, and name only what there is?"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.registry import CATALOGUE, file_of, select
from conformance.scenarios.high_watermark import hw_08_lowest_end_offset
from conformance.schedules.schedule_file import read_schedule
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.project.documents import CONTRIBUTING, ROOT, plain, quoted_names
from tests.project.first_scenario import FILE, IMPORTS, first_entry, write_first_schedule

if TYPE_CHECKING:
    from pathlib import Path

PATHS = tuple(dict.fromkeys(name for name in quoted_names(CONTRIBUTING) if "/" in name and " " not in name))
WRITTEN_BY_THE_READER = {FILE, "runs/report.html"}
TEXT = plain(CONTRIBUTING)


def test_the_file_and_the_entry_of_the_page_are_the_same_schedule(tmp_path: Path) -> None:
    from_file, entry = read_schedule(write_first_schedule(tmp_path)).schedule, first_entry()
    assert replace(from_file, id=entry.id, sources=entry.sources) == entry.schedule


@pytest.mark.parametrize(("release", "mode"), [("0.10.2.2", MetadataMode.ZOOKEEPER), ("4.4.0", MetadataMode.KRAFT)])
def test_the_entry_is_predicted_on_both_releases_on_which_the_page_runs_it(release: str, mode: MetadataMode) -> None:
    prediction = predict(first_entry().schedule, rules_for(release, mode))
    held, released = prediction.checkpoints
    assert [held.replicas[1].high_watermark, released.replicas[1].high_watermark] == [0, 1]
    assert not prediction.races


def test_the_entry_is_new_and_the_page_names_its_file_and_what_is_not_imported_there() -> None:
    entry = first_entry()
    assert entry.name not in {one.name for one in CATALOGUE}
    assert file_of(select(["HW-08/returned"])[0]) in PATHS
    assert not [name for name in IMPORTS if name in vars(hw_08_lowest_end_offset)]
    assert all(f"`{name}` from" in TEXT for name in IMPORTS)


def test_the_page_has_the_reader_save_the_file_that_its_commands_name() -> None:
    assert f"Save this as `{FILE}`" in TEXT


@pytest.mark.parametrize("path", [path for path in PATHS if path not in WRITTEN_BY_THE_READER])
def test_a_file_that_the_page_names_is_there(path: str) -> None:
    is_an_entry = any(path == one.name for one in (*CATALOGUE, first_entry()))
    assert is_an_entry or (ROOT / path).exists() or re.fullmatch(r"\.venv|4\.3\.1/kraft", path)


def test_every_kind_of_addition_has_a_row() -> None:
    rows = re.findall(r"^\| (an? [a-z ]+) \|", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE)
    additions = "a step, a fault, a rule, a release, a report view, a known defect, a command"
    assert rows == additions.split(", ")
