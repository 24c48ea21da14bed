"""Which defaults, requests and orders does a release have? Each function of those rules, on both sides of its line."""

from __future__ import annotations

import pytest

from oracle.predict import NotOnReleaseError, predict
from oracle.rules.by_version import rules_for
from oracle.rules.fencing import NO_BROKER_EPOCH
from oracle.rules.release import age, first_patch, is_older
from oracle.steps.topic import DeleteRecords
from oracle.vocabulary import MetadataMode, Offset
from tests.oracle.schedules import produce, schedule

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT


@pytest.mark.parametrize(("version", "unset"), [("0.10.2.2", True), ("0.11.0.0", False)])
def test_unclean_election_goes_by_its_setting_and_without_one_by_the_release(version: str, *, unset: bool) -> None:
    allows = rules_for(version, ZOOKEEPER).allows_unclean_election
    assert (allows(True), allows(False), allows(None)) == (True, False, unset)


@pytest.mark.parametrize(("version", "obeyed"), [("2.1.1", True), ("2.2.0", False)])
def test_a_request_for_an_earlier_start_is_refused_from_2_2_on(version: str, *, obeyed: bool) -> None:
    takes = rules_for(version, ZOOKEEPER).takes_request_of_start
    assert (takes(NO_BROKER_EPOCH, 7), takes(7, 7), takes(6, 7)) == (True, True, obeyed)


@pytest.mark.parametrize(("version", "at_once"), [("3.7.2", False), ("3.8.0", True)])
def test_a_fetch_beyond_the_end_does_not_wait_from_3_8_on(version: str, *, at_once: bool) -> None:
    answers = rules_for(version, KRAFT).answers_fetch_at_once
    assert [answers(Offset(offset), Offset(3)) for offset in (2, 3, 4)] == [False, False, at_once]


@pytest.mark.parametrize(("version", "moves"), [("2.8.2", True), ("3.0.0", False)])
def test_a_partition_without_records_keeps_its_place_in_a_session_from_3_0_on(version: str, *, moves: bool) -> None:
    moved = rules_for(version, ZOOKEEPER).moves_in_session
    assert (moved(True), moved(False)) == (True, moves)


@pytest.mark.parametrize(("version", "by_default"), [("4.0.2", False), ("4.1.0", True)])
def test_a_cluster_has_eligible_leader_replicas_by_default_from_4_1_on(version: str, *, by_default: bool) -> None:
    assert rules_for(version, KRAFT).has_eligible_by_default is by_default
    assert rules_for(version, KRAFT, eligible_leader_replicas=not by_default).has_eligible_by_default is by_default


def test_records_are_deleted_from_0_11_on() -> None:
    deleting = schedule(produce("m0"), DeleteRecords(Offset(1)))
    assert predict(deleting, rules_for("0.11.0.0", ZOOKEEPER)).checkpoints == ()
    with pytest.raises(NotOnReleaseError, match=r"KIP-107: 0\.11"):
        predict(deleting, rules_for("0.10.2.2", ZOOKEEPER))


def test_releases_are_put_in_order() -> None:
    versions = ["3.9.2", "0.10.2.2", "4.0.1", "0.9.0.1"]
    assert sorted(versions, key=lambda version: age(version, KRAFT)) == ["0.9.0.1", "0.10.2.2", "3.9.2", "4.0.1"]
    assert age("3.9.2", ZOOKEEPER) < age("3.4.1", KRAFT)
    assert [is_older("0.9.0.1", than) for than in ("0.10", "0.9.0.1", "0.8.2")] == [True, False, False]
    assert [first_patch(version) for version in ("0.11.0.3", "3.9.2", "4.4.0")] == ["0.11.0.0", "3.9.0", "4.4.0"]
