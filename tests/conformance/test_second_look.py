"""A finding on a used cluster is tried again, and the verdict says where it came back."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from conformance.interruption import AwaitedStateMissingError, InconclusiveError
from conformance.record.run import read_run
from conformance.record.verdict import Conformance
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.second_look import SecondLook
from tests.conformance.brokerless import brokerless_pipeline
from tests.conformance.run_files import read_json

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.pipeline import Finished, Pipeline
    from fault_injection.cluster.lifecycle import Cluster

FINDING, NO_FINDING = AwaitedStateMissingError("broker 2 never led"), InconclusiveError("it moves")


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.setattr("conformance.second_look.PREDECESSORS_MAX", 1)
    return brokerless_pipeline(tmp_path)


class Failing:
    """A cluster on which every run ends with the next of some failures."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = iter(failures)

    def settings(self, _: int) -> None:
        """Fail, as the first thing that a run asks of its cluster."""
        raise next(self._failures)


def looked_at(
    pipeline: Pipeline, *failures: Exception, look: SecondLook | None = None, is_used: bool = True, is_kept: bool = True
) -> Finished:
    """Run an entry, on a cluster that other runs had used, of which the last can be repeated.

    Each run ends with the next of the failures.

    Args:
        is_kept: whether a run that ends early leaves its cluster to the next.
    """
    look, pool = look or SecondLook(), pipeline.cluster_pool
    cluster = cast("Cluster", Failing(NO_FINDING, *failures))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "cluster_for", lambda _: cluster)
        if is_kept:
            patch.setattr(type(pipeline), "_discard_cluster", lambda _: None)
        first = look.run(pipeline, RESTARTED_FOLLOWER)
        pool.cluster_runs = ["long ago", first.run.path.name] if is_used else []
        return look.run(pipeline, RESTARTED_FOLLOWER)


def again(finished: Finished) -> int:
    """Return how many runs were made to try a finding again."""
    return len([*(finished.run.path / "again").glob("*/run.json")])


def test_a_finding_that_comes_back_alone_is_the_entry_s_own(pipeline: Pipeline) -> None:
    finished = looked_at(pipeline, FINDING, FINDING)

    assert finished.verdict.conformance is Conformance.DEVIATES
    assert finished.verdict.reason == "broker 2 never led; reproduced alone on a fresh cluster"
    assert read_json(finished.run, "verdict.json")["reason"] == finished.verdict.reason
    assert again(finished) == 1


@pytest.mark.parametrize(
    ("last", "told"), [(FINDING, ", reproduced after the runs"), (NO_FINDING, ", nor (INCONCLUSIVE) after the runs")]
)
def test_one_that_vanishes_is_tried_after_its_predecessors(pipeline: Pipeline, last: Exception, told: str) -> None:
    finished = looked_at(pipeline, FINDING, NO_FINDING, NO_FINDING, last)

    assert finished.verdict.conformance is Conformance.DEVIATES
    assert "; not reproduced alone on a fresh cluster (INCONCLUSIVE)" + told in finished.verdict.reason
    assert again(finished) == 3


def test_a_finding_on_a_fresh_cluster_is_not_tried_again(pipeline: Pipeline) -> None:
    finished = looked_at(pipeline, FINDING, is_used=False)

    assert finished.verdict.reason == "broker 2 never led"
    assert again(finished) == 0


def test_what_is_no_finding_is_not_tried_again(pipeline: Pipeline) -> None:
    assert again(looked_at(pipeline, NO_FINDING)) == 0


def test_a_few_findings_of_a_call_are_tried_again_and_no_more(pipeline: Pipeline) -> None:
    assert again(looked_at(pipeline, FINDING, look=SecondLook(left=0))) == 0


def test_predecessors_that_do_not_leave_their_cluster_to_the_next_are_said_not_to_be_repeated(
    pipeline: Pipeline,
) -> None:
    finished = looked_at(pipeline, FINDING, NO_FINDING, NO_FINDING, FINDING, is_kept=False)

    assert finished.verdict.reason.endswith("; the runs before it could not be repeated on one cluster")


@pytest.mark.parametrize(
    ("failures", "told", "came_back"),
    [
        ((FINDING, FINDING, FINDING), "reproduced alone on a fresh cluster, 3 of 3 times", 3),
        ((NO_FINDING, FINDING, NO_FINDING), "reproduced alone on a fresh cluster, 1 of 3 times", 1),
        (3 * (NO_FINDING,), "not reproduced alone on a fresh cluster (INCONCLUSIVE), 0 of 3 times", 0),
    ],
)
def test_a_thorough_look_tries_a_finding_on_a_fresh_cluster_several_times(
    pipeline: Pipeline, failures: tuple[Exception, ...], told: str, came_back: int
) -> None:
    look = SecondLook(None, 3, is_thorough=True)
    finished = looked_at(pipeline, FINDING, *failures, look=look, is_used=False)

    assert finished.verdict.reason == f"broker 2 never led; {told}"
    assert again(finished) == 3
    seen = read_run(finished.run).second_look
    assert seen is not None
    assert (seen.tries, seen.came_back) == (3, came_back)


def test_the_runs_of_a_second_look_are_nobody_s_predecessors(pipeline: Pipeline) -> None:
    looked_at(pipeline, FINDING, FINDING)

    assert pipeline.cluster_pool.cluster_runs == []
