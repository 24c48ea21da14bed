"""Would a wrong model be noticed? Controls: a mutated step breaks what holds, and every told step is a real one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from oracle.explorer.model import SearchVerdict
from oracle.explorer.search import explore
from oracle.explorer.tabulated import Tabulated
from oracle.published.catalogue import KIP_320, subject
from oracle.published.specification import specification
from tests.oracle.published.searching import constants_of

if TYPE_CHECKING:
    from oracle.explorer.factored import Factored
    from oracle.explorer.model import Exploration

BOUNDS = constants_of("2/2/2/2")


def search_with(model: Factored, *invariants: str) -> Exploration[int]:
    tabulated = Tabulated(model)
    return explore(tabulated, [tabulated.invariant(name) for name in invariants])


def test_the_unchanged_model_holds() -> None:
    found = search_with(specification(KIP_320, BOUNDS), "WeakIsr", "StrongIsr", "FollowerIsPrefix")

    assert (found.verdict, found.distinct) == (SearchVerdict.HOLDS, 5973)


def test_a_high_watermark_without_vetoes_breaks_it() -> None:
    model = specification(KIP_320, BOUNDS)
    unasked = tuple(replace(joint, vetoes=()) for joint in model.joint_actions)

    assert search_with(replace(model, joint_actions=unasked), "WeakIsr").verdict is SearchVerdict.VIOLATED


def test_a_follower_that_never_cuts_breaks_it() -> None:
    uncut = replace(KIP_320, cuts=lambda _leader, follower, _high_watermark: (follower.log_end_offset,))

    assert search_with(specification(uncut, BOUNDS), "FollowerIsPrefix").verdict is SearchVerdict.VIOLATED


def test_a_model_in_which_nobody_writes_holds_and_says_what_it_never_saw() -> None:
    model = specification(KIP_320, BOUNDS)
    silent = replace(model, actions=tuple(one for one in model.actions if one.name != "LeaderWrite"))

    found = search_with(silent, "WeakIsr", "StrongIsr")
    assert found.verdict is SearchVerdict.HOLDS
    assert {"FollowerFetch", "LeaderIncHighWatermark", "a zombie writes", "records are cut"} <= {*found.never_seen}


@pytest.mark.parametrize("name", ["KafkaTruncateToHighWatermark", "Kip101", "AsyncIsr/without-maximal-isr"])
def test_every_step_of_a_counterexample_is_one_the_model_takes(name: str) -> None:
    told = subject(name, BOUNDS)

    path = explore(told.model, told.invariants).path

    assert path[0].state in told.model.initial_states()
    for before, after in pairwise(path):
        assert (after.label, after.state) in [*told.model.actions(before.state)]
        assert after.state in told.model.successors(before.state)
    assert [one.holds(path[-1].state) for one in told.invariants].count(False) >= 1
    assert all(one.holds(step.state) for one in told.invariants for step in path[:-1])


def test_two_searches_of_a_model_agree_to_the_last_step() -> None:
    first, second = (
        explore(one.model, one.invariants) for one in (subject("Kip101", BOUNDS), subject("Kip101", BOUNDS))
    )

    assert first == second
