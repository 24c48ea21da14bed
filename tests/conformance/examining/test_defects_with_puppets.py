"""What must one broker among puppets answer, release by release?"""

from __future__ import annotations

import pytest

from conformance.examining.defects_with_puppets import (
    ANSWERED_AT_ONCE,
    APPENDED,
    DECIDED,
    FETCHES,
    FETCHES_LATER,
    GOES_ON,
    RUNS,
    TOLD,
)
from conformance.scenarios.regressions import with_puppets
from conformance.scenarios.regressions.epochs_and_elections import FENCED_LEADER
from conformance.scenarios.regressions.with_puppets import (
    EMPTY_EPOCH,
    FENCED_LATE,
    HIGH_WATERMARK_PUSHED,
    LOG_BEGINS_LATE,
    LOG_ENDS_LATER,
)
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

SCENARIOS = with_puppets.SCENARIOS
ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
SEVERAL = [
    "0.11.0.2",
    "0.11.0.3",
    "1.0.1",
    "1.0.2",
    "1.1.0",
    "1.1.1",
    "2.0.0",
    "2.4.0",
    "2.4.1",
    "2.5.1",
    "2.6.0",
    "3.9.2",
]


def predicted(examination: object, version: str) -> dict[str, object]:
    (found,) = (one for one in SCENARIOS if one is examination)
    return {answer.what: answer.value for answer in found.subject.predict(rules_for(version, ZOOKEEPER))}


def test_which_leaders_answer_a_fetch_for_its_high_watermark() -> None:
    at_once = [version for version in SEVERAL if predicted(HIGH_WATERMARK_PUSHED, version)[ANSWERED_AT_ONCE]]
    assert at_once == ["2.4.0", "2.4.1", "2.5.1"]
    assert {predicted(HIGH_WATERMARK_PUSHED, version)[TOLD] for version in SEVERAL} == {1}


def test_which_replica_cannot_lead_with_a_log_that_begins_late() -> None:
    answers = {version: predicted(LOG_BEGINS_LATE, version) for version in SEVERAL}
    assert [version for version, told in answers.items() if told[DECIDED] != 0] == ["2.4.0"]
    assert {str(told[APPENDED]) for version, told in answers.items() if version != "2.4.0"} == {"[0, 5]"}


def test_which_followers_give_up_and_which_take_their_broker_with_them() -> None:
    answers = {version: predicted(LOG_ENDS_LATER, version) for version in ["0.10.2.2", *SEVERAL, "2.0.1"]}
    silent = [version for version, told in answers.items() if not told[GOES_ON]]
    assert silent == ["0.10.2.2", "0.11.0.2", "0.11.0.3", "1.0.1", "1.0.2", "1.1.0", "1.1.1", "2.0.0"]
    assert [version for version, told in answers.items() if not told[RUNS]] == silent[1:]


def test_which_former_leaders_never_come_to_fetch() -> None:
    versions = [*SEVERAL, "2.0.1", "2.6.1", "2.8.2"]
    assert [v for v in versions if not predicted(EMPTY_EPOCH, v)[FETCHES]] == [
        "2.4.0",
        "2.4.1",
        "2.5.1",
        "2.6.0",
        "2.0.1",
    ]


def test_which_followers_stop_at_a_late_fence() -> None:
    versions = ["2.1.0", "2.1.1", "2.3.1", "2.7.2"]
    answers = {version: predicted(FENCED_LATE, version) for version in versions}
    assert [v for v, told in answers.items() if not told[FETCHES]] == ["2.1.0"]
    assert all(told[FETCHES_LATER] for told in answers.values())
    assert FENCED_LATE.where.reason_not_to_run("2.0.1", ZOOKEEPER) is not None
    assert FENCED_LATE.where.reason_not_to_run("2.8.0", ZOOKEEPER) is not None


@pytest.mark.parametrize(("version", "isr"), [("4.0.1", [1]), ("4.0.2", [1]), ("4.1.0", []), ("4.3.1", [])])
def test_which_controllers_elect_a_leader_that_is_not_there(version: str, isr: list[int]) -> None:
    (answer,) = FENCED_LEADER.subject.predict(rules_for(version, KRAFT))
    assert answer.value == isr
    assert FENCED_LEADER.where.reason_not_to_run(version, KRAFT) is None
    assert FENCED_LEADER.where.reason_not_to_run("3.9.2", KRAFT) is not None


@pytest.mark.parametrize("examination", SCENARIOS, ids=lambda one: one.name)
def test_puppets_need_zookeeper(examination: object) -> None:
    (found,) = (one for one in SCENARIOS if one is examination)
    assert found.where.reason_not_to_run("3.9.2", KRAFT) is not None
    assert found.where.reason_not_to_run("4.3.1", KRAFT) is not None
    assert found.where.reason_not_to_run("2.6.3", ZOOKEEPER) is None
    assert found.subject.steps()


def test_fetching_is_examined_on_every_release_with_zookeeper() -> None:
    assert LOG_BEGINS_LATE.where.reason_not_to_run("0.10.2.2", ZOOKEEPER) is None
