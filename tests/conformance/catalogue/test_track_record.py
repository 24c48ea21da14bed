"""Does the model say of every known defect what the track record says its releases show?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.signs import PromiseSign, predicted_promise
from conformance.catalogue.track_record import KEPT, LOST, TRACK_RECORD
from conformance.registry import select
from conformance.scenarios.regressions.defect import UNREACHED, ZOOKEEPER, Kind, KnownDefect
from fault_injection.releases import find_release
from oracle.predict import predict
from oracle.rules import by_version
from oracle.rules.by_version import TABLE, RuleRow, rules_for
from oracle.rules.release import RuleKey, parse_version
from oracle.schedule import Schedule
from oracle.steps.step import ScheduleError
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import BrokerId, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterable

each_defect = pytest.mark.parametrize("defect", TRACK_RECORD, ids=lambda defect: defect.issue)

REQUIRED = {
    "KAFKA-1211",
    "KAFKA-6361",
    "KAFKA-7128",
    "KAFKA-7395",
    "KAFKA-5758",
    "KAFKA-13141",
    "KIP-966",
    "KAFKA-15583",
}
ALSO_DECIDE = {"KAFKA-7164": ("same-leader-skips-one-epoch",)}
"""Rules that would turn a prediction as well: the same change, told from its other side."""


def shown(defect: KnownDefect, version: str, metadata: MetadataMode) -> object:
    (entry,) = select([defect.scenario])
    return defect.sign.read(entry, rules_for(version, metadata))


@each_defect
def test_the_broken_release_shows_it_and_the_fixed_one_does_not(defect: KnownDefect) -> None:
    assert shown(defect, defect.broken, defect.metadata) == defect.there
    assert shown(defect, defect.fixed, defect.metadata) == defect.here
    assert defect.there != defect.here


def swapped(defect: KnownDefect, rows: Iterable[RuleRow], monkeypatch: pytest.MonkeyPatch) -> object:
    """Return what the broken release would show with some rows of the table as the fixed one has them."""
    changed = list(rows)
    is_so = {True: lambda _release: True, False: lambda _release: False}
    table = [replace(r, applies=is_so[applies_to(r, defect, defect.fixed)]) if r in changed else r for r in TABLE]
    with monkeypatch.context() as patching:
        patching.setattr(by_version, "TABLE", tuple(table))
        try:
            return shown(defect, defect.broken, defect.metadata)
        except ScheduleError as impossible:
            return impossible


def applies_to(row: RuleRow, defect: KnownDefect, version: str) -> bool:
    """Return whether a release has a row; eligible leader replicas are on where the entry switches them on."""
    is_about_the_feature = defect.issue == "KAFKA-19522"
    numbers = parse_version(version)
    has_elr = numbers >= ((4, 0) if is_about_the_feature else (4, 1))
    return row.applies(RuleKey(numbers, defect.metadata, has_elr))


def row_name(row: RuleRow) -> str:
    return row.rule.name


@each_defect
def test_the_named_rules_and_no_others_turn_the_broken_release_into_the_fixed_one(
    defect: KnownDefect, monkeypatch: pytest.MonkeyPatch
) -> None:
    differing = [
        row for row in TABLE if applies_to(row, defect, defect.broken) != applies_to(row, defect, defect.fixed)
    ]
    named = [row for row in differing if row_name(row) in defect.rules]
    assert sorted(map(row_name, named)) == sorted(defect.rules)
    assert swapped(defect, named, monkeypatch) == defect.here
    for one in named:
        assert swapped(defect, [row for row in named if row is not one], monkeypatch) != defect.here
    others = [row for row in differing if row not in named and row_name(row) not in ALSO_DECIDE.get(defect.issue, ())]
    assert [row_name(row) for row in others if swapped(defect, [row], monkeypatch) == defect.here] == []


def test_one_rule_decides_every_row_but_one() -> None:
    assert [defect.issue for defect in TRACK_RECORD if len(defect.rules) != 1] == ["KAFKA-15021"]


def test_what_was_not_built_yet_is_no_defect() -> None:
    features = [defect.issue for defect in TRACK_RECORD if defect.kind is Kind.BUILT]
    assert features == ["KAFKA-15583", "KAFKA-12670", "KIP-966"]


@each_defect
def test_the_fixed_release_breaks_no_promise(defect: KnownDefect) -> None:
    (entry,) = select([defect.scenario])
    if isinstance(defect.sign, PromiseSign):
        assert (defect.there, defect.here) == (LOST, KEPT)
    for version in (defect.broken, defect.fixed):
        assert entry.where.reason_not_to_run(version, defect.metadata) is None


@each_defect
def test_its_releases_are_in_order_and_known(defect: KnownDefect) -> None:
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
    other = replace(defect, broken=defect.fixed, fixed=defect.broken)
    with pytest.raises(AssertionError):
        test_the_broken_release_shows_it_and_the_fixed_one_does_not(other)
