"""Which rules does a topic of an older message format have, and how is one asked for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.log import NO_EPOCH, UNDEFINED, EpochEnd, ModelRecord, ReplicaLog
from oracle.predict import NotOnReleaseError, predict
from oracle.rules import message_format
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.steps.topic import Alter
from oracle.vocabulary import Label, LeaderEpoch, MetadataMode, Offset
from tests.oracle.schedules import produce, schedule

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet

OLD = TopicSettings(message_format_version="0.10.2")
UNSTAMPED = ReplicaLog().append(ModelRecord(Label(f"m{i}"), LeaderEpoch(0), is_stamped=False) for i in range(3))


def rules(version: str) -> RuleSet:
    return rules_for(version, MetadataMode.ZOOKEEPER)


def adapted(version: str) -> RuleSet:
    return message_format.adapted(rules(version), OLD)


@pytest.mark.parametrize("version", ["0.10.2.2", "0.11.0.3", "2.0.1", "2.8.2", "3.9.2"])
def test_records_of_the_releases_own_format_change_nothing(version: str) -> None:
    for settings in (
        TopicSettings(),
        TopicSettings(message_format_version="0.11.0"),
        TopicSettings(message_format_version="2.8"),
    ):
        assert message_format.adapted(rules(version), settings) == rules(version)


def test_before_0_11_every_format_is_without_epochs() -> None:
    assert adapted("0.10.2.2") == rules("0.10.2.2")


@pytest.mark.parametrize(
    ("version", "asks", "cuts_at_once", "notes_epoch"),
    [
        ("0.11.0.3", True, False, False),
        ("1.1.0", True, False, False),
        ("1.1.1", True, False, False),
        ("2.0.1", True, False, True),
        ("2.1.0", False, True, True),
        ("2.1.1", False, True, False),
        ("2.8.2", False, True, False),
    ],
)
def test_a_follower_without_epochs(version: str, asks: bool, cuts_at_once: bool, notes_epoch: bool) -> None:
    old = adapted(version)
    assert old.truncation.looks_up(UNSTAMPED) is asks
    assert old.truncation.cuts_at_once(UNSTAMPED) is cuts_at_once
    assert old.writes_epoch_on_election is notes_epoch
    assert not old.truncation.stamps_epochs


@pytest.mark.parametrize("version", ["0.11.0.2", "1.0.0", "1.0.1", "1.1.0"])
def test_the_end_of_no_epoch_is_told_by_kafka_6857(version: str) -> None:
    truncation = adapted(version).truncation
    assert truncation.end_offset_for(UNSTAMPED, NO_EPOCH) == EpochEnd(None, Offset(3))
    stamped = UNSTAMPED.append([ModelRecord(Label("m3"), LeaderEpoch(1))])
    assert truncation.end_offset_for(stamped, NO_EPOCH) == UNDEFINED
    assert message_format.TELLS_END_WITHOUT_EPOCHS.name in adapted(version).names()


@pytest.mark.parametrize("version", ["0.11.0.3", "1.0.2", "1.1.1", "2.0.0"])
def test_elsewhere_it_is_unknown(version: str) -> None:
    assert adapted(version).truncation.end_offset_for(UNSTAMPED, NO_EPOCH) == UNDEFINED
    assert message_format.RULE.name in adapted(version).names()


def test_a_batch_without_epoch_fills_no_cache() -> None:
    assert UNSTAMPED.epochs == ()
    assert UNSTAMPED.append([ModelRecord(Label("m3"), LeaderEpoch(1))]).latest_epoch == 1


def test_another_setting_leaves_the_format() -> None:
    assert OLD.altered(Alter(min_insync_replicas=2)) == TopicSettings(2, message_format_version="0.10.2")


@pytest.mark.parametrize(("version", "metadata"), [("3.0.0", "zookeeper"), ("3.9.2", "kraft"), ("4.3.1", "kraft")])
def test_from_3_0_the_setting_is_not_heeded(version: str, metadata: str) -> None:
    old = schedule(produce("m0"), settings=OLD)
    with pytest.raises(NotOnReleaseError, match="KIP-724"):
        predict(old, rules_for(version, MetadataMode(metadata)))


def test_it_is_heeded_before() -> None:
    assert predict(schedule(produce("m0"), settings=OLD), rules("2.8.2")).records[0].offset == 0
