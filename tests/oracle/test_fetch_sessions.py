"""Which high watermark does a follower go without? One that counts as told, until its fetch session ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold, CutLink, Heal
from oracle.steps.topic import DeleteRecords, Elect
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, BrokerId, ElectionKind, MetadataMode, Offset
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.prediction import Prediction
    from oracle.steps.step import Step

DIVERGES = (
    hold("fetch", follower=TWO, fetch_offset=1),
    produce("m0", acks=Acks.LEADER),
    AwaitHold("fetch"),
    produce("m1", acks=Acks.LEADER),
    Kill(ONE),
)
DIVERGED = (*DIVERGES, Start(ONE))
"""Broker 1 has cut m1 and is in sync; m0 is committed, as the answer has told that made it cut."""


def told(
    *steps: Step, kafka: str = "4.4.0", sessions: bool = True, replicas: tuple[BrokerId, ...] = (ONE, TWO)
) -> Prediction:
    asked = replace(schedule(*steps, Checkpoint("end"), replicas=replicas), fetch_sessions=sessions)
    return predict(asked, rules_for(kafka, MetadataMode.KRAFT))


def high_watermark(*steps: Step, sessions: bool = True) -> int:
    return told(*DIVERGED, *steps, sessions=sessions).checkpoints[-1].replicas[ONE].high_watermark


def test_a_diverging_follower_goes_without_the_high_watermark() -> None:
    assert high_watermark() == 0


def test_without_sessions_the_next_answer_tells_it() -> None:
    assert high_watermark(sessions=False) == 1


ENDS: dict[str, tuple[Step, ...]] = {
    "the connection": (CutLink(ONE, TWO), Heal(ONE, TWO)),
    "the leadership": (Elect(ElectionKind.PREFERRED),),
    "the follower": (Kill(ONE), Start(ONE)),
    "the wait, by a record": (produce("m2"),),
}


@pytest.mark.parametrize("ended", ENDS)
def test_it_hears_of_it_once_that_ends(ended: str) -> None:
    numbers = told(*DIVERGED, *ENDS[ended]).checkpoints[-1].replicas[ONE]
    assert numbers.high_watermark == numbers.log_end_offset


def test_where_the_log_starts_is_told_once_too() -> None:
    steps = (*DIVERGES, DeleteRecords(Offset(1)), Start(ONE))
    assert told(*steps).checkpoints[-1].replicas[ONE].log_start_offset == 0
    assert told(*steps, sessions=False).checkpoints[-1].replicas[ONE].log_start_offset == 1


def test_after_an_error_it_is_told_anew() -> None:
    """A new epoch of the same leader: it refuses the fetch of the old one, unless that was answered just before."""
    prediction = told(*DIVERGED, Kill(THREE), kafka="3.5.2", replicas=(ONE, TWO, THREE))
    assert prediction.races == ("end: high watermark of broker 1 is 0 or 1",)
