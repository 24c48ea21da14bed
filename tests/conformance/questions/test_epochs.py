"""Do the questions about epochs measure what the files say, and notice when they say something else?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError, agrees
from conformance.questions.epoch_files import epochs_at_checkpoints, pairs_on_disk
from conformance.questions.epoch_requests import errors_between, measured_end_of_epoch, measured_requests
from tests.conformance.questions.hand_made_runs import HandMadeRun
from tests.conformance.scenarios.ladder_predictions import answer, kraft, zookeeper

if TYPE_CHECKING:
    from pathlib import Path

LINK = (1, 2)


@pytest.fixture
def made(tmp_path: Path) -> HandMadeRun:
    return HandMadeRun(tmp_path / "run")


def test_the_pairs_of_a_file(made: HandMadeRun) -> None:
    made.file_of(1, "server.log", "")
    made.file_of(1, "leader-epoch-checkpoint", "0\n3\n0 0\n2 1\n3 3\n")
    made.file_of(2, "server.log", "")
    made.file_of(2, "leader-epoch-checkpoint", "0\n4\n0 0\n1 1\n2 1\n3 3\n")
    expected = answer("LE-02", kraft("4.3.1"), "broker 1 has on disk")

    assert agrees(expected, pairs_on_disk(made.run, 1))
    assert not agrees(expected, pairs_on_disk(made.run, 2)), "an epoch that should be gone"


def test_no_file_is_something_else_than_no_evidence(made: HandMadeRun) -> None:
    made.file_of(1, "server.log", "")
    made.file_of(2, "server.log", "")
    made.file_of(2, "leader-epoch-checkpoint", "0\n1\nzero 0\n")

    assert pairs_on_disk(made.run, 1) is None
    with pytest.raises(NotSeenError, match="kept no files of broker 3"):
        pairs_on_disk(made.run, 3)
    with pytest.raises(NotSeenError, match="not what Kafka writes"):
        pairs_on_disk(made.run, 2)


def test_the_epochs_of_the_checkpoints(made: HandMadeRun) -> None:
    for at_ms, kind, epoch in ((1, "checkpoint", 0), (2, "numbers", 1), (3, "checkpoint", 2)):
        made.observe(at_ms, kind, leader_epoch=epoch)

    assert epochs_at_checkpoints(made.run) == [0, 2]


def restarted(made: HandMadeRun) -> None:
    """Let broker 1 start at step 5, one second into the run; before it fetched in its earlier life."""
    made.request(500, "Fetch", LINK, fetch_offset=7)
    made.mark(1_000, "step_started", "start", step=5)


def test_the_first_requests_after_a_start(made: HandMadeRun) -> None:
    restarted(made)
    for at_ms in (1_100, 1_300):
        made.request(at_ms, "OffsetForLeaderEpoch", LINK, leader_epoch=0)
    made.request(1_400, "Fetch", LINK, fetch_offset=1)
    made.request(1_500, "Fetch", LINK, fetch_offset=3)

    measured = measured_requests(made.run, 1, 2, 5)
    assert agrees(answer("LE-04", zookeeper("2.7.2"), "what broker 1 asks"), measured)
    assert not agrees(answer("LE-04", zookeeper("2.8.2"), "what broker 1 asks"), measured)


def test_the_last_epoch_in_a_fetch(made: HandMadeRun) -> None:
    restarted(made)
    made.request(1_400, "Fetch", LINK, fetch_offset=1, last_fetched_epoch=0)

    assert agrees(answer("LE-04", kraft("4.3.1"), "what broker 1 asks"), measured_requests(made.run, 1, 2, 5))
    assert not agrees(
        answer("LE-04", zookeeper("0.10.2.2"), "what broker 1 asks"), measured_requests(made.run, 1, 2, 5)
    )


def test_a_follower_that_never_fetched(made: HandMadeRun) -> None:
    restarted(made)
    made.request(1_100, "OffsetForLeaderEpoch", LINK, leader_epoch=0)

    with pytest.raises(NotSeenError, match="no fetch after its start"):
        measured_requests(made.run, 1, 2, 5)
    with pytest.raises(NotSeenError, match="no step 7"):
        measured_requests(made.run, 1, 2, 6)


def test_the_end_of_an_epoch_is_that_of_the_first_good_answer(made: HandMadeRun) -> None:
    restarted(made)
    made.response(1_100, "OffsetForLeaderEpoch", LINK, error=6, leader_epoch=-1, end_offset=-1)
    made.response(1_200, "OffsetForLeaderEpoch", LINK, error=0, leader_epoch=0, end_offset=1)

    assert measured_end_of_epoch(made.run, 1, 2, 5) == 1
    assert measured_end_of_epoch(made.run, 3, 2, 5) is None, "nobody answered broker 3"


@pytest.mark.parametrize(("code", "holds_on"), [(74, "2.1.1"), (0, "2.0.1")])
def test_a_follower_is_fenced_or_served(made: HandMadeRun, code: int, holds_on: str) -> None:
    made.mark(1_000, "step_started", "start", step=5)
    made.response(1_100, "Fetch", (3, 1), error=6)
    made.response(1_200, "Fetch", (3, 1), error=code)
    made.mark(2_000, "hold_released", "deaf", step=9)
    made.response(2_100, "Fetch", (3, 1), error=75)

    measured = errors_between(made.run, (3, 1), 5, "deaf")
    for version in ("2.0.1", "2.1.1"):
        expected = answer("LE-05/follower-zookeeper", zookeeper(version), "error codes")
        assert agrees(expected, measured) is (version == holds_on)


def test_a_follower_that_was_not_answered_at_all(made: HandMadeRun) -> None:
    made.mark(1_000, "step_started", "start", step=5)
    made.response(1_100, "Fetch", (3, 1), error=6)
    made.mark(2_000, "hold_released", "deaf", step=9)

    with pytest.raises(NotSeenError, match="served and fenced no fetch"):
        errors_between(made.run, (3, 1), 5, "deaf")
