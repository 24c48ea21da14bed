"""Do the measures of frames read what a follower asked, and tell when it asked otherwise or nothing?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError
from conformance.record.wire import EPOCH_LOOKUP, FETCH
from conformance.scenarios.regressions.frames_asked import FORGOTTEN_EPOCH
from conformance.scenarios.regressions.high_watermark import HELD_BY_THE_DEAD
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.conformance.questions.hand_made_runs import HandMadeRun

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.questions import ScheduleQuestion
    from conformance.record.directory import RunDirectory

(LAST_EPOCH,) = FORGOTTEN_EPOCH.questions
(LEADER_EPOCH,) = HELD_BY_THE_DEAD.questions


def run_with(tmp_path: Path, *asked: tuple[str, int, dict[str, int]]) -> RunDirectory:
    """Write a run whose wire trace has these (api, source, fields of the partition), in order."""
    made = HandMadeRun(tmp_path / f"run-{len(list(tmp_path.iterdir()))}")
    for number, (api, source, fields) in enumerate(asked):
        made.request(number, api, (source, 1), **fields)
    return made.run


def test_the_latest_fetch_counts_and_no_epoch_is_minus_one(tmp_path: Path) -> None:
    named = (FETCH, 2, {"last_fetched_epoch": 0})
    assert LAST_EPOCH.measure(run_with(tmp_path, named, (FETCH, 2, {}))) == -1
    assert LAST_EPOCH.measure(run_with(tmp_path, (FETCH, 2, {}), named, (FETCH, 3, {}))) == 0


def test_the_leader_epoch_of_the_latest_fetch_counts(tmp_path: Path) -> None:
    older, newer = ((FETCH, 2, {"current_leader_epoch": epoch}) for epoch in (1, 3))
    assert LEADER_EPOCH.measure(run_with(tmp_path, older, newer, (FETCH, 3, {"current_leader_epoch": 9}))) == 3
    assert LEADER_EPOCH.measure(run_with(tmp_path, older, (FETCH, 2, {}))) == -1


@pytest.mark.parametrize(("version", "epoch"), [("0.10.2.2", -1), ("2.0.1", -1), ("2.1.1", 3), ("2.8.2", 3)])
def test_fetches_name_the_leader_epoch_from_2_1_on(version: str, epoch: int) -> None:
    assert LEADER_EPOCH.predict(rules_for(version, MetadataMode.ZOOKEEPER), {}) == epoch


@pytest.mark.parametrize("question", [LAST_EPOCH, LEADER_EPOCH], ids=["last epoch", "leader epoch"])
def test_a_follower_that_asked_nothing_was_not_seen(tmp_path: Path, question: ScheduleQuestion) -> None:
    with pytest.raises(NotSeenError, match="of broker 2 to broker 1"):
        question.measure(run_with(tmp_path, (EPOCH_LOOKUP, 3, {}), (FETCH, 3, {})))


@pytest.mark.parametrize(
    ("version", "epoch"), [("2.8.2", 0), ("3.5.0", 0), ("3.5.1", -1), ("3.6.2", -1), ("3.7.0", 0), ("3.9.2", 0)]
)
def test_which_epoch_a_release_names(version: str, epoch: int) -> None:
    assert LAST_EPOCH.predict(rules_for(version, MetadataMode.ZOOKEEPER), {}) == epoch


@pytest.mark.parametrize(("version", "epoch"), [("3.3.2", 3), ("3.5.2", 3), ("3.6.2", 2), ("4.3.1", 2)])
def test_in_which_leader_epoch_a_release_ends(version: str, epoch: int) -> None:
    assert LEADER_EPOCH.predict(rules_for(version, MetadataMode.KRAFT), {}) == epoch
