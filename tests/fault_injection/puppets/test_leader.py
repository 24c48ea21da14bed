"""Does a leader puppet answer a follower in every version, with what it was told to serve?"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from fault_injection.puppets.client import FollowerPuppet
from fault_injection.puppets.connection import (
    CLIENT_MESSAGES,
    FETCH,
    LIST_OFFSETS,
    OFFSETS_FOR_LEADER_EPOCH,
    PuppetConnection,
    PuppetError,
)
from fault_injection.puppets.leader import LeaderPuppet
from fault_injection.puppets.records import batches
from fault_injection.puppets.served_topics import (
    FENCED_LEADER_EPOCH,
    OFFSET_OUT_OF_RANGE,
    UNKNOWN_LEADER_EPOCH,
    PuppetTopic,
    Served,
)
from fault_injection.waiting import DeadlineExceededError
from fault_injection.wire.views import DivergingEpochView, EpochQuery, FetchedPartition, FetchPartition

LOG = batches((3, [b"a", b"b"]), (6, [b"c"]))
FETCH_VERSIONS = range(int(CLIENT_MESSAGES[FETCH].request.max_version) + 1)
EPOCH_VERSIONS = range(int(CLIENT_MESSAGES[OFFSETS_FOR_LEADER_EPOCH].request.max_version) + 1)
LONG_MS = 20_000


@contextmanager
def asking(follower: FollowerPuppet, topic: PuppetTopic, offset: int) -> Iterator[list[FetchedPartition]]:
    """Fetch on another thread; when the block ends the answer is there, if one came."""
    answers: list[FetchedPartition] = []

    def fetch() -> None:
        with suppress(PuppetError):
            answers.append(follower.fetch(topic, offset, max_wait_ms=LONG_MS))

    thread = threading.Thread(target=fetch)
    thread.start()
    try:
        yield answers
    finally:
        thread.join()


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_a_fetch_gets_records_from_its_offset_on(
    leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic, version: int
) -> None:
    leader.serve(topic, Served(LOG, high_watermark=2))
    given = follower.fetch(topic, 1, leader_epoch=6, version=version)

    assert (given.error, given.high_watermark, given.first_offset, given.last_offset) == (0, 2, 1, 2)
    epochs = [run.leader_epoch for run in given.epochs]
    assert epochs == ([3, 6] if version >= 4 else [None])
    (asked,) = leader.asked(topic)
    assert isinstance(asked, FetchPartition)
    assert (asked.fetch_offset, asked.current_leader_epoch) == (1, 6 if version >= 9 else -1)


@pytest.mark.parametrize("version", EPOCH_VERSIONS)
def test_an_epoch_lookup_gets_the_chosen_answer(
    leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic, version: int
) -> None:
    leader.serve(topic, Served(LOG, 2, end_of_epoch=lambda epoch: DivergingEpochView(epoch - 1, 2 * epoch)))
    told = follower.end_of_epoch(topic, 4, current_leader_epoch=6, version=version)

    assert (told.error, told.end_offset) == (0, 8)
    assert told.leader_epoch == (3 if version >= 1 else -1)
    assert leader.asked(topic) == (EpochQuery("t", 0, 4, 6 if version >= 2 else -1),)


def test_an_unknown_epoch_is_told_as_such(leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic) -> None:
    leader.serve(topic, Served(LOG, 2))
    assert follower.end_of_epoch(topic, 4).end_offset == -1


def test_a_diverging_epoch_comes_in_place_of_records(
    leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic
) -> None:
    leader.serve(topic, Served(LOG, 2, diverging=lambda epoch, _: DivergingEpochView(3, 2) if epoch == 5 else None))

    diverging = follower.fetch(topic, 3, last_fetched_epoch=5)
    assert (diverging.diverging_epoch, diverging.record_bytes) == (DivergingEpochView(3, 2), 0)
    longer = follower.fetch(topic, 9, last_fetched_epoch=5)
    assert (longer.error, longer.diverging_epoch) == (0, DivergingEpochView(3, 2))
    assert follower.fetch(topic, 2, last_fetched_epoch=6).diverging_epoch is None


@pytest.mark.parametrize(("claimed", "error"), [(5, FENCED_LEADER_EPOCH), (6, 0), (7, UNKNOWN_LEADER_EPOCH), (-1, 0)])
def test_another_epoch_is_fenced(
    leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic, claimed: int, error: int
) -> None:
    leader.serve(topic, Served(LOG, 2, leader_epoch=6))

    assert follower.fetch(topic, 0, leader_epoch=claimed).error == error
    assert follower.end_of_epoch(topic, 3, current_leader_epoch=claimed).error == error


def test_errors_are_told(leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic) -> None:
    assert follower.fetch(topic, 0).error == 3  # UNKNOWN_TOPIC_OR_PARTITION
    assert follower.end_of_epoch(topic, 0).error == 3
    leader.serve(topic, Served(LOG, 2))
    assert follower.fetch(topic, 4).error == OFFSET_OUT_OF_RANGE
    leader.serve(topic, Served(LOG, 2, error=6))
    assert follower.fetch(topic, 0).error == 6


def test_an_empty_fetch_is_parked_until_there_are_records(
    leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic
) -> None:
    leader.serve(topic, Served(LOG[:2], 1))
    with asking(follower, topic, 2) as answers:
        leader.await_fetch(topic, 2)
        leader.serve(topic, Served(LOG, 1))
    assert [given.last_offset for given in answers] == [2]
    assert follower.fetch(topic, 3, max_wait_ms=1).record_bytes == 0


def test_what_is_held_is_answered_with_what_is_served_by_then(
    leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic
) -> None:
    leader.serve(topic, Served(LOG[:2], 1))
    leader.hold_next()
    with asking(follower, topic, 0) as answers:
        leader.hold()
        leader.serve(topic, Served(LOG, 3))
        assert answers == []
        leader.release()
    assert [(given.high_watermark, given.last_offset) for given in answers] == [(3, 2)]


def test_a_leader_that_dies_answers_nothing_and_refuses(
    leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic
) -> None:
    leader.serve(topic, Served(LOG, 1))
    leader.hold_next()
    with asking(follower, topic, 0) as answers:
        leader.await_fetch(topic)
        leader.die()
    assert answers == []
    with pytest.raises(PuppetError, match="no answer to FetchRequest"):
        follower.fetch(topic, 0, version=11)
    leader.revive()
    assert follower.fetch(topic, 0).last_offset == 2


def test_a_wait_says_what_came_instead(leader: LeaderPuppet, follower: FollowerPuppet, topic: PuppetTopic) -> None:
    leader.serve(topic, Served(LOG, 1))
    with pytest.raises(DeadlineExceededError, match="a request to leader puppet 2"):
        leader.hold(deadline_s=0.05)
    leader.release()
    follower.fetch(topic, 2)
    with pytest.raises(DeadlineExceededError, match="fetch_offset=2"):
        leader.await_fetch(topic, 1, deadline_s=0.05)
    leader.forget()
    assert leader.asked(topic) == ()


@pytest.mark.parametrize(("timestamp", "offset"), [(-1, 3), (-2, 0)])
@pytest.mark.parametrize("version", [0, 1, 5])
def test_offsets_are_listed(
    leader: LeaderPuppet, topic: PuppetTopic, version: int, timestamp: int, offset: int
) -> None:
    leader.serve(topic, Served(LOG, 1))
    asked = {"partition_index": 0, "timestamp": timestamp, "current_leader_epoch": -1}
    values = {"replica_id": 1, "topics": [{"name": "t", "partitions": [asked | {"max_num_offsets": 1}]}]}
    connection = PuppetConnection(leader.address, "1")
    answer = connection.ask(LIST_OFFSETS, values, version).topics[0].partitions[0]
    connection.close()

    assert (list(answer.old_style_offsets) if version == 0 else [answer.offset]) == [offset]
