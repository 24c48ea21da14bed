"""Is a behaviour that avoids something found, and only if it is one: dead ends, cycles, fairness, bounds?"""

from __future__ import annotations

from oracle.explorer.eventually import Behaviour, components_of, find_avoiding_behaviour
from oracle.explorer.model import Eventually
from tests.oracle.explorer.graphs import DrawnGraph, drawn

GOAL: Eventually[str] = Eventually("goal", "goal".__eq__)


def by_name(*fair: str) -> Eventually[str]:
    return Eventually("goal", "goal".__eq__, lambda label: str(label) if label in fair else None)


def avoiding(text: str, wanted: Eventually[str] = GOAL, outside: str = "") -> Behaviour[str] | None:
    return find_avoiding_behaviour(DrawnGraph(drawn(text), outside=frozenset(outside.split())), wanted)


def states_of(behaviour: Behaviour[str] | None) -> list[str]:
    return [step.state for step in behaviour.path] if behaviour else []


def test_a_dead_end_avoids_the_goal() -> None:
    found = avoiding("a -go-> b\nb -go-> goal\na -stray-> c\nc -spin-> c")

    assert states_of(found) == ["a", "c"]
    assert found is not None
    assert found.loop_start is None


def test_a_graph_whose_every_path_reaches_the_goal_has_no_such_behaviour() -> None:
    assert avoiding("a -go-> b\na -go-> goal\nb -go-> goal\nb -spin-> b") is None


def test_a_start_at_the_goal_is_a_goal_reached() -> None:
    assert find_avoiding_behaviour(DrawnGraph({}, start=("goal",)), GOAL) is None


def test_a_path_that_leaves_the_bounds_proves_nothing() -> None:
    assert avoiding("a -go-> goal\na -write-> outer\nouter -go-> dead", outside="outer") is None


def test_a_cycle_avoids_the_goal_unless_fairness_forbids_it() -> None:
    circle = "a -turn-> b\nb -turn-> a\na -go-> goal\nb -go-> goal"

    found = avoiding(circle)
    assert states_of(found) == ["a", "b", "a"]
    assert found is not None
    assert found.loop_start == 0
    assert avoiding(circle, by_name("go")) is None
    assert avoiding(circle, by_name("turn")) is not None


def test_an_action_that_is_disabled_now_and_then_is_treated_fairly_by_never_coming() -> None:
    found = avoiding("a -turn-> b\nb -turn-> c\nc -turn-> a\na -go-> goal\nb -go-> goal", by_name("go"))
    assert states_of(found) == ["a", "b", "c", "a"]


def test_the_loop_goes_through_all_that_fairness_asks_for() -> None:
    found = avoiding(
        """
        a -enter-> b
        b -turn-> c
        c -turn-> b
        c -other-> d
        d -home-> b
        b -other-> goal
        d -other-> goal
        """,
        by_name("other"),
    )

    assert found is not None
    assert found.loop_start == 1
    assert states_of(found) == ["a", "b", "c", "d", "b"]
    assert [step.label for step in found.path[2:]] == ["turn", "other", "home"]


def test_components_are_found_where_paths_cross() -> None:
    found = components_of([[1], [2, 3], [0], [4], [5], [3], []])

    assert sorted(map(sorted, found)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert components_of([[1, 2], [2], []]) == [frozenset({2}), frozenset({1}), frozenset({0})]
