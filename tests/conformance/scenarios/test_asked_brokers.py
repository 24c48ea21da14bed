"""What must brokers answer in these scenarios, on either side of each release that answers otherwise?"""

from __future__ import annotations

import pytest

from conformance.catalogue.where import Where
from conformance.judgement.comparison import answer_words
from conformance.registry import SCENARIOS
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.rules.release import has_mode
from oracle.vocabulary import MetadataMode
from tests.oracle.schedules import without_holds

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
LADDER = (
    *("0.10.2.2", "0.11.0.3", "1.0.2", "1.1.0", "1.1.1", "2.0.1", "2.1.1", "2.3.1", "2.4.1", "2.6.3", "2.7.2", "2.8.2"),
    *("3.2.3", "3.4.1", "3.6.2", "3.7.2", "3.9.2", "4.0.1", "4.1.2", "4.2.1", "4.3.1"),
)
RUNS = [(version, mode) for version in LADDER for mode in MetadataMode if has_mode(version, mode)]
ASKING = {scenario.name: scenario for scenario in SCENARIOS if scenario.id.startswith("asking/")}
NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
INVALID = "INVALID_REQUIRED_ACKS, offset none, written no"
REFUSED = f"{NOT_LEADER}, offset none, written no"


def answers(name: str, version: str, mode: MetadataMode | None = None) -> list[str]:
    chosen = mode or (ZOOKEEPER if has_mode(version, ZOOKEEPER) else KRAFT)
    told = predict(ASKING[name].schedule, rules_for(version, chosen)).answers
    return [answer_words(answer.as_json()["answer"]) for answer in told]


@pytest.mark.parametrize(("version", "mode"), RUNS)
@pytest.mark.parametrize("name", ASKING)
def test_every_release_has_one_prediction_or_a_reason(name: str, version: str, mode: MetadataMode) -> None:
    scenario = ASKING[name]
    if scenario.where.reason_not_to_run(version, mode) is not None:
        assert scenario.where != Where()
        return
    prediction = predict(scenario.schedule, rules_for(version, mode))
    assert prediction.answers
    assert prediction.alternatives == ()


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        (
            "HW-02/leader",
            "0.10.2.2",
            [
                *("records m0, high watermark 1", "records none, high watermark 1", "offset 1"),
                *("records m0 m1, high watermark 2", "records m1, high watermark 2", "offset 2"),
            ],
        ),
        ("HW-02/follower", "2.3.1", ["records m0 m1, high watermark 2", NOT_LEADER, NOT_LEADER, NOT_LEADER]),
        (
            "HW-02/follower",
            "2.4.1",
            [
                *("records m0 m1, high watermark 2", "records m0, high watermark 1", "records none, high watermark 1"),
                "records m0 m1, high watermark 2",
            ],
        ),
        (
            "HW-14",
            "2.1.1",
            [
                *("offset 1", "records m0, high watermark 1", "offset 0", "offset 0", "records none, high watermark 0"),
                *("offset 1", "offset 1", "records m0, high watermark 1"),
            ],
        ),
        (
            "HW-14",
            "2.3.1",
            [
                *("offset 1", "records m0, high watermark 1", "LEADER_NOT_AVAILABLE", "OFFSET_NOT_AVAILABLE"),
                *("records none, high watermark 0", "offset 1", "offset 1", "records m0, high watermark 1"),
            ],
        ),
        (
            "LE-03/asked",
            "1.1.1",
            [
                *("leadership none, end offset 1", "leadership none, end offset none", "leadership none, end offset 1"),
                *("leadership none, end offset 3", "leadership none, end offset none", NOT_LEADER),
                "leadership none, end offset 4",
            ],
        ),
        (
            "LE-03/asked",
            "4.3.1",
            [
                *("leadership 0, end offset 1", "leadership none, end offset none", "leadership 0, end offset 1"),
                *("leadership 1, end offset 3", "leadership none, end offset none", NOT_LEADER),
                "leadership 1, end offset 4",
            ],
        ),
        (
            "LE-03/claimed",
            "2.1.1",
            [
                *("FENCED_LEADER_EPOCH", "leadership 0, end offset 1", "UNKNOWN_LEADER_EPOCH"),
                *("FENCED_LEADER_EPOCH", NOT_LEADER),
            ],
        ),
        ("AC-01", "2.8.2", [*[INVALID] * 4, "acknowledged, offset 1, written yes", "records m0 m1, high watermark 2"]),
        (
            "AC-02",
            "4.3.1",
            [
                *("no answer, offset none, written yes", "acknowledged, offset 2, written yes"),
                *("records m0, high watermark 1", "records m0 none one all, high watermark 4"),
            ],
        ),
        (
            "AC-07",
            "0.10.2.2",
            [
                *(REFUSED, REFUSED, "connection closed, offset none, written no", REFUSED),
                *("acknowledged, offset 1, written yes", "records m0 m1, high watermark 2"),
            ],
        ),
        (
            "RM-06/listed",
            "0.10.2.2",
            [*(f"offset {n}" for n in (0, 2, 1, 2)), NOT_LEADER, "offset 3", "offset 0", "offset 2"],
        ),
        (
            "RM-06/listed",
            "0.11.0.3",
            [*(f"offset {n}" for n in (0, 2, 1, "none")), NOT_LEADER, "offset 3", "offset 0", "offset 2"],
        ),
        (
            "RM-06/deleted",
            "4.3.1",
            ["offset 0", "offset 2", "offset 3", "offset 2", "OFFSET_OUT_OF_RANGE", "records m2, high watermark 3"],
        ),
        (
            "RM-05/out-of-range",
            "3.9.2",
            [
                *("records m0, high watermark 1", *["records none, high watermark 1"] * 2, "OFFSET_OUT_OF_RANGE"),
                *("records m1, high watermark 2", "records none, high watermark 2", "OFFSET_OUT_OF_RANGE"),
            ],
        ),
    ],
)
def test_what_brokers_answer(name: str, version: str, expected: list[str]) -> None:
    assert answers(name, version) == expected


@pytest.mark.parametrize("name", [name for name in ASKING if "HW" in name])
def test_without_its_holds_a_scenario_is_answered_otherwise(name: str) -> None:
    scenario = ASKING[name]
    ungated = predict(without_holds(scenario.schedule), rules_for("4.3.1", KRAFT))
    assert ungated.answers != predict(scenario.schedule, rules_for("4.3.1", KRAFT)).answers


def test_where_a_scenario_cannot_be_asked() -> None:
    assert ASKING["LE-03/claimed"].where.reason_not_to_run("2.0.1", ZOOKEEPER) is not None
    assert ASKING["LE-03/claimed"].where.reason_not_to_run("2.1.1", ZOOKEEPER) is None
    assert ASKING["RM-06/deleted"].where.reason_not_to_run("0.10.2.2", ZOOKEEPER) is not None
