"""A schedule that cannot be predicted is refused before a broker starts; one with an open race is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.commands.choosing import Choice, check_predictable, scenarios_of
from conformance.commands.running import brokers_of_all
from conformance.line import line_named
from conformance.schedules.schedule_file import ScheduleFileError
from fault_injection.releases import UsageError
from oracle.steps.waits import AwaitIsr
from tests.oracle.open_races import two_followers_report_to_a_new_leader
from tests.oracle.schedules import ONE

if TYPE_CHECKING:
    from pathlib import Path

RACE = two_followers_report_to_a_new_leader()


@pytest.mark.parametrize("version", ["1.1.0", "1.1.1"])
def test_an_open_race_is_run(version: str) -> None:
    scenario = Scenario("race", RACE, "two followers, one high watermark")
    check_predictable(Choice(), [scenario], line_named(version).rules)


def test_what_no_outcome_brings_about_is_refused() -> None:
    wrong = Scenario("wrong", replace(RACE, steps=(*RACE.steps, AwaitIsr((ONE,)))), "nobody left the ISR")
    with pytest.raises(ScheduleFileError, match="the ISR is"):
        check_predictable(Choice(), [wrong], line_named("1.1.0").rules)


OWN = """id: {id}
requirement: one
replicas: [1, 2]
settings: {{min.insync.replicas: 1, unclean.leader.election.enable: false}}
{more}steps: [{{produce: {{records: [m0]}}}}]
"""


def own(directory: Path, name: str, more: str = "", *, id_: str | None = None) -> Path:
    path = directory / f"{name}.yaml"
    path.write_text(OWN.format(id=id_ or name, more=more))
    return path


def test_two_schedules_of_one_id_are_refused(tmp_path: Path) -> None:
    first, second = own(tmp_path, "a"), own(tmp_path, "b", id_="a")
    with pytest.raises(ScheduleFileError, match=rf"b.yaml: {first} has the id a too: give it another"):
        scenarios_of(Choice(schedules=(first, second)))


def test_a_directory_of_schedules_is_all_of_its_schedules_by_name(tmp_path: Path) -> None:
    later, named = own(tmp_path, "b"), tmp_path / "more"
    named.mkdir()
    own(tmp_path, "a")
    (tmp_path / "notes.txt").write_text("no schedule")
    alone = own(named, "c")

    assert [entry.name for entry in scenarios_of(Choice(schedules=(alone, tmp_path)))] == ["c", "a", "b"]
    with pytest.raises(ScheduleFileError, match=f"{later} has the id b too|b.yaml has the id b too"):
        scenarios_of(Choice(schedules=(tmp_path, later)))


def test_a_directory_without_a_schedule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScheduleFileError, match=r"no file in it ends with \.yaml or \.yml"):
        scenarios_of(Choice(schedules=(tmp_path,)))


@pytest.mark.parametrize("more", ["timing: lag\n", "fetch_sessions: false\n"])
def test_schedules_that_cannot_share_a_cluster_are_refused(tmp_path: Path, more: str) -> None:
    choice = Choice(schedules=(own(tmp_path, "a"), own(tmp_path, "b", more)))
    with pytest.raises(UsageError, match=f"(?i)clusters of different kinds.*{more.strip()}.*run them one at a time"):
        brokers_of_all(choice, scenarios_of(choice))


def test_schedules_of_several_brokers_share_those_of_all(tmp_path: Path) -> None:
    other = own(tmp_path, "b")
    other.write_text(other.read_text().replace("[1, 2]", "[4, 2]"))
    choice = Choice(schedules=(own(tmp_path, "a"), other))
    assert brokers_of_all(choice, scenarios_of(choice)) == {1, 2, 3, 4}
