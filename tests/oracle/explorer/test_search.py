"""Does a search visit what there is, count it as TLC does, and find the shortest way to what breaks?"""

from __future__ import annotations

import pytest

from oracle.explorer.model import Always, CannotGoOnError, Eventually, SearchProgress, SearchVerdict, Sometimes
from oracle.explorer.search import CHUNK, Limits, explore
from tests.oracle.explorer.graphs import DrawnGraph, drawn

DIAMOND = """
a -left-> b
a -right-> c
b -on-> d
c -on-> d
d -back-> a
d -far-> e
"""


def is_not(name: str) -> Always[str]:
    return Always(f"never {name}", lambda state: state != name)


def test_a_whole_graph_is_counted() -> None:
    found = explore(DrawnGraph(drawn(DIAMOND)), always=[is_not("z")], sometimes=[Sometimes("d", "d".__eq__)])

    assert (found.verdict, found.generated, found.distinct, found.depth) == (SearchVerdict.HOLDS, 7, 5, 4)
    assert found.sometimes == {"steps": 6, "d": 1}
    assert (found.path, found.trace_length, found.never_seen) == ((), None, ())


def test_what_is_never_seen_is_named() -> None:
    found = explore(DrawnGraph(drawn(DIAMOND)), sometimes=[Sometimes("z", "z".__eq__)])

    assert found.never_seen == ("z",)


def test_the_shortest_path_is_found_and_told() -> None:
    found = explore(
        DrawnGraph(drawn("a -long-> b\nb -long-> c\nc -long-> d\na -short-> x\nx -short-> d")), [is_not("d")]
    )

    assert (found.verdict, found.property_name) == (SearchVerdict.VIOLATED, "never d")
    assert [(step.label, step.state) for step in found.path] == [(None, "a"), ("short", "x"), ("short", "d")]
    assert (found.trace_length, found.depth) == (3, 3)


def test_an_initial_state_may_break_a_property() -> None:
    found = explore(DrawnGraph({}, start=("a", "b", "a", "c")), [is_not("b")])

    assert (found.trace_length, found.generated, found.distinct) == (1, 4, 2)


def test_a_state_out_of_bounds_is_checked_but_not_counted() -> None:
    graph = DrawnGraph(drawn(DIAMOND), outside=frozenset("d"))

    found = explore(graph)
    assert (found.generated, found.distinct, found.depth) == (5, 3, 2)
    assert explore(graph, [is_not("d")]).trace_length == 3


def test_states_with_one_key_are_one_state() -> None:
    mirrored = DrawnGraph(drawn(DIAMOND), key=lambda state: "bc" if state in "bc" else state)

    found = explore(mirrored, [is_not("e")])
    assert (found.distinct, found.depth) == (4, 4)
    assert [step.state for step in found.path] == ["a", "b", "d", "e"]


def test_two_searches_agree() -> None:
    assert explore(DrawnGraph(drawn(DIAMOND)), [is_not("e")]) == explore(DrawnGraph(drawn(DIAMOND)), [is_not("e")])


def test_a_search_at_its_state_limit_is_unfinished() -> None:
    found = explore(DrawnGraph(drawn(DIAMOND)), [is_not("e")], limits=Limits(max_states=2))

    assert (found.verdict, found.distinct, found.stopped_by) == (SearchVerdict.UNFINISHED, 2, "reached 2 states")
    assert (
        explore(DrawnGraph(drawn(DIAMOND)), [is_not("b")], limits=Limits(max_states=2)).verdict
        is SearchVerdict.VIOLATED
    )
    assert explore(DrawnGraph(drawn(DIAMOND)), limits=Limits(max_states=5)).verdict is SearchVerdict.HOLDS


def test_a_search_reports_progress_and_can_be_stopped() -> None:
    wide = DrawnGraph({"a": [("go", f"{number}") for number in range(2 * CHUNK)]})
    reported: list[SearchProgress] = []

    found = explore(wide, limits=Limits(on_progress=reported.append, should_stop=lambda: len(reported) == 2))

    assert [(one.distinct, one.depth, one.queued) for one in reported] == [
        (2 * CHUNK + 1, 2, 2 * CHUNK),
        (2 * CHUNK + 1, 2, CHUNK),
    ]
    assert (found.verdict, found.stopped_by, found.depth) == (SearchVerdict.UNFINISHED, "stopped", 2)


def test_an_interrupt_leaves_the_figures_so_far() -> None:
    def interrupt(_: SearchProgress) -> None:
        raise KeyboardInterrupt

    found = explore(DrawnGraph(drawn(DIAMOND)), limits=Limits(on_progress=interrupt))

    assert (found.verdict, found.distinct, found.stopped_by) == (SearchVerdict.UNFINISHED, 3, "interrupted")


def test_a_model_that_cannot_go_on_leaves_the_figures_so_far() -> None:
    class Full(DrawnGraph):
        def actions(self, state: str) -> list[tuple[str, str]]:
            if state == "d":
                raise CannotGoOnError("no room for more letters")
            return super().actions(state)

        def occurrences(self) -> dict[str, int]:
            return {}

    found = explore(Full(drawn(DIAMOND)))

    assert (found.verdict, found.distinct, found.stopped_by) == (
        SearchVerdict.UNFINISHED,
        4,
        "no room for more letters",
    )


def test_actions_that_lead_elsewhere_than_successors_are_a_defect() -> None:
    class Lying(DrawnGraph):
        def successors(self, state: str) -> list[str]:
            return ["nowhere"] if state == "a" else []

    with pytest.raises(LookupError, match="no action leads to 'nowhere'"):
        explore(Lying(drawn(DIAMOND)), [is_not("nowhere")])


def test_what_never_comes_is_found_after_what_must_always_hold() -> None:
    found = explore(DrawnGraph(drawn(DIAMOND)), eventually=[Eventually("e comes", "e".__eq__)])

    assert (found.verdict, found.property_name, found.loop_start) == (SearchVerdict.VIOLATED, "e comes", 0)
    assert (
        explore(DrawnGraph(drawn(DIAMOND)), eventually=[Eventually("d comes", "d".__eq__)]).verdict
        is SearchVerdict.HOLDS
    )
    assert explore(DrawnGraph(drawn(DIAMOND)), [is_not("e")], [], [Eventually("z", "z".__eq__)]).loop_start is None
