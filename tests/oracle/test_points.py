"""Is a hold refused that names the wrong brokers, or a point that the release does not have?"""

from __future__ import annotations

import pytest

from oracle.points import check_points
from oracle.predict import NotOnReleaseError, predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold, DelayFrame, Drop, Hold, ReleaseHold
from oracle.steps.step import ScheduleError
from oracle.steps.topic import Elect
from oracle.vocabulary import ElectionKind, MetadataMode, Offset, PointName
from tests.oracle.schedules import NINE, ONE, TWO, hold, produce, schedule

KRAFT = rules_for("3.9.2", MetadataMode.KRAFT)
ZOOKEEPER = rules_for("3.9.2", MetadataMode.ZOOKEEPER)
OLD = rules_for("2.6.3", MetadataMode.ZOOKEEPER)
METADATA = PointName.CONTROLLER_FETCH_REQUEST
LEADER_AND_ISR, UPDATE_METADATA = PointName.LEADER_AND_ISR, PointName.UPDATE_METADATA

WRONG = [
    (hold("x", LEADER_AND_ISR), "broker", "hold at leader_and_isr needs 'broker'"),
    (hold("x", PointName.STOP_REPLICA), "broker", "needs 'broker'"),
    (Hold("x", METADATA, broker=NINE), "broker", "names what the schedule does not have: 9"),
    (Hold("x", METADATA, broker=TWO, nth=2), "nth", "nth does not go with controller_fetch_request"),
    (Hold("x", METADATA, broker=TWO, fetch_offset=Offset(1)), "fetch_offset", "fetch_offset does not go with"),
    (Hold("x", METADATA, TWO, ONE, broker=TWO), "follower", "follower does not go with"),
    (Hold("x", PointName.FETCH_REQUEST, TWO, ONE, broker=TWO), "broker", "broker goes with points of the controller"),
    (Hold("x", PointName.FETCH_REQUEST, TWO), "leader", "hold needs 'leader'"),
    (Hold("x", PointName.FETCH_REQUEST, broker=TWO), "follower", "hold needs 'follower'"),
]


@pytest.mark.parametrize(("step", "field", "message"), WRONG)
def test_a_hold_names_its_link(step: Hold, field: str, message: str) -> None:
    with pytest.raises(ScheduleError, match=message) as refused:
        predict(schedule(produce("m0"), step), KRAFT)
    assert (refused.value.step, refused.value.field) == (1, field)


@pytest.mark.parametrize(
    "step", [Hold("x", PointName.STOP_REPLICA_RESPONSE, TWO, ONE), DelayFrame(LEADER_AND_ISR, TWO, ONE, 1)]
)
def test_what_the_model_cannot_predict_is_refused(step: Hold | DelayFrame) -> None:
    with pytest.raises(ScheduleError, match="cannot be predicted; points: fetch_request") as refused:
        predict(schedule(produce("m0"), step), ZOOKEEPER)
    assert not isinstance(refused.value, NotOnReleaseError)


def test_what_an_unassigned_replica_is_served_is_not_predicted() -> None:
    with pytest.raises(NotOnReleaseError, match=r"Kafka 2.0.1 serves a replica that is not assigned any more"):
        predict(schedule(Hold("x", PointName.STOP_REPLICA, broker=TWO)), rules_for("2.0.1", MetadataMode.ZOOKEEPER))


@pytest.mark.parametrize(
    "point", [LEADER_AND_ISR, PointName.LEADER_AND_ISR_RESPONSE, PointName.STOP_REPLICA, UPDATE_METADATA]
)
def test_kraft_has_no_requests_of_the_controller(point: PointName) -> None:
    with pytest.raises(NotOnReleaseError, match="in KRaft mode: brokers read the metadata log"):
        predict(schedule(produce("m0"), Hold("x", point, broker=TWO)), KRAFT)
    check_points(schedule(produce("m0"), Hold("x", point, broker=TWO)), ZOOKEEPER)


@pytest.mark.parametrize("point", [METADATA, PointName.CONTROLLER_FETCH_RESPONSE])
def test_zookeeper_mode_has_no_metadata_log(point: PointName) -> None:
    with pytest.raises(NotOnReleaseError, match="brokers read no metadata log in ZooKeeper mode"):
        predict(schedule(produce("m0"), Hold("x", point, broker=TWO)), ZOOKEEPER)
    predict(schedule(produce("m0"), Hold("x", point, broker=TWO), AwaitHold("x"), ReleaseHold("x")), KRAFT)


@pytest.mark.parametrize("point", [PointName.ALTER_PARTITION_REQUEST, PointName.ALTER_PARTITION_RESPONSE])
def test_leaders_that_write_the_isr_send_no_request(point: PointName) -> None:
    with pytest.raises(NotOnReleaseError, match=r"Kafka 2.6.3 leaders write the ISR themselves"):
        predict(schedule(produce("m0"), Hold("x", point, broker=ONE)), OLD)
    check_points(schedule(produce("m0"), Hold("x", point, broker=ONE)), ZOOKEEPER)


@pytest.mark.parametrize("version", ["0.10.2.2", "2.3.1"])
def test_releases_before_2_4_hold_no_unclean_election_on_request(version: str) -> None:
    steps = (produce("m0"), Kill(TWO), Kill(ONE), Start(TWO), Elect(ElectionKind.UNCLEAN))
    message = f"Kafka {version} holds no unclean election on request"
    with pytest.raises(NotOnReleaseError, match=message) as refused:
        predict(schedule(*steps), rules_for(version, MetadataMode.ZOOKEEPER))
    assert (refused.value.step, refused.value.field) == (4, "kind")


def test_a_preferred_election_may_be_asked_for_on_every_release() -> None:
    steps = (produce("m0"), Kill(ONE), Start(ONE), Elect(ElectionKind.PREFERRED))
    for version in ("0.10.2.2", "2.3.1", "2.4.0"):
        assert predict(schedule(*steps), rules_for(version, MetadataMode.ZOOKEEPER)).moments[-1].leader == ONE


def test_a_hold_that_nothing_reaches_says_so() -> None:
    armed = Hold("x", LEADER_AND_ISR, broker=TWO)
    with pytest.raises(ScheduleError, match="nothing passes between broker 2 and the controller"):
        predict(schedule(produce("m0"), armed, AwaitHold("x")), ZOOKEEPER)
    with pytest.raises(ScheduleError, match="broker 2 is down"):
        predict(schedule(produce("m0"), Kill(TWO), armed, AwaitHold("x")), ZOOKEEPER)


@pytest.mark.parametrize(("point", "rules"), [(METADATA, KRAFT), (UPDATE_METADATA, ZOOKEEPER)])
def test_a_broker_cannot_start_without_its_channel(point: PointName, rules: object) -> None:
    steps = (produce("m0"), Kill(TWO), Hold("x", point, broker=TWO), Start(TWO))
    with pytest.raises(ScheduleError, match="arm the hold once it runs") as refused:
        predict(schedule(*steps), rules)  # type: ignore[arg-type]
    assert refused.value.field == "broker"


def test_a_dropped_frame_keeps_the_channel_silent() -> None:
    steps = (produce("m0"), Hold("x", LEADER_AND_ISR, broker=TWO), Kill(ONE), AwaitHold("x"), Drop("x"), Start(ONE))
    with pytest.raises(ScheduleError, match="must end with a leader"):
        predict(schedule(*steps), ZOOKEEPER)
