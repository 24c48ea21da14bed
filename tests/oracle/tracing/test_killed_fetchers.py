"""What may a follower have of an answer that it was appending when it was killed? Any part of it."""

from __future__ import annotations

import pytest

from oracle.log import EpochEnd
from oracle.tracing.observed import BrokerEnded, BrokerStarted
from oracle.vocabulary import LeaderEpoch, Offset
from tests.oracle.tracing.story import Story, with_records


@pytest.mark.parametrize("release", [("4.3.1", "kraft"), ("2.3.1", "zookeeper"), ("0.11.0.3", "zookeeper")])
@pytest.mark.parametrize(("end", "killed", "shut_down"), [(3, 1, 1), (4, 1, 0), (6, 1, 0), (7, 1, 1), (8, 0, 0)])
def test_a_follower_that_is_killed_while_it_appends_has_written_part_of_it(
    release: tuple[str, str], end: int, killed: int, shut_down: int
) -> None:
    """Soak of 10^8 records on 4.4.0, seed 8: killed 95 ms after an answer of several batches had reached it."""
    for clean, is_allowed in ((False, killed), (True, shut_down)):
        story = with_records(*release)
        epoch = 0 if story.speech.tells_epoch or story.speech.lookup else None
        story.fetch(3, 1, 3, 3, (epoch, 3, 6))
        story.feed(BrokerEnded, broker=3, clean=clean)
        assert _may_fetch_from(story, end) == bool(is_allowed), f"clean {clean}"


def _may_fetch_from(story: Story, end: int) -> bool:
    """Tell whether broker 3 may fetch there after its start; one that looks its end up first is told that it is."""
    story.feed(BrokerStarted, broker=3)
    story.led(1, 0, (1, 2), 3)
    if story.speech.lookup:
        told = {"current_leader_epoch": 0} if story.speech.tells_epoch else {}
        of_epoch = LeaderEpoch(0) if story.speech.tells_epoch else None
        story.lookup(3, 1, 0, EpochEnd(of_epoch, Offset(7)), key=story.key(30), **told)
    story.sent(3, 1, end, key=story.key(30))
    return not story.refused()


def test_part_of_an_answer_may_be_of_any_of_its_epochs() -> None:
    """Records 3 to 4 of epoch 0 and 5 to 8 of epoch 1: what is there tells its own epoch."""
    for end, told, is_allowed in ((4, 0, True), (5, 0, True), (6, 1, True), (8, 1, True), (6, 0, False), (4, 1, False)):
        story = with_records()
        story.led(1, 1, (1, 2, 3))
        story.fetch(3, 1, 3, 3, (0, 3, 4), (1, 5, 8), epoch=1, last_fetched_epoch=0)
        story.feed(BrokerEnded, broker=3, clean=False)
        story.feed(BrokerStarted, broker=3)
        story.led(1, 1, (1, 2), 3)
        story.sent(3, 1, end, epoch=1, last_fetched_epoch=told, key=story.key(30))
        assert bool(story.refused()) is not is_allowed, (end, told)
