"""Does a factored model with a memory search as the functions that it was given say, step by step?"""

from __future__ import annotations

from collections import deque

from oracle.explorer.factored import Bound
from oracle.explorer.model import SearchVerdict
from oracle.explorer.search import explore
from oracle.explorer.symmetry import Symmetry
from oracle.explorer.tabulated import Tabulated
from tests.oracle.explorer.counters import BELL, MOST, counters, swap_followers


def reference() -> tuple[int, set[tuple[int, int, int, int]]]:
    """Search the counters without any of the explorer's code."""
    generated, seen, queue = 1, {(0, 0, 0, 0)}, deque([(0, 0, 0, 0)])
    while queue:
        lead, one, other, rung = queue.popleft()
        reached = [(lead + 1, one, other, rung)] * (lead < MOST)
        reached += [(lead, one + 1, other, rung)] * 2 * (one < lead)
        reached += [(lead, one, other + 1, rung)] * 2 * (other < lead)
        reached += [(lead, one, other, 1)] * (lead == one == other == MOST and not rung)
        generated += len(reached)
        queue.extend(dict.fromkeys(state for state in reached if state not in seen))
        seen.update(reached)
    return generated, seen


def test_it_visits_what_the_functions_say() -> None:
    model = Tabulated(counters())
    generated, seen = reference()

    found = explore(model)

    assert (found.verdict, found.generated, found.distinct) == (SearchVerdict.HOLDS, generated, len(seen))
    assert found.depth == 3 * MOST + 2


def test_what_happened_is_counted() -> None:
    found = explore(Tabulated(counters()))

    taken = {name: times for name, times in found.sometimes.items() if name != "at the top"}
    assert sum(taken.values()) == found.generated - 1
    assert found.sometimes["Ring"] == 1
    assert 0 < found.sometimes["at the top"] < found.sometimes["Rise"]


def test_an_action_that_never_comes_is_named() -> None:
    found = explore(Tabulated(counters(bounds=(Bound((0,), lambda number: number < 1),))))

    assert found.never_seen == ("Follow", "Ring")


def test_a_bound_ends_the_search_at_it() -> None:
    found = explore(Tabulated(counters(bounds=(Bound((0,), lambda number: number < MOST),))))

    assert found.distinct == 5
    assert found.generated == 1 + sum((1, 5, 3, 3, 1))


def test_a_broken_invariant_is_found_with_a_path_of_real_steps() -> None:
    model = Tabulated(counters())

    found = explore(model, [model.invariant("Quiet")])

    assert [step.label for step in found.path] == [None, *["Rise (counter 0)"] * 2, *["Follow"] * 4, "Ring"]
    assert model.parts(found.path[-1].state) == (MOST, MOST, MOST, 1)
    for before, after in zip(found.path, found.path[1:], strict=False):
        assert after.state in model.successors(before.state)


def test_a_part_that_says_no_is_not_asked_further() -> None:
    model = Tabulated(counters())

    assert explore(model, [model.invariant("Close")]).trace_length == 3


def test_actions_and_successors_agree() -> None:
    model = Tabulated(counters())
    states = list(model.initial_states())
    for state in states:
        assert sorted(reached for _, reached in model.actions(state)) == sorted(model.successors(state))
        states.extend(reached for reached in dict.fromkeys(model.successors(state)) if reached not in states)
    assert len(states) == len(reference()[1])


def test_symmetric_states_are_one() -> None:
    model = Tabulated(counters())
    model.key = Symmetry(model.numberings, swap_followers(), frozenset({0, BELL})).key
    orbits = {(lead, *sorted((one, other)), rung) for lead, one, other, rung in reference()[1]}

    found = explore(model, [model.invariant("Quiet")])

    assert found.distinct == len(orbits)
    assert found.trace_length == 3 * MOST + 2
    assert [step.label for step in found.path][-1] == "Ring"


def test_more_parts_than_a_field_can_number_end_the_search() -> None:
    found = explore(Tabulated(counters(bits=1)))

    assert found.verdict is SearchVerdict.UNFINISHED
    assert found.stopped_by == "more than 2 different contents of counter 0"
