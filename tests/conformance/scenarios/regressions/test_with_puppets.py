"""What must one broker among puppets answer, release by release?"""

from __future__ import annotations

import pytest

from conformance.scenarios.regressions.with_puppets import (
    ANSWERED_AT_ONCE,
    APPENDED,
    DECIDED,
    HIGH_WATERMARK_PUSHED,
    LOG_BEGINS_LATE,
    NO_EPOCHS,
    SCENARIOS,
    WITHOUT_EPOCH,
)
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

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


def test_which_leaders_know_where_no_epoch_ends() -> None:
    ends = {version: predicted(NO_EPOCHS, version)[WITHOUT_EPOCH] for version in SEVERAL}
    assert [version for version, end in ends.items() if end == 3] == ["0.11.0.2", "1.0.1", "1.1.0"]
    assert set(ends.values()) == {3, -1}


def test_which_leaders_answer_a_fetch_for_its_high_watermark() -> None:
    at_once = [version for version in SEVERAL if predicted(HIGH_WATERMARK_PUSHED, version)[ANSWERED_AT_ONCE]]
    assert at_once == ["2.4.0", "2.4.1", "2.5.1"]


def test_which_replica_cannot_lead_with_a_log_that_begins_late() -> None:
    answers = {version: predicted(LOG_BEGINS_LATE, version) for version in SEVERAL}
    assert [version for version, told in answers.items() if told[DECIDED] != 0] == ["2.4.0"]
    assert {str(told[APPENDED]) for version, told in answers.items() if version != "2.4.0"} == {"[0, 5]"}


@pytest.mark.parametrize("examination", SCENARIOS, ids=lambda one: one.name)
def test_puppets_need_zookeeper(examination: object) -> None:
    (found,) = (one for one in SCENARIOS if one is examination)
    assert "ZooKeeper" in (found.where.reason_not_to_run("3.9.2", KRAFT) or "")
    assert found.where.reason_not_to_run("4.3.1", KRAFT) is not None
    assert found.where.reason_not_to_run("3.9.2", ZOOKEEPER) is None
    assert found.subject.steps()


def test_lookups_begin_with_0_11() -> None:
    assert NO_EPOCHS.where.reason_not_to_run("0.10.2.2", ZOOKEEPER) is not None
    assert LOG_BEGINS_LATE.where.reason_not_to_run("0.10.2.2", ZOOKEEPER) is None
