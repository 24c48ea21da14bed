"""Are a follower's rounds read as they were? Held frames once, answers with their requests, other topics not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.wire_trace.fetches import EpochLookup, FetchRound, epoch_lookups, fetch_rounds, reached_between
from tests.conformance.questions.hand_made_fetches import MS, TOPIC_ID, Fetches, hand_made

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def made(tmp_path: Path) -> Fetches:
    return hand_made(tmp_path)


def rounds(made: Fetches) -> list[FetchRound]:
    return fetch_rounds(made.run, follower=2, leader=1)


def test_a_round_is_a_request_with_its_answer(made: Fetches) -> None:
    made.fetch(1, sent=10, reached=12, answered=30, delivered=31, high_watermark=1, records=(1, 2))

    assert rounds(made) == [FetchRound(1, 500, 10 * MS, 12 * MS, 30 * MS, 31 * MS, 0, 1, 2, None)]


def test_a_frame_that_stood_in_the_gate_counts_once(made: Fetches) -> None:
    made.stuck(1, sent=10, hold="gap")

    assert [one.fetch_offset for one in rounds(made)] == [1]


def test_a_topic_that_is_named_by_its_id_alone_is_found(made: Fetches) -> None:
    made.names = {"topic": None, "topic_id": TOPIC_ID}
    made.fetch(4, sent=10, answered=12, diverging_end=3)

    assert [(one.fetch_offset, one.diverging_end) for one in rounds(made)] == [(4, 3)]


def test_other_topics_and_links_are_left_out(made: Fetches) -> None:
    made.names = {"topic": "another", "topic_id": None}
    made.fetch(1, sent=10, answered=11)
    made.names, made.link = {"topic": None, "topic_id": TOPIC_ID}, (3, 1)
    made.fetch(2, sent=12, answered=13)

    assert rounds(made) == []


def test_a_fetch_without_an_answer_is_a_round_all_the_same(made: Fetches) -> None:
    made.fetch(1, sent=10)

    assert rounds(made)[0].answered_ns is None


def test_only_what_reached_the_leader_in_between_is_counted(made: Fetches) -> None:
    for offset, reached in enumerate((10, 20, 30)):
        made.fetch(offset, sent=5 + offset, reached=reached)

    assert [one.fetch_offset for one in reached_between(rounds(made), 10 * MS, 30 * MS)] == [1]


def test_a_lookup_that_was_refused_tells_nothing(made: Fetches) -> None:
    made.lookup(0, sent=10, end=-1, error=6)
    made.lookup(0, sent=20, end=3)

    assert epoch_lookups(made.run, follower=2, leader=1) == [EpochLookup(0, 3, 20 * MS)]
