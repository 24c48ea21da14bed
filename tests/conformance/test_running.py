"""A schedule whose numbers nobody can predict is refused before a broker starts."""

from __future__ import annotations

import pytest

from conformance.commands.choosing import Choice
from conformance.commands.running import check_predictable
from conformance.scenario import Scenario
from conformance.schedule_file import ScheduleFileError
from fault_injection.releases import find_release
from tests.oracle.open_races import two_followers_report_to_a_new_leader


def test_an_open_race_is_refused_where_it_is_one() -> None:
    scenario = Scenario("race", two_followers_report_to_a_new_leader(), "two followers, one high watermark")
    with pytest.raises(ScheduleFileError, match="high watermark of broker 3 is 1 or 2"):
        check_predictable(Choice(), [scenario], find_release("1.1.0"), "zookeeper")
    check_predictable(Choice(), [scenario], find_release("1.1.1"), "zookeeper")
