"""Is a race named instead of guessed?"""

from __future__ import annotations

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps import Checkpoint, Close, Kill, Release, Start
from oracle.vocabulary import Acks, Expectation, MetadataMode, PointName
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

KRAFT = rules_for("3.9.2", MetadataMode.KRAFT)
THREE_REPLICAS = (ONE, TWO, THREE)


def test_a_schedule_without_a_race_names_none() -> None:
    assert predict(schedule(produce("m0"), Checkpoint("end"), replicas=THREE_REPLICAS), KRAFT).races == ()
