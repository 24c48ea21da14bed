"""What do the regression scenarios keep and lose, release by release?"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING

import pytest

from oracle.predict import NotOnReleaseError, predict
from oracle.rules.by_version import rules_for
from oracle.rules.message_format import stamps_epochs
from oracle.vocabulary import MetadataMode
from tests.conformance.scenarios.regressions.releases import RELEASES
from tests.conformance.selected import select_scenarios

if TYPE_CHECKING:
    from conformance.catalogue.scenario import Scenario
    from oracle.prediction import Prediction
    from oracle.rules.rule_set import RuleSet

SCENARIOS = select_scenarios(["regressions"])
KRAFT, ZOOKEEPER = MetadataMode.KRAFT, MetadataMode.ZOOKEEPER
APPLIES_TO_MIN = 7
LOSES = {
    # issue: releases that break the promise of this schedule, in ZooKeeper mode, in KRaft mode
    "KAFKA-1211": ("0.10.2.2", ""),
    "KAFKA-6857": ("1.1.0", ""),
    "KAFKA-6361": ("0.10.2.2 0.11.0.3 1.0.2 1.1.0 1.1.1", ""),
    "KAFKA-7415": ("0.11.0.3 1.0.2 1.1.0 1.1.1 2.0.0", ""),
    "KAFKA-7164": ("0.10.2.2 0.11.0.3 1.0.2 1.1.0 1.1.1 2.0.0", ""),
    "KAFKA-7128": ("1.1.0 1.1.1 2.0.0", ""),
    "KAFKA-13141": ("2.8.0", ""),
    "KAFKA-14617": ("2.7.2 2.8.0 2.8.1 2.8.2 3.0.2 3.2.3 3.4.1 3.6.2 3.9.2", "3.3.2 3.4.1"),
    "KAFKA-15221": ("0.11.0.3 1.0.2 1.1.0 1.1.1 2.0.0 2.0.1 2.1.0 2.1.1 2.3.1 2.4.1", "3.6.2"),
    "KIP-966": ("*", "3.3.2 3.4.1 3.5.2 3.6.2 3.7.2 3.8.1 3.9.2 4.0.1"),
}


def predicted(scenario: Scenario, version: str, metadata: MetadataMode) -> Prediction | None:
    if scenario.where.reason_not_to_run(version, metadata) is not None:
        return None
    rules = rules_for(version, metadata)
    is_alike = stamps_epochs(
        scenario.schedule.settings.message_format_version
    )  # else it is asked of the version whether it heeds the format
    return _by_rules(scenario, dataclasses.replace(rules, version="") if is_alike else rules)


@cache
def _by_rules(scenario: Scenario, rules: RuleSet) -> Prediction | None:
    """Predict once for all releases of the same rules."""
    try:
        return predict(scenario.schedule, rules)
    except NotOnReleaseError:
        return None


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_leaves_nothing_open_and_loses_where_the_defect_is(scenario: Scenario) -> None:
    issue = scenario.name.split("/")[1]
    in_mode = dict(zip((ZOOKEEPER, KRAFT), LOSES.get(issue, ("", "")), strict=True))
    times = 0
    for version, metadata in RELEASES:
        prediction = predicted(scenario, version, metadata)
        if prediction is None:
            continue
        times += 1
        assert not prediction.races
        broken = {record.promise.verdict.value for record in prediction.records} & {"broken"} or prediction.diverged
        losing = in_mode[metadata].split()
        assert bool(broken) is (losing == ["*"] or version in losing), (version, metadata.value)
    assert times >= APPLIES_TO_MIN


@pytest.mark.parametrize(
    ("issue", "version", "metadata", "kept", "lost"),
    [
        ("KAFKA-1211", "0.10.2.2", ZOOKEEPER, ["m1"], ["m0"]),
        ("KAFKA-1211", "0.11.0.3", ZOOKEEPER, ["m0", "m1"], []),
        ("KAFKA-7415", "2.0.0", ZOOKEEPER, ["m0", "m1"], ["m2"]),
        ("KAFKA-7415", "2.0.1", ZOOKEEPER, ["m0", "m2"], ["m1"]),  # m1 was sent with acks=0
        ("KAFKA-6857", "1.1.1", ZOOKEEPER, ["m0", "x1", "m2"], []),
        ("KAFKA-7128", "2.0.0", ZOOKEEPER, ["m0", "m2"], ["m1"]),
        ("KAFKA-7128", "2.0.1", ZOOKEEPER, ["m0", "m1"], []),
        ("KAFKA-13141", "2.8.0", ZOOKEEPER, ["m0"], ["m1"]),
        ("KAFKA-13141", "2.8.1", ZOOKEEPER, ["m1"], []),
        ("KAFKA-14617", "3.4.1", KRAFT, [], ["m0"]),
        ("KAFKA-14617", "3.5.2", KRAFT, ["m0"], []),
        ("KAFKA-15221", "3.6.2", KRAFT, ["m0"], ["m1", "m2"]),
        ("KAFKA-15221", "3.7.2", KRAFT, ["m0"], []),
        ("KIP-966", "3.9.2", KRAFT, ["x0"], ["m0"]),
        ("KIP-966", "4.3.1", KRAFT, ["m0"], []),
    ],
)
def test_which_records_are_kept_and_which_lost(
    issue: str, version: str, metadata: MetadataMode, kept: list[str], lost: list[str]
) -> None:
    (scenario,) = select_scenarios([f"regressions/{issue}"])
    prediction = predict(scenario.schedule, rules_for(version, metadata))
    fates = {fate: [r.label for r in prediction.records if r.fate.value == fate] for fate in ("present", "lost")}
    assert (fates["present"], fates["lost"]) == (kept, lost)


@pytest.mark.parametrize(
    ("issue", "version", "offset", "labels"),
    [
        ("KAFKA-6857", "1.1.0", 1, {1: "m1", 2: "x1"}),
        ("KAFKA-6361", "1.1.1", 1, {1: "a1", 2: "b1"}),
        ("KAFKA-7164", "2.0.0", 1, {1: "x1", 2: "x1", 3: "m1"}),
    ],
)
def test_where_logs_diverge(issue: str, version: str, offset: int, labels: dict[int, str]) -> None:
    (scenario,) = select_scenarios([f"regressions/{issue}"])
    (divergence,) = predict(scenario.schedule, rules_for(version, ZOOKEEPER)).diverged
    assert (divergence.offset, dict(divergence.labels)) == (offset, labels)
