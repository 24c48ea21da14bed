"""What becomes of a schedule that needs unclean.leader.election.enable, where no controller looks at it?"""

import pytest

from conformance.registry import select
from oracle.predict import NotOnReleaseError, predict
from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Kill, Start
from oracle.steps.step import ScheduleError
from oracle.steps.waits import AwaitLeader
from oracle.vocabulary import BrokerId, MetadataMode

ONE, TWO = BrokerId(1), BrokerId(2)


def elects_the_one_that_left_first(*, unclean: bool) -> Schedule:
    steps = (Kill(TWO), Kill(ONE), Start(TWO), AwaitLeader(TWO))
    settings = TopicSettings(1, unclean_leader_election=unclean)
    return Schedule("t", "Needs the setting.", (), (ONE, TWO), steps, settings)


@pytest.mark.parametrize("version", ["3.3.2", "3.5.2", "3.6.2", "3.8.1"])
def test_a_schedule_that_needs_the_setting_does_not_apply(version: str) -> None:
    rules = rules_for(version, MetadataMode.KRAFT)
    with pytest.raises(NotOnReleaseError, match=rf"Kafka {version} does not look at .* \(KAFKA-12670: 3.9\)") as it:
        predict(elects_the_one_that_left_first(unclean=True), rules)
    assert it.value.step == 3


@pytest.mark.parametrize(("version", "mode"), [("3.9.2", MetadataMode.KRAFT), ("3.8.1", MetadataMode.ZOOKEEPER)])
def test_it_applies_where_a_controller_looks(version: str, mode: MetadataMode) -> None:
    predict(elects_the_one_that_left_first(unclean=True), rules_for(version, mode))


@pytest.mark.parametrize("version", ["3.8.1", "3.9.2"])
def test_what_the_setting_would_not_help_is_refused(version: str) -> None:
    with pytest.raises(ScheduleError, match="the leader is none, not 2") as it:
        predict(elects_the_one_that_left_first(unclean=False), rules_for(version, MetadataMode.KRAFT))
    assert not isinstance(it.value, NotOnReleaseError)


def test_scenarios_that_need_it_are_not_run() -> None:
    rules = rules_for("3.4.1", MetadataMode.KRAFT)
    inapplicable = set()
    for scenario in select((), "quick"):
        try:
            predict(scenario.schedule, rules)
        except NotOnReleaseError:
            inapplicable.add(scenario.name)
    assert {"TR-01", "EL-02/unsafe"} <= inapplicable
    assert "HW-03" not in inapplicable
