"""Is a race named instead of guessed?

Races are rare in the model: a parked fetch waits longer than any other follower's round takes. One
is left where an immediate answer carries the high watermark after its own update (KAFKA-5758).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.predict import predict
from oracle.races import merged
from oracle.rules.by_version import rules_for
from oracle.steps import Checkpoint, Kill, Release
from oracle.vocabulary import Acks, BrokerId, Fate, MetadataMode, Outcome
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.prediction import Prediction
    from oracle.schedule import Schedule

FOUR = BrokerId(4)
RACE = "two followers of a new leader: numbers depend on which follower fetches first"


def two_followers_report_to_a_new_leader() -> Schedule:
    """Brokers 3 and 4 have m1 and report it to broker 2, who also has m2: the second report commits m1."""
    return schedule(
        produce("m0"),
        hold("m1 of 3", follower=THREE, fetch_offset=2),
        hold("m1 of 4", follower=FOUR, fetch_offset=2),
        produce("m1", acks=Acks.LEADER),
        produce("m2", acks=Acks.LEADER),
        hold("next of 3", follower=THREE, leader=TWO, fetch_offset=3),
        hold("next of 4", follower=FOUR, leader=TWO, fetch_offset=3),
        Kill(ONE),
        Checkpoint("two followers of a new leader"),
        Release("next of 3"),
        Release("next of 4"),
        Checkpoint("end"),
        replicas=(ONE, TWO, THREE, FOUR),
    )


@pytest.mark.parametrize(("version", "races"), [("1.1.0", (RACE,)), ("1.1.1", ())])
def test_numbers_that_depend_on_the_order_are_named(version: str, races: tuple[str, ...]) -> None:
    prediction = predict(two_followers_report_to_a_new_leader(), rules_for(version, MetadataMode.ZOOKEEPER))
    assert prediction.races == races
    assert {record.fate for record in prediction.records} == {Fate.PRESENT}


@pytest.fixture
def one_end() -> Prediction:
    return predict(schedule(produce("m0")), rules_for("4.3.1", MetadataMode.KRAFT))


def test_equal_ends_are_no_race(one_end: Prediction) -> None:
    assert merged([one_end, one_end]) == one_end


@pytest.mark.parametrize(
    "difference", [{"fate": Fate.LOST}, {"offset": 7}, {"outcome": Outcome.INDETERMINATE}], ids=lambda d: next(iter(d))
)
def test_record_whose_end_depends_on_the_order_is_undetermined(
    one_end: Prediction, difference: dict[str, object]
) -> None:
    (record,) = one_end.records
    another = replace(one_end, records=(replace(record, **difference),))  # type: ignore[arg-type]
    (undetermined,) = merged([one_end, another]).records
    assert (undetermined.fate, undetermined.offset) == (Fate.UNDETERMINED, None)
    assert undetermined.decided_by == "depends on which follower fetches first"


def test_logs_that_depend_on_the_order_are_named(one_end: Prediction) -> None:
    another = replace(one_end, logs={**one_end.logs, TWO: ()})
    assert merged([one_end, another]).races == ("log of broker 2: its records depend on which follower fetches first",)
