"""Is it found out how a follower was told where its last epoch ends?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError
from conformance.questions.epoch_requests import (
    ASKED,
    NOTHING,
    TOLD,
    end_told,
    epoch_asked,
    first_fetch_with_records,
    way_told,
)
from tests.conformance.questions.hand_made_fetches import Fetches, hand_made

if TYPE_CHECKING:
    from pathlib import Path

KILLED = ("broker_killed", "2")


@pytest.fixture
def made(tmp_path: Path) -> Fetches:
    """Return a run whose broker 2 had asked and fetched before it was killed."""
    made = hand_made(tmp_path)
    made.lookup(0, sent=1, end=9)
    made.fetch(9, sent=4, answered=5, records=(9, 9), diverging_end=8)
    made.mark("broker_killed", "2", at=10)
    return made


def told(made: Fetches) -> tuple[object, ...]:
    measures = (way_told, end_told, epoch_asked)
    return tuple(measure(2, 1, since=KILLED)(made.run) for measure in measures)


def test_what_came_before_does_not_count(made: Fetches) -> None:
    assert told(made) == (NOTHING, None, None)
    with pytest.raises(NotSeenError, match="broker 2 got no records"):
        first_fetch_with_records(2, 1, since=KILLED)(made.run)


def test_an_answered_lookup_is_seen(made: Fetches) -> None:
    made.lookup(-1, sent=20, end=-1)
    made.lookup(0, sent=25, end=3)
    assert told(made) == (ASKED, -1, -1)


def test_a_diverging_epoch_is_seen(made: Fetches) -> None:
    made.fetch(3, sent=20, answered=21, diverging_end=1)
    made.fetch(1, sent=22, answered=23, records=(1, 1))
    assert told(made) == (TOLD, 1, None)
    assert first_fetch_with_records(2, 1, since=KILLED)(made.run) == 1


def test_a_run_without_the_kill_answers_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotSeenError, match="no broker_killed of 2"):
        way_told(2, 1, since=KILLED)(hand_made(tmp_path).run)
