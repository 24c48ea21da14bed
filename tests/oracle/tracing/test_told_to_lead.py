"""Which high watermark may a leader begin with? What it learned until it led, not only until it was told to."""

from __future__ import annotations

import pytest

from oracle.tracing.observed import FetchAnswered, FetchReceived, ObservedEpochRun
from tests.oracle.tracing.story import with_records


@pytest.mark.parametrize(
    ("is_answered", "told", "refused"),
    [
        (True, 4, ""),
        (True, 3, ""),
        (False, 4, "14: leader 2 tells the high watermark 4"),
        (True, 5, "21: leader 2 tells the high watermark 5"),
    ],
)
def test_who_was_told_to_lead_may_take_an_answer_before_it_does(*, is_answered: bool, told: int, refused: str) -> None:
    """Broker 2 hears that it leads while its request is on its way whose answer brings high watermark 4."""
    story = with_records()
    story.fetch(2, 1, 3, 3, (0, 3, 3))
    story.fetch(3, 1, 3, 3, (0, 3, 3))
    story.fetch(2, 1, 4, 3, (0, 4, 4))
    under_way = story.sent(2, 1, 5)
    story.feed(FetchReceived, key=under_way)
    lost = story.sent(3, 1, 4)
    story.feed(FetchReceived, key=lost)
    story.feed(FetchAnswered, key=lost, error=0, high_watermark=3, runs=(ObservedEpochRun(0, 4, 4),))
    story.heard(2, 2, 1, (2, 3))
    if is_answered:
        story.answered(under_way, 4)
    story.heard(3, 2, 1, (2, 3))
    first = story.sent(3, 2, 4, epoch=1, last_fetched_epoch=0)
    story.feed(FetchReceived, key=first)
    assert not story.refused()
    story.answered(first, told, (0, 4, 4))
    assert story.refused() == refused
