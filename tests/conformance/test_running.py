"""A schedule that cannot be predicted is refused before a broker starts; one with an open race is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.commands.choosing import Choice
from conformance.commands.running import check_predictable
from conformance.schedules.schedule_file import ScheduleFileError
from fault_injection.releases import find_release
from oracle.steps import AwaitIsr
from tests.oracle.open_races import two_followers_report_to_a_new_leader
from tests.oracle.schedules import ONE

RACE = two_followers_report_to_a_new_leader()


@pytest.mark.parametrize("version", ["1.1.0", "1.1.1"])
def test_an_open_race_is_run(version: str) -> None:
    scenario = Scenario("race", RACE, "two followers, one high watermark")
    check_predictable(Choice(), [scenario], find_release(version), "zookeeper")


def test_what_no_outcome_brings_about_is_refused() -> None:
    wrong = Scenario("wrong", replace(RACE, steps=(*RACE.steps, AwaitIsr((ONE,)))), "nobody left the ISR")
    with pytest.raises(ScheduleFileError, match="the ISR is"):
        check_predictable(Choice(), [wrong], find_release("1.1.0"), "zookeeper")
