"""What is predicted of elections, and on which releases does it differ?"""

from __future__ import annotations

from conformance.scenarios.election.el_05_default_setting import SCENARIOS
from tests.conformance.scenarios.ladder_predictions import (
    LINES,
    at,
    fates,
    predicted,
    rules,
    runs_on,
    where_it_holds,
    zookeeper,
)

WITH_ELIGIBLE = {"4.3.1 kraft"}


def test_the_assignment_decides_neither_the_ids_nor_the_isr() -> None:
    assert {at("EL-04", line, "broker 3 leads").leader for line in LINES} == {3}


def test_who_is_not_in_sync_is_passed_over() -> None:
    for line in LINES:
        moment = at("EL-04/in-sync-only", line, "broker 1 leads")
        assert (moment.leader, moment.isr) == (1, (1,)), line


def test_unclean_election_is_the_default_up_to_0_10_2() -> None:
    (entry,) = SCENARIOS
    values = {line: [answer.value for answer in entry.subject.predict(rules(line))] for line in LINES}

    assert values.pop(zookeeper("0.10.2.2")) == [2, 2, 1]
    assert list(values.values()) == [[None, 1, 2]] * len(values)


def test_the_last_replica_standing_loses_unless_others_are_eligible() -> None:
    def is_lost(line: tuple[str, object]) -> bool:
        return fates("EL-06", line)["m1"] == "lost"  # type: ignore[arg-type]

    everywhere = {f"{version} {mode.value}" for version, mode in runs_on("EL-06")}
    assert where_it_holds("EL-06", is_lost) == everywhere - WITH_ELIGIBLE
    for line in runs_on("EL-06"):
        assert predicted("EL-06", line).checkpoints[-1].leader == (1 if is_lost(line) else 3), line


def test_0_10_2_shows_the_same_loss_with_unclean_election() -> None:
    (oldest,) = runs_on("EL-06/without-epochs")

    assert oldest == zookeeper("0.10.2.2")
    assert fates("EL-06/without-epochs", oldest) == {"m0": "present", "m1": "lost", "m2": "lost", "m3": "present"}
    assert sorted((*runs_on("EL-06"), oldest)) == sorted(LINES)
