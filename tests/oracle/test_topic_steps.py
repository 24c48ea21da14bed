"""What happens beside the partition changes nothing of it, and needs all of its brokers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Isolate, Kill, Pause
from oracle.steps.frames import Hold
from oracle.steps.step import ScheduleError, Step
from oracle.steps.topic import AddPartitions, CreateTopic, DeleteTopic, Reassign
from oracle.vocabulary import MetadataMode, PointName
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

KRAFT = rules_for("4.3.1", MetadataMode.KRAFT)
OLD = rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)
BESIDE = (AddPartitions(3), CreateTopic("other"), DeleteTopic("other"), AddPartitions(4), CreateTopic("other"))


@pytest.mark.parametrize("rules", [KRAFT, OLD], ids=["kraft", "0.10.2"])
def test_nothing_of_the_partition_changes(rules: object) -> None:
    steps = (produce("m0"), hold("gap"), *BESIDE)
    moments = predict(schedule(*steps), rules).moments[1:]  # type: ignore[arg-type]
    assert len({repr(replace(moment, step=0)) for moment in moments}) == 1


REFUSED: dict[str, tuple[tuple[Step, ...], str, str]] = {
    "no more than there are": ((AddPartitions(3), AddPartitions(3)), "count", "from 4 to 50"),
    "one": ((AddPartitions(1),), "count", "from 2 to 50"),
    "too many": ((AddPartitions(51),), "count", "from 2 to 50"),
    "no name": ((CreateTopic("a b"),), "name", "cannot name another topic"),
    "a name twice": ((CreateTopic("a"), CreateTopic("a")), "name", "each name once"),
    "delete nothing": ((CreateTopic("a"), DeleteTopic("a"), DeleteTopic("a")), "name", "no topic 'a' is there"),
    "without a broker": ((Kill(TWO), CreateTopic("a")), "name", "broker 2 is down"),
    "past a paused one": ((Pause(TWO), AddPartitions(2)), "count", "broker 2 is down"),
    "past an isolated one": ((Isolate(TWO), AddPartitions(2)), "count", "broker 2 is down"),
    "past a deaf one": (
        (Hold("deaf", PointName.CONTROLLER_FETCH_REQUEST, broker=TWO), CreateTopic("a")),
        "name",
        "broker 2 hears no decision",
    ),
    "while it moves": (
        (hold("gap", follower=THREE), Reassign((ONE, THREE)), AddPartitions(2)),
        "count",
        "a reassignment is under way",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused(case: str) -> None:
    steps, field, message = REFUSED[case]
    with pytest.raises(ScheduleError, match=message) as refused:
        predict(schedule(*steps), KRAFT)
    assert (refused.value.step, refused.value.field) == (len(steps) - 1, field)
