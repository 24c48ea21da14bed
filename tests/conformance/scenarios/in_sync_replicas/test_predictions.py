"""What is predicted of the ISR, and on which releases does it differ?"""

from __future__ import annotations

import pytest

from conformance.catalogue.questions import QuestionAnswer
from conformance.record.answers import Between
from conformance.scenarios.in_sync_replicas.is_03_never_at_the_end import NEVER_AT_THE_END
from conformance.scenarios.in_sync_replicas.is_08_judged_by_time import JUDGED_BY_TIME
from tests.conformance.scenarios.ladder_predictions import (
    LINES,
    at,
    high_watermarks,
    kraft,
    outcomes,
    predicted,
    rules,
    runs_on,
    where_it_holds,
    zookeeper,
)

NAMES = ("IS-01", "IS-02", "IS-04", "IS-05", "IS-06", "IS-07")
NEWEST = kraft("4.3.1")


def texts(*versions: str) -> set[str]:
    return {f"{version} zookeeper" for version in versions}


@pytest.mark.parametrize("name", NAMES)
def test_each_release_has_one_determined_prediction(name: str) -> None:
    assert runs_on(name) == LINES
    assert {line for line in LINES if predicted(name, line).races} == set()


def test_silence_alone_puts_a_follower_out_up_to_2_0() -> None:
    name, checkpoint = "IS-04", "broker 2 was silent for the lag time and has everything"
    old = texts("0.10.2.2", "1.1.1", "2.0.1")
    assert where_it_holds(name, lambda line: at(name, line, checkpoint).isr == (1,)) == old


def test_a_shrink_raises_the_high_watermark_unless_nobody_looks() -> None:
    name = "IS-05"
    stuck = where_it_holds(name, lambda line: high_watermarks(name, line)[:2] == [1, 3])
    assert stuck == texts("2.7.2", "2.8.2"), "KAFKA-13091"
    raised = where_it_holds(name, lambda line: high_watermarks(name, line)[:2] == [2, 3])
    assert len(raised) + len(stuck) == len(LINES)
    assert {outcomes(name, line)["m1"] for line in LINES} == {"acknowledged"}


def test_the_epochs_start_counts_from_2_0_1_on() -> None:
    name, checkpoint = "IS-02/epoch-start", "broker 4 has fetched at the high watermark, and has not got m1"
    assert at(name, zookeeper("1.1.1"), checkpoint).isr == (2, 3, 4), "KAFKA-7128"
    assert at(name, zookeeper("2.0.1"), checkpoint).isr == (2, 3)


def test_a_replica_that_has_everything_is_not_in_sync_before_its_leader_knows() -> None:
    moment = at("IS-02", NEWEST, "broker 2 has everything and is not in sync")
    assert {int(numbers.log_end_offset) for numbers in moment.replicas.values()} == {3}
    assert moment.isr == (1,)


def test_the_last_member_stays_or_is_eligible() -> None:
    name = "IS-07"
    alone = [at(name, line, "nobody is alive") for line in LINES]
    assert {moment.leader for moment in alone} == {None}
    eligible = {line[0] for line, moment in zip(LINES, alone, strict=True) if (moment.isr, moment.elr) == ((), (1,))}
    assert eligible == {"4.3.1"}
    assert {(moment.isr, moment.elr) for moment in alone} == {((1,), ()), ((), (1,))}


@pytest.mark.parametrize("line", [zookeeper("0.10.2.2"), NEWEST])
def test_the_clock_is_the_same_on_every_release(line: tuple[str, object]) -> None:
    never, far = (entry.subject.predict(rules(line)) for entry in (NEVER_AT_THE_END, JUDGED_BY_TIME))  # type: ignore[arg-type]

    assert [answer.value for answer in never] == [[1, 2], 1, [1], Between(3_000, 5_100, "ms"), [0]]
    assert QuestionAnswer("records that the high watermark is behind the leader's end then", 5_000) in far
