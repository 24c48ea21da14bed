"""Does a path become the steps that lead along it, and is nothing left that the defect does not need?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.brokers.model import BrokerAction, Brokers, mover
from oracle.brokers.path_to_schedule import stretches, to_steps
from oracle.brokers.questions import SearchBounds
from oracle.brokers.shrinking import PartitionDefect, defects, shrunk, with_awaits
from oracle.events import BrokerReturned, RequestReceived
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.steps.brokers import Kill, LoseTail, Start, Stop
from oracle.steps.frames import AwaitHold, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.waits import AwaitIsr, Checkpoint
from oracle.vocabulary import Acks, BrokerId, Expectation, Label, MetadataMode, Offset, PointName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.state import PartitionState
    from oracle.steps.step import Step

ONE, TWO, THREE = map(BrokerId, (1, 2, 3))
OLDEST = rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)
WITH_LOOKUPS = rules_for("2.0.1", MetadataMode.ZOOKEEPER)
SENT = "m0 is sent with acks=all"


def path(brokers: Brokers, words: Sequence[str]) -> list[tuple[BrokerAction, PartitionState]]:
    """Follow a path given in words."""
    (state,) = brokers.initial_states()
    found = []
    for step in words:
        action, state = next((a, after) for a, after in brokers.actions(state) if str(a) == step)
        found.append((action, state))
    return found


def written(brokers: Brokers, *words: str) -> list[Step]:
    """Return the bare steps of a path given in words."""
    return list(to_steps(path(brokers, words), brokers.empty_schedule(), brokers.rules))


def produced(label: str) -> Produce:
    return Produce((Label(label),), Acks.ALL, Expectation.ANY)


def test_a_link_is_held_where_the_path_leaves_it_for_as_long_as_it_stands_there() -> None:
    steps = written(Brokers(OLDEST, SearchBounds()), SENT, "the answer reaches broker 2", "m1 is sent with acks=all")
    held = Hold("fetch of 2 from 1", PointName.FETCH_REQUEST, TWO, ONE, Offset(1))
    assert steps == [held, produced("m0"), produced("m1")]


def test_a_link_that_moves_on_is_let_go_into_its_next_hold() -> None:
    moves = (SENT, "the answer reaches broker 2", "m1 is sent with acks=all")
    steps = written(Brokers(OLDEST, SearchBounds()), *moves, "the request of broker 2 reaches its leader")
    first = Hold("fetch of 2 from 1", PointName.FETCH_REQUEST, TWO, ONE, Offset(1))
    second = Hold("answer to 2 from 1", PointName.FETCH_RESPONSE, TWO, ONE, Offset(1))
    assert steps == [first, produced("m0"), second, produced("m1"), ReleaseHold(first.name)]


def test_a_second_hold_at_one_place_has_a_name_of_its_own() -> None:
    steps = written(
        Brokers(OLDEST, SearchBounds()), SENT, "broker 2 is killed", "broker 2 starts", "broker 1 is killed"
    )
    names = [step.name for step in steps if isinstance(step, Hold)]
    assert len(names) == len(set(names))
    again = written(
        Brokers(OLDEST, SearchBounds(epochs=9)),
        *("broker 2 is killed", "broker 2 starts", "broker 2 is killed", "broker 2 starts"),
    )
    names = [step.name for step in again if isinstance(step, Hold)]
    assert names == ["fetch of 2 from 1", "fetch of 2 from 1, 2"]


def test_a_power_failure_is_a_kill_and_a_lost_tail() -> None:
    brokers = Brokers(OLDEST, SearchBounds(power_failure=True, stops=True))
    failure = "broker 1 is killed, the disk of broker 1 loses what is at offset 0 and above"
    assert written(brokers, SENT, "broker 2 is stopped", failure)[1:] == [
        produced("m0"),
        Stop(TWO),
        Kill(ONE),
        LoseTail(ONE, Offset(0)),
    ]


def test_lookups_are_held_too() -> None:
    brokers = Brokers(WITH_LOOKUPS, SearchBounds(acks=Acks.LEADER))
    steps = written(
        brokers, "m0 is sent with acks=1", "the answer reaches broker 2", "broker 1 is killed", "broker 1 starts"
    )
    held = [step for step in steps if isinstance(step, Hold)]
    assert held[-1].point is PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST
    assert held[-1].fetch_offset is None


def test_what_happens_before_the_first_step_needs_no_step() -> None:
    (state,) = Brokers(OLDEST, SearchBounds()).initial_states()
    assert stretches([(BrokerAction((RequestReceived(TWO),)), state)]) == ()
    assert mover(BrokerAction((BrokerReturned(TWO, clean=True),))) is None


def test_a_step_that_is_not_possible_is_left_out() -> None:
    brokers = Brokers(OLDEST, SearchBounds())
    (state,) = brokers.initial_states()
    start = (BrokerAction((BrokerReturned(TWO, clean=True),)), state)
    assert to_steps([start], brokers.empty_schedule(), OLDEST) == ()


def test_the_whole_schedule_says_what_is_caught_and_learned_and_ends_in_sync() -> None:
    brokers = Brokers(OLDEST, SearchBounds())
    hold = Hold("fetch", PointName.FETCH_REQUEST, TWO, ONE, Offset(1))
    assert with_awaits([hold, produced("m0"), Kill(TWO)], brokers.empty_schedule(), OLDEST) == (
        hold,
        Produce((Label("m0"),), Acks.ALL, Expectation.PENDING),
        AwaitHold("fetch"),
        Kill(TWO),
        AwaitOutcome((Label("m0"),), Expectation.ACKNOWLEDGED),
        Start(TWO),
        AwaitIsr((ONE, TWO)),
        Checkpoint("end"),
    )


def test_frames_that_are_still_held_at_the_end_are_let_go() -> None:
    brokers = Brokers(OLDEST, SearchBounds())
    steps = with_awaits([Hold("fetch", PointName.FETCH_REQUEST, TWO, ONE)], brokers.empty_schedule(), OLDEST)
    assert ReleaseHold("fetch") in steps


def test_a_schedule_may_end_with_replicas_that_stay_out() -> None:
    """Broker 3 is elected after it cut both records; in 0.10.2 those two records ahead stop for good."""
    brokers = Brokers(OLDEST, SearchBounds(replicas=3, settings=TopicSettings(1)))
    steps: list[Step] = [
        Hold("slow", PointName.FETCH_REQUEST, TWO, ONE),
        produced("m0"),
        produced("m1"),
        Hold("answer", PointName.FETCH_RESPONSE, THREE, ONE),
        ReleaseHold("slow"),
        Hold("refetch", PointName.FETCH_REQUEST, THREE, TWO),
        Kill(ONE),
        Kill(TWO),
    ]
    ends = with_awaits(steps, brokers.empty_schedule(), OLDEST)
    assert ends[-2:] == (AwaitIsr((THREE,)), Checkpoint("end"))
    assert not any(isinstance(step, Produce) for step in ends[-5:])


def test_what_the_defect_does_not_need_is_taken_away() -> None:
    brokers = Brokers(OLDEST, SearchBounds(settings=TopicSettings(1, unclean_leader_election=True)))
    needless: list[Step] = [produced("m0"), Hold("late", PointName.FETCH_REQUEST, TWO, ONE, Offset(1)), Kill(TWO)]
    steps = (*needless, produced("m1"), Kill(ONE), Start(TWO))
    schedule = shrunk(steps, brokers.empty_schedule(), OLDEST, PartitionDefect.ACKNOWLEDGED_LOST)
    assert schedule is not None
    assert [type(step) for step in schedule.steps[:4]] == [Kill, Produce, Kill, Start]
    assert schedule.labels() == (Label("m0"),)
    assert PartitionDefect.ACKNOWLEDGED_LOST in defects(predict(schedule, OLDEST))


def test_steps_without_the_defect_make_no_schedule() -> None:
    brokers = Brokers(OLDEST, SearchBounds())
    assert shrunk((produced("m0"),), brokers.empty_schedule(), OLDEST, PartitionDefect.DIVERGED) is None
