"""Does ``predict`` refuse, before any broker starts, what no rule brings about, and say what comes instead?"""

from __future__ import annotations

import pytest

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Isolate, Kill, Pause, Start, Stop
from oracle.steps.frames import AwaitHold, Close, Drop, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome
from oracle.steps.step import ScheduleError, Step
from oracle.steps.topic import Alter
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader
from oracle.vocabulary import Acks, Expectation, Label, MetadataMode, PointName, Timing
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

KRAFT = rules_for("3.9.2", MetadataMode.KRAFT)
OLD = rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)
M0 = (Label("m0"),)

REFUSED: dict[str, tuple[tuple[Step, ...], str, str]] = {
    "another leader": ((AwaitLeader(TWO),), "leader", "the leader is 1, not 2, under the rules of Kafka 3.9.2 .kraft."),
    "no leader": ((AwaitLeader(None),), "leader", "the leader is 1, not none"),
    "a leader where none is": ((Kill(TWO), Kill(ONE), Start(TWO), AwaitLeader(TWO)), "leader", "is none, not 2"),
    "another ISR": ((Kill(TWO), AwaitIsr((ONE, TWO))), "isr", r"the ISR is \[1\], not \[1, 2\]"),
    "acknowledged without a leader": (
        (Kill(TWO), Kill(ONE), produce("m0")),
        "expect",
        r"'m0' is refused \(LEADER_NOT_AVAILABLE\), not acknowledged",
    ),
    "acknowledged before it can be": (
        (hold("gap", fetch_offset=1), produce("m0")),
        "expect",
        r"'m0' is indeterminate \(REQUEST_TIMED_OUT\), not acknowledged",
    ),
    "pending although it is known": (
        (produce("m0", expect=Expectation.PENDING),),
        "expect",
        "is acknowledged, not pending",
    ),
    "refused although pending": (
        (
            hold("gap", fetch_offset=1),
            produce("m0", expect=Expectation.PENDING),
            AwaitOutcome(M0, Expectation.REFUSED),
        ),
        "expect",
        r"is indeterminate \(REQUEST_TIMED_OUT\), not refused",
    ),
    "acks=0 acknowledged": ((produce("m0", acks=Acks.NONE),), "expect", "is indeterminate, not acknowledged"),
    "another error": (
        (Kill(TWO), Kill(ONE), produce("m0", expect=Expectation.REFUSED, error="NOT_ENOUGH_REPLICAS")),
        "error",
        "ends with LEADER_NOT_AVAILABLE, not NOT_ENOUGH_REPLICAS",
    ),
    "an error the model does not name": (
        (produce("m0", expect=Expectation.ACKNOWLEDGED, error="OOPS"),),
        "error",
        "ends with no error that the model names, not OOPS",
    ),
    "a record that a broker may take which leads no more": (
        (Isolate(ONE), Pause(TWO), produce("m0", expect=Expectation.ANY)),
        "leader",
        r"nobody is elected, and broker 1 still believes that it leads: .*; name it \(leader: 1\)",
    ),
    "a metadata fetch behind another": (
        (
            Hold("x", PointName.CONTROLLER_FETCH_RESPONSE, broker=TWO),
            Hold("y", PointName.CONTROLLER_FETCH_REQUEST, broker=TWO),
        ),
        "name",
        "a hold has a metadata fetch of broker 2, which sends no other: let it go before",
    ),
    "a controlled shutdown that another broker keeps waiting": (
        (Hold("x", PointName.CONTROLLER_FETCH_RESPONSE, broker=TWO), Stop(ONE)),
        "broker",
        "broker 1 would wait in its controlled shutdown for broker 2, which does not read the metadata log",
    ),
    "a topic whose end nobody is told": (
        (Alter(min_insync_replicas=2), hold("x", fetch_offset=1), produce("m0", expect=Expectation.ANY), Kill(ONE)),
        "steps",
        r"the high watermark, 0, at the start of the epoch of leader 2, 1, so that the topic can be read \(KIP-207\)",
    ),
    "a cut that nothing would meet": (
        (Kill(TWO), Isolate(ONE)),
        "broker",
        "broker 1 fetches from nobody and nobody fetches from it: there is nothing to cut",
    ),
    "two holds for one frame of a channel": (
        (
            Hold("x", PointName.ALTER_PARTITION_REQUEST, broker=ONE),
            Hold("y", PointName.ALTER_PARTITION_REQUEST, broker=ONE),
        ),
        "name",
        "a hold at alter_partition_request of broker 1 stands already",
    ),
    "a frame at another offset": (
        (hold("x", fetch_offset=5), AwaitHold("x")),
        "name",
        "hold 'x' never catches a frame: broker 2 fetches at offset 0",
    ),
    "a frame of a dead broker": ((Kill(TWO), hold("x"), AwaitHold("x")), "name", "frame: broker 2 is down"),
    "a frame to who does not lead": (
        (hold("x", follower=ONE, leader=TWO), AwaitHold("x")),
        "name",
        "frame: the leader is 1",
    ),
    "a frame to nobody": (
        (Kill(TWO), Kill(ONE), Start(TWO), hold("x"), AwaitHold("x")),
        "name",
        "frame: the leader is none",
    ),
    "a frame behind another hold": (
        (hold("first"), hold("x", PointName.FETCH_RESPONSE), AwaitHold("x")),
        "name",
        "another hold has caught that link's frame",
    ),
    "a hold that a kill discharged": ((hold("x"), Kill(TWO), AwaitHold("x")), "name", "discharged when its"),
    "release of nothing": ((hold("x", fetch_offset=5), ReleaseHold("x")), "name", "'x' has caught nothing to let go"),
    "release twice": ((hold("x"), ReleaseHold("x"), ReleaseHold("x")), "name", "'x' was let go, or discharged"),
    "close of what was dropped": ((hold("x"), Drop("x"), Close("x")), "name", "frame of hold 'x' was dropped"),
    "drop after a kill": ((hold("x"), Kill(TWO), Drop("x")), "name", "discharged when its"),
    "kill twice": ((Kill(TWO), Kill(TWO)), "broker", "broker 2 is not running"),
    "stop of a dead broker": ((Kill(TWO), Stop(TWO)), "broker", "broker 2 is not running"),
    "start of a running broker": ((Start(TWO),), "broker", "broker 2 runs already"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_come_is_refused(case: str) -> None:
    steps, field, message = REFUSED[case]
    with pytest.raises(ScheduleError, match=message) as refused:
        predict(schedule(*steps), KRAFT)
    assert (refused.value.step, refused.value.field) == (len(steps) - 1, field)


def test_a_broker_that_ended_itself_is_named() -> None:
    steps = (
        produce("m0"),
        hold("gap of 2", PointName.FETCH_RESPONSE, fetch_offset=2),
        hold("gap of 3", PointName.FETCH_RESPONSE, follower=THREE, fetch_offset=2),
        produce("m1"),
        hold("refetch", follower=THREE, leader=TWO),
        Kill(ONE),
        Kill(TWO),
        Start(ONE),
        hold("x", follower=ONE, leader=THREE),
        AwaitHold("x"),
    )
    with pytest.raises(ScheduleError, match="broker 1 is down"):
        predict(schedule(*steps, replicas=(ONE, TWO, THREE)), OLD)


def test_any_outcome_is_taken_as_it_comes() -> None:
    steps = (
        hold("gap", fetch_offset=1),
        produce("m0", expect=Expectation.PENDING),
        AwaitOutcome(M0),
        ReleaseHold("gap"),
        produce("m1", acks=Acks.NONE, expect=Expectation.ANY),
    )
    m0, m1 = predict(schedule(*steps), KRAFT).records
    assert (m0.outcome.value, m0.error) == ("indeterminate", "REQUEST_TIMED_OUT")
    assert (m1.outcome.value, m1.error) == ("indeterminate", None)


def test_what_does_not_come_to_rest_is_refused() -> None:
    wish = Hold("wish", PointName.ALTER_PARTITION_REQUEST, broker=ONE)
    gone = (Kill(TWO), AwaitLag((TWO,)))
    steps = (*gone, wish, produce("m0", acks=Acks.LEADER, expect=Expectation.ANY), AwaitLag((TWO,)))
    asked = schedule(*steps, replicas=(ONE, TWO, THREE), timing=Timing.LAG)

    with pytest.raises(ScheduleError, match="the partition does not come to rest") as refused:
        predict(asked, rules_for("2.8.2", MetadataMode.ZOOKEEPER))
    assert (refused.value.step, refused.value.field) == (4, "steps")
