"""Is a leader epoch taken for the leadership that it belongs to, and the other way round?"""

from __future__ import annotations

import pytest

from conformance.running.asking import Leaderships


def seen(*rests: tuple[int | None, int]) -> Leaderships:
    leaderships = Leaderships()
    for leader, epoch in rests:
        leaderships.note(leader, epoch)
    return leaderships


def test_a_leadership_is_asked_for_by_its_last_epoch_and_the_latest_by_the_present_one() -> None:
    leaderships = seen((1, 3), (1, 4), (2, 6), (2, 7))
    assert [leaderships.epoch_of(ordinal, 8) for ordinal in range(4)] == [4, 8, 9, 10]


def test_who_leads_again_after_nobody_did_begins_another_leadership() -> None:
    assert seen((1, 0), (None, 1), (1, 2)).epoch_of(0, 2) == 0
    assert seen((1, 0), (1, 2)).epoch_of(0, 2) == 2


@pytest.mark.parametrize(("epoch", "ordinal"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (9, 2), (None, None)])
def test_an_epoch_belongs_to_the_first_leadership_that_did_not_end_before_it(
    epoch: int | None, ordinal: int | None
) -> None:
    assert seen((1, 0), (1, 1), (None, 2), (2, 3), (1, 5)).ordinal_of(epoch) == ordinal
