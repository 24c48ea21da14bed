"""Do the paths take every arc, how few are they, and are they as short as they may be?"""

from __future__ import annotations

from oracle.brokers.path_cover import PathFinder, cover

LADDER = ((0, 1), (1, 2), (2, 0), (1, 3), (5, 6))


def test_a_path_goes_on_while_arcs_are_left_and_moves_too() -> None:
    assert cover(LADDER, range(4), 0, 9) == ((0, 1, 2, 0, 3),)
    assert cover(LADDER, range(4), 0, 4) == ((0, 1, 2), (0, 3))


def test_an_arc_farther_away_has_its_path_all_the_same() -> None:
    assert cover(LADDER, [3], 0, 1) == ((0, 3),)


def test_only_what_is_wanted_ends_a_path_and_what_no_path_reaches_is_left_out() -> None:
    assert cover(LADDER, [1, 4], 0, 9) == ((0, 1),)
    assert cover(LADDER, [4], 0, 9) == ()


def test_the_nearest_wanted_arc_is_found_within_the_moves() -> None:
    finder = PathFinder(LADDER)
    assert finder.nearest(0, {2}, 3) == (0, 1, 2)
    assert finder.nearest(0, {2}, 2) is None
    assert finder.nearest(0, {4}, 9) is None


def test_every_node_that_can_be_reached_has_a_shortest_way() -> None:
    assert PathFinder(LADDER).ways(1) == {1: (), 2: (1,), 3: (3,), 0: (1, 2)}
