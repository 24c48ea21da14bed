"""What is predicted of truncation, and on which releases does it differ?"""

from __future__ import annotations

import pytest

from conformance.record.prediction import frozen_form
from oracle.predict import NotOnReleaseError
from oracle.rules.by_version import rules_for
from oracle.vocabulary import BrokerId
from tests.conformance.scenarios.ladder_predictions import (
    LINES,
    Line,
    at,
    fates,
    kraft,
    predicted,
    runs_on,
    scenario,
    where_it_holds,
    zookeeper,
)

OLDEST = zookeeper("0.10.2.2")
ASKING = {"1.1.1 zookeeper", "2.0.1 zookeeper", "2.1.1 zookeeper", "2.7.2 zookeeper"}
OLD_FORMATS = tuple(map(zookeeper, ("0.11.0.3", "1.0.2", "1.1.0", "1.1.1", "2.0.1", "2.1.1", "2.4.1", "2.8.2")))


def log_end_offset(name: str, line: Line, checkpoint: str, broker: int) -> int:
    return int(at(name, line, checkpoint).replicas[BrokerId(broker)].log_end_offset)


def log(name: str, line: Line, broker: int) -> list[str]:
    return [record.label for record in predicted(name, line).logs[BrokerId(broker)]]


def answers(name: str, line: Line) -> list[object]:
    prediction = frozen_form(predicted(name, line).as_json())
    return [question.predict(rules_for(*line), prediction) for question in scenario(name).questions]


@pytest.mark.parametrize("name", ["TR-04", "TR-06/leader-ends-first", "TR-06/follower-ends-first"])
def test_each_release_has_one_determined_prediction(name: str) -> None:
    assert {line for line in runs_on(name) if predicted(name, line).races} == set()
    assert runs_on(name) == (LINES if name == "TR-04" else LINES[1:])


def test_becoming_follower_cuts_only_before_epochs() -> None:
    checkpoints = ("broker 3 follows broker 2 and has not fetched", "the segment of broker 3 on disk")
    for checkpoint in checkpoints:
        assert {log_end_offset("TR-04", line, checkpoint, 3) for line in LINES[1:]} == {2}
        assert log_end_offset("TR-04", OLDEST, checkpoint, 3) == 1
    assert answers("TR-04", OLDEST) == [1]
    assert answers("TR-04", kraft("4.3.1")) == [2]


def test_the_end_of_the_epoch_is_asked_up_to_2_7_and_told_from_2_8() -> None:
    name = "TR-06/leader-ends-first"
    asked, told = "an answer to OffsetsForLeaderEpoch", "a diverging epoch in a fetch answer"
    assert where_it_holds(name, lambda line: answers(name, line) == [asked, 1, 1]) == ASKING
    assert len(where_it_holds(name, lambda line: answers(name, line) == [told, 1, 1])) == len(LINES) - 1 - len(ASKING)
    assert {tuple(fates(name, line).items())[1:3] for line in LINES[1:]} == {(("m1", "absent"), ("m2", "absent"))}


def test_an_end_beyond_the_followers_cuts_nothing() -> None:
    name = "TR-06/follower-ends-first"
    assert where_it_holds(name, lambda line: answers(name, line)[1:] == [3, 1]) == ASKING
    assert where_it_holds(name, lambda line: answers(name, line) == ["nothing", None, 1]) | ASKING == where_it_holds(
        name, lambda _: True
    )


def test_exactly_the_suffix_of_the_deposed_leader_is_lost() -> None:
    for line in (OLDEST, zookeeper("2.1.1"), zookeeper("3.9.2"), kraft("4.3.1")):
        lost = {label for label, fate in fates("TR-08", line).items() if fate == "lost"}
        assert lost == {"m1", "m2"}
        assert log("TR-08", line, 2) == ["m0", "x1", "m3"]
        assert log("TR-08", line, 1) == (["m0", "m1", "m3"] if line == OLDEST else ["m0", "x1", "m3"])
    assert {record.promise.verdict.value for record in predicted("TR-08", kraft("4.3.1")).records} == {
        "kept",
        "allowed_by_settings",
    }


def test_without_epochs_releases_that_have_them_lose_what_0_10_2_does() -> None:
    lost = {line[0] for line in (OLDEST, *OLD_FORMATS) if fates("TR-07", line)["m1"] == "lost"}
    assert lost == {"0.10.2.2", *(version for version, _ in OLD_FORMATS)} - {"1.1.0"}, "KAFKA-6857"


def test_without_epochs_the_old_leader_keeps_its_record_unless_it_noted_an_epoch() -> None:
    agreeing = {line[0] for line in OLD_FORMATS if log("TR-07", line, 1) == log("TR-07", line, 2)}
    assert agreeing == {"1.1.0", "2.0.1"}, "KAFKA-6857, KAFKA-7897"


def test_who_knows_no_epoch_asks_up_to_2_0() -> None:
    asked = {line[0]: answers("TR-07", line)[0] for line in (OLDEST, *OLD_FORMATS)}
    assert {version for version, epoch in asked.items() if epoch == -1} == {
        "0.11.0.3",
        "1.0.2",
        "1.1.0",
        "1.1.1",
        "2.0.1",
    }
    assert {epoch for epoch in asked.values() if epoch != -1} == {None}


@pytest.mark.parametrize("line", [zookeeper("3.2.3"), kraft("4.3.1")])
def test_from_3_0_records_always_carry_epochs(line: Line) -> None:
    with pytest.raises(NotOnReleaseError, match="its records carry epochs"):
        predicted("TR-07", line)
