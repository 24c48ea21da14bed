"""FE-02: the fetcher of a partition, as Kafka reckons it."""

from __future__ import annotations

import pytest

from conformance.examining.connections import ASSIGNMENTS, LONE, PAIRS, TOPICS
from conformance.examining.three_fetchers import FETCHERS, fetcher_id, java_hash


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("a", 97),
        ("ab", 3105),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),  # the word known for the one hash that has no absolute value
        ("__consumer_offsets", -970371369),
    ],
)
def test_text_is_hashed_as_java_does(text: str, number: int) -> None:
    assert java_hash(text) == number


def test_a_negative_number_counts_by_its_absolute_value() -> None:
    assert [fetcher_id("spread", partition, 3) for partition in range(4)] == [1, 0, 2, 1]


def test_the_number_without_an_absolute_value_is_on_fetcher_0() -> None:
    assert (31 * java_hash("polygenelubricants")) % 2**32 == 2**31
    assert fetcher_id("polygenelubricants", 0, 7) == 0


def test_one_fetcher_serves_everything() -> None:
    assert {fetcher_id(topic, partition, 1) for topic in TOPICS for partition in range(18)} == {0}


@pytest.mark.parametrize("topic", TOPICS)
def test_every_pair_of_brokers_is_on_every_fetcher(topic: str) -> None:
    spread = {(pair, fetcher_id(topic, partition, FETCHERS)) for partition, pair in enumerate(ASSIGNMENTS)}

    assert spread == {(pair, fetcher) for pair in PAIRS for fetcher in range(FETCHERS)}


def test_the_two_topics_differ_in_sign() -> None:
    signs = {((31 * java_hash(topic) + 2**31) % 2**32 - 2**31) < 0 for topic in TOPICS}

    assert signs == {True, False}
    assert LONE not in TOPICS
