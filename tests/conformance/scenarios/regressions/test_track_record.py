"""Does the model say of every known defect what the track record says its releases show?"""

from __future__ import annotations

import dataclasses

import pytest

from conformance.registry import select
from conformance.scenarios.regressions.known_defect import ZOOKEEPER, Defect
from conformance.scenarios.regressions.signs import Promise, predicted_promise
from conformance.scenarios.regressions.track_record import KEPT, LOST, TRACK_RECORD
from conformance.scenarios.regressions.unreached import UNREACHED
from fault_injection.releases import find_release
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.rules.release import parse_version
from oracle.schedule import Schedule
from oracle.steps import Checkpoint
from oracle.vocabulary import BrokerId, MetadataMode

each_defect = pytest.mark.parametrize("defect", TRACK_RECORD, ids=lambda defect: defect.issue)

REQUIRED = {
    "KAFKA-1211",
    "KAFKA-6361",
    "KAFKA-7128",
    "KAFKA-7395",
    "KAFKA-7104",
    "KAFKA-13141",
    "KIP-966",
    "KAFKA-15583",
}


def shown(defect: Defect, version: str, metadata: MetadataMode) -> object:
    (entry,) = select([defect.scenario])
    return defect.sign.read(entry, rules_for(version, metadata))


@each_defect
def test_the_broken_release_shows_it_and_the_fixed_one_does_not(defect: Defect) -> None:
    assert shown(defect, defect.broken, defect.metadata) == defect.there
    assert shown(defect, defect.fixed, defect.metadata) == defect.here
    assert defect.there != defect.here


@each_defect
def test_the_fixed_release_breaks_no_promise(defect: Defect) -> None:
    (entry,) = select([defect.scenario])
    if isinstance(defect.sign, Promise):
        assert (defect.there, defect.here) == (LOST, KEPT)
    for version in (defect.broken, defect.fixed):
        assert entry.where.reason_not_to_run(version, defect.metadata) is None


@each_defect
def test_its_releases_are_in_order_and_known(defect: Defect) -> None:
    assert parse_version(defect.broken) < parse_version(defect.fixed)
    for version in (defect.broken, defect.fixed):
        assert defect.metadata.value in [mode.value for mode in find_release(version).metadata_modes]


def test_every_regression_scenario_is_in_the_record_once() -> None:
    names = [entry.name for entry in select(["regressions"])]
    assert sorted(defect.scenario for defect in TRACK_RECORD) == sorted(names)
    assert len(set(names)) == len(names)


def test_the_record_has_what_it_must_have_and_no_unreached_defect() -> None:
    issues = {defect.issue for defect in TRACK_RECORD}
    assert issues >= REQUIRED
    assert not issues & {issue for one in UNREACHED for issue in one.issue.split(", ")}
    assert all(one.reason and one.symptom for one in UNREACHED)


def test_the_command_names_the_mode_where_a_release_has_two() -> None:
    defects = {defect.issue: defect for defect in TRACK_RECORD}
    zookeeper = defects["KAFKA-18991"]
    assert zookeeper.metadata is ZOOKEEPER
    assert (
        zookeeper.command("3.9.0") == "kafka-conformance run regressions/KAFKA-18991 --kafka 3.9.0 --metadata zookeeper"
    )
    assert defects["KIP-966"].command("3.9.2") == "kafka-conformance run regressions/KIP-966 --kafka 3.9.2"
    assert defects["KAFKA-1211"].command("0.10.2.2").endswith("--kafka 0.10.2.2")


def test_a_schedule_without_promises_keeps_none() -> None:
    empty = Schedule("t", "Nothing.", (), (BrokerId(1), BrokerId(2)), (Checkpoint("nothing"),))
    prediction = predict(empty, rules_for("4.3.1", MetadataMode.KRAFT))
    assert predicted_promise(prediction) == "NO_PROMISE"


@pytest.mark.parametrize("issue", ["KAFKA-1211", "KAFKA-13141"])
def test_a_sign_tells_a_release_with_other_rules_apart(issue: str) -> None:
    (defect,) = (one for one in TRACK_RECORD if one.issue == issue)
    swapped = dataclasses.replace(defect, broken=defect.fixed, fixed=defect.broken)
    with pytest.raises(AssertionError):
        test_the_broken_release_shows_it_and_the_fixed_one_does_not(swapped)
