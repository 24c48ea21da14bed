"""Is what a schedule visits what the model does between its rests, and does a doctored schedule visit less?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.brokers.edge_schedule import claims, shortest_schedule
from oracle.brokers.edges import EdgeGraph
from oracle.brokers.questions import SearchBounds
from oracle.brokers.rests import RestPoint, own_events, rests_after
from oracle.brokers.visited import EdgeNotVisitedError, OtherPartitionError, require_visits, visits
from oracle.events import BrokerDied, BrokerReturned, LogTailLost, RecordSent
from oracle.predict import initial_world
from oracle.predicting.assumptions import UnmetAssumptionError
from oracle.steps.brokers import Kill, KillTogether, LoseTail, Pause, Resume, Start, Stop
from oracle.steps.frames import AwaitHold, Close, Hold, ReleaseHold
from oracle.steps.step import ScheduleError
from oracle.steps.waits import AwaitLeader, Checkpoint
from oracle.vocabulary import Expectation, Label, Offset, PointName
from tests.oracle.brokers.held import KRAFT, edge_along, edges, held
from tests.oracle.schedules import ONE, THREE, TWO, produce, schedule

if TYPE_CHECKING:
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

SENT, ANSWERED = "m0 is sent with acks=all", "the answer reaches broker 2"
REQUESTED = "the request of broker 2 reaches its leader"
AGAIN = Hold("again", PointName.FETCH_REQUEST, TWO, ONE, Offset(1))
PENDING = produce("m0", expect=Expectation.PENDING)


def visited(*steps: Step, bounds: SearchBounds | None = None) -> list[tuple[str, int, int, bool]]:
    graph = edges("2.8.2") if bounds is None else edges("2.8.2", bounds=bounds)
    found = visits(schedule(*steps), graph)
    return [(str(visit.edge.action), visit.before, visit.after, visit.is_held) for visit in found]


def look(name: str) -> Checkpoint:
    return Checkpoint(name)


def test_one_action_between_two_checkpoints_is_held_on_both_sides() -> None:
    steps = (look("a"), Kill(TWO), AwaitLeader(ONE), look("b"), Kill(ONE), look("c"))
    assert visited(*steps) == [("broker 2 is killed", 0, 3, True), ("broker 1 is killed", 3, 5, True)]


def test_an_edge_without_a_checkpoint_on_each_side_is_passed() -> None:
    assert visited(Kill(TWO), look("b")) == [("broker 2 is killed", -1, 0, False)]
    assert visited(look("a"), Kill(TWO)) == [("broker 2 is killed", 0, 1, False)]
    both = [("broker 2 is killed", 0, 1, False), ("broker 2 starts", 1, 2, False), (REQUESTED, 1, 2, False)]
    assert visited(look("a"), Kill(TWO), Start(TWO), look("b")) == both


def test_several_half_steps_of_one_step_are_passed() -> None:
    assert visited(look("a"), AGAIN, PENDING, AwaitHold("again"), look("b")) == [
        (SENT, 1, 2, False),
        (ANSWERED, 1, 2, False),
    ]
    steps = (look("a"), AGAIN, PENDING, AwaitHold("again"), look("b"), ReleaseHold("again"), look("c"))
    assert visited(*steps)[2:] == [(REQUESTED, 4, 5, False), (ANSWERED, 4, 5, False), (REQUESTED, 4, 5, False)]


def test_what_was_caught_from_an_idle_link_is_no_state_of_the_model_but_leads_to_one() -> None:
    caught = Hold("idle", PointName.FETCH_REQUEST, TWO, ONE)
    steps = (look("a"), caught, look("b"), PENDING, look("c"), Kill(ONE), look("d"), Kill(TWO), look("e"))
    assert visited(*steps) == [("broker 2 is killed", 6, 8, True)]


def test_a_paused_broker_and_a_closed_connection_are_none_of_the_models_actions() -> None:
    assert visited(look("a"), Pause(TWO), look("b")) == []
    after = visited(look("a"), Pause(TWO), look("b"), Resume(TWO), Kill(TWO), look("c"))
    assert all(words != "broker 2 is killed" or before > 2 for words, before, _, _ in after)
    closed = (look("a"), AGAIN, PENDING, look("b"), Close("again"), look("c"), Kill(ONE), look("d"))
    assert visited(*closed)[2:] == [("broker 1 is killed", 5, 7, True)]


def test_what_a_race_leaves_open_is_not_visited() -> None:
    steps = (look("a"), KillTogether((ONE, TWO)), look("b"))
    assert visited(*steps) == []
    rests = (RestPoint(initial_world(schedule(), edges("2.8.2").model.rules, (ONE, TWO))),)
    assert len(rests_after(rests, KillTogether((ONE, TWO)))) == 2


def test_an_await_decides_a_race_or_is_refused() -> None:
    rules = edges("2.8.2").model.rules
    open_race = rests_after((RestPoint(initial_world(schedule(), rules, (ONE, TWO))),), KillTogether((ONE, TWO)))
    started = rests_after(open_race, Start(TWO))
    leaders = {rest.world.state.controller.leader for rest in started}
    assert leaders == {None, TWO}
    assert len(rests_after(started, AwaitLeader(TWO))) == 1
    with pytest.raises(UnmetAssumptionError, match="the leader is"):
        rests_after(started, AwaitLeader(ONE))


def test_a_power_failure_is_one_action() -> None:
    bounds = SearchBounds(replicas=2, records=1, epochs=2, power_failure=True)
    failure = "broker 1 is killed, the disk of broker 1 loses what is at offset 0 and above"
    start = (Kill(TWO), Start(TWO), produce("m0"), look("a"), Kill(ONE), LoseTail(ONE, Offset(0)), look("b"))
    assert visited(*start, bounds=bounds)[-1] == (failure, 3, 6, True)
    assert visited(*start[:-1], bounds=bounds)[-1] == ("broker 1 is killed", 3, 4, False)


def test_a_join_is_an_edge_of_its_own_where_the_controller_takes_its_time() -> None:
    bounds = SearchBounds(replicas=2, records=1, epochs=2, late_joins=True)
    wish = Hold("wish", PointName.ALTER_PARTITION_REQUEST, broker=ONE)
    steps = (Kill(TWO), wish, Start(TWO), AwaitHold("wish"), look("a"), ReleaseHold("wish"), look("b"))
    assert visited(*steps, bounds=bounds)[-1] == ("broker 2 joins the ISR", 4, 6, True)


def own(step: Step) -> tuple[object, ...]:
    return own_events(initial_world(schedule(), edges("2.8.2").model.rules, (ONE, TWO)), step)


def test_what_steps_do_themselves() -> None:
    two = produce("m0", "m1")
    assert own(two) == tuple(RecordSent(Label(label), two.acks) for label in ("m0", "m1"))
    assert own(Stop(ONE)) == (BrokerDied(ONE, graceful=True),)
    assert own(Start(TWO)) == (BrokerReturned(TWO, clean=True),)
    assert own(LoseTail(TWO, Offset(0))) == (LogTailLost(TWO, Offset(0)),)
    assert own(look("a")) == own(AGAIN) == ()
    assert own(Pause(TWO)) == (None,)


def test_a_partition_of_other_replicas_or_settings_is_not_followed() -> None:
    for other in (schedule(look("a"), replicas=(ONE, TWO, THREE)), schedule(look("a"), min_isr=2)):
        with pytest.raises(OtherPartitionError, match="those of the model"):
            visits(other, edges("2.8.2"))


def cover_of(*path: str) -> Schedule:
    graph = held("2.8.2")
    found = shortest_schedule(graph, edge_along(graph.edges, *path).id)
    assert found is not None
    return found.schedule


IN_TWO = ("broker 2 is killed", "broker 2 starts", SENT, REQUESTED, ANSWERED)


def test_a_schedule_that_still_visits_its_edges_says_where() -> None:
    one = cover_of(*IN_TWO)
    held_visits = [visit for visit in require_visits(one, edges("2.8.2")) if visit.is_held]
    assert tuple(visit.edge.id for visit in held_visits)[: len(claims(one))] == claims(one)
    assert edge_along(edges("2.8.2"), *IN_TWO).id == claims(one)[-1]


def without(one: Schedule, *gone: Step) -> Schedule:
    return replace(one, steps=tuple(step for step in one.steps if step not in gone))


def test_a_schedule_without_one_of_its_holds_is_red() -> None:
    one = cover_of(*IN_TWO)
    answer = next(step for step in one.steps if isinstance(step, Hold) and step.point is PointName.FETCH_RESPONSE)
    doctored = without(one, answer, AwaitHold(answer.name), ReleaseHold(answer.name))
    with pytest.raises(EdgeNotVisitedError, match=r"is written for the edges .* does not hold both sides of them"):
        require_visits(doctored, edges("2.8.2"))


def test_a_schedule_without_one_of_its_checkpoints_is_red() -> None:
    one = cover_of(*IN_TWO)
    probed = [step for step in one.steps if isinstance(step, Checkpoint)]
    with pytest.raises(EdgeNotVisitedError):
        require_visits(without(one, probed[3]), edges("2.8.2"))


def test_under_a_rule_that_is_wrong_it_is_red() -> None:
    right = edges("2.8.2").model
    wrong = EdgeGraph(replace(right.rules, joins_isr=lambda _offset, _high_watermark, _start: False), right.bounds)
    one = cover_of("broker 2 is killed", "broker 2 starts", REQUESTED, "broker 1 is killed")
    assert require_visits(one, edges("2.8.2"))
    with pytest.raises(EdgeNotVisitedError, match=r"is refused, write it anew: the ISR is \[1\], not \[1, 2\] under"):
        require_visits(one, wrong)


def test_a_step_that_is_refused_is_named() -> None:
    with pytest.raises(ScheduleError, match=r"broker 2 runs already under the rules of Kafka 2\.8\.2") as refused:
        visits(schedule(look("a"), Start(TWO)), edges("2.8.2"))
    assert refused.value.step == 1


def test_a_schedule_of_another_release_is_red() -> None:
    with pytest.raises(EdgeNotVisitedError, match=r"4\.4\.0 \(kraft\)"):
        require_visits(cover_of(*IN_TWO, "broker 1 is killed"), edges("4.4.0", KRAFT))


def test_labels_and_brokers_are_those_of_the_model() -> None:
    assert visited(look("a"), AGAIN, produce("other", expect=Expectation.PENDING), look("b")) == []


def test_a_fetch_of_an_earlier_epoch_is_passed_over_between_two_states_of_one_edge() -> None:
    graph = held("2.8.2", bounds=SearchBounds(replicas=3, records=0, epochs=1))
    kill = edge_along(graph.edges, "broker 2 is killed")
    one = shortest_schedule(graph, kill.id)
    assert one is not None
    assert next(visit.edge for visit in require_visits(one.schedule, graph.edges) if visit.is_held) == kill


def test_edges_are_not_passed_by_a_way_on_which_the_model_has_other_frames() -> None:
    caught = Hold("idle", PointName.FETCH_REQUEST, TWO, ONE)
    assert visited(look("a"), caught, PENDING, Kill(ONE), look("b")) == []
