"""Does the reduced search find every end? A search with neither reduction finds the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from oracle.predict import initial_world
from oracle.predicting import interleavings
from oracle.predicting.interleavings import explore, identity
from oracle.predicting.step_effects import strokes
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from oracle.world import ImpossibleEventError, controller_moves, half_step
from tests.oracle.open_races import lost_or_kept, two_followers_report_to_a_new_leader
from tests.oracle.walks import Walk, walks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.predicting.interleavings import Identity
    from oracle.schedule import Schedule
    from oracle.world import World

# A search reaches much by chance; each branch has a test that names what it does
pytestmark = [pytest.mark.no_cover, pytest.mark.slow]


def every_end(world: World) -> set[Identity]:
    """Return where every reachable state comes to rest, whatever half-steps led to it."""
    known, todo, ends = {identity(world)}, [world], set()
    while todo:
        here = todo.pop()
        ends.add(identity(here.settle()))
        moved = [half_step(here, follower) for follower in here.order]
        moved += [after for _, after in controller_moves(here)]
        for after in moved:
            if identity(after) not in known:
                known.add(identity(after))
                todo.append(after)
    return ends


def found_ends(world: World) -> set[Identity]:
    graph = explore(world)
    return {identity(graph.worlds[end]) for end in graph.ends}


def struck(schedule: Schedule, version: str) -> Iterator[World]:
    """Yield the world right after every stroke of a schedule, on every way."""
    worlds = [initial_world(schedule, rules_for(version, MetadataMode.ZOOKEEPER), schedule.replicas)]
    for step in schedule.steps:
        for stroke in strokes(step):
            moving = [stroke(world) for world in worlds]
            yield from moving
            rests: dict[Identity, World] = {}
            for world in moving:
                graph = explore(world)
                rests |= {identity(graph.worlds[end]): graph.worlds[end] for end in graph.ends}
            worlds = list(rests.values())


@pytest.mark.parametrize(
    ("race", "version"),
    [
        (lost_or_kept, "0.10.2.2"),
        (lost_or_kept, "2.0.0"),
        (lost_or_kept, "2.4.1"),
        (lost_or_kept, "3.9.2"),
        (two_followers_report_to_a_new_leader, "1.1.0"),
    ],
)
def test_schedules_with_races_have_the_ends_of_the_whole_search(race: Callable[[], Schedule], version: str) -> None:
    worlds = list(struck(race(), version))
    assert [found_ends(world) for world in worlds] == [every_end(world) for world in worlds]


def test_there_is_a_race_in_them() -> None:
    assert max(len(found_ends(world)) for world in struck(lost_or_kept(), "3.9.2")) == 2


@given(walks())
@settings(max_examples=25, derandomize=True, database=None)
def test_walks_have_the_ends_of_the_whole_search(walk: Walk) -> None:
    for before, step in zip(walk.worlds, walk.schedule.steps, strict=False):
        try:
            world = strokes(step)[0](before)
        except ImpossibleEventError:
            continue
        assert found_ends(world) == every_end(world)


def test_a_reduction_that_hides_ends_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking an arriving fetch alone, as if only its follower saw it, hides that another one comes first."""
    monkeypatch.setattr(interleavings, "_is_seen_by_its_follower_only", lambda _: True)
    assert any(found_ends(world) != every_end(world) for world in struck(lost_or_kept(), "3.9.2"))


def test_the_search_is_deterministic() -> None:
    for world in struck(lost_or_kept(), "0.10.2.2"):
        one, other = explore(world), explore(world)
        assert (one.worlds, one.edges, one.ends) == (other.worlds, other.edges, other.ends)
