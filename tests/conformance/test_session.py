"""Is every entry of a session run in order, told with its number, and one that fails no reason to end where asked?"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, cast

import pytest
from typing_extensions import override

from conformance.commands.matrix_cells import MatrixCell, round_folder
from conformance.commands.matrix_line import tasks_of
from conformance.expectations import AcceptedFinding
from conformance.pipeline import Pipeline
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.second_look import SecondLook
from conformance.session import Session, Task
from tests.conformance.brokerless import ASKS_THE_LEADER, brokerless_pipeline

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.pipeline import Finished, Taken


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail with one entry, as a disk that is full does."""
    take = Pipeline.take

    def taken(pipeline: Pipeline, entry: Entry) -> Taken:
        if entry is RESTARTED_FOLLOWER:
            raise OSError("no space left on device")
        return take(pipeline, entry)

    monkeypatch.setattr(Pipeline, "take", taken)


def session_of(directory: Path, told: list[str], looks: SecondLook | None = None) -> Session:
    """Return a session on 0.10.2.2, whose entries end before a broker starts."""
    cluster_pool = brokerless_pipeline(directory).cluster_pool
    return Session(cluster_pool, cast("Any", None), 5, told.append, looks or SecondLook())


def test_entries_are_run_in_order_each_where_it_is_asked_for(tmp_path: Path) -> None:
    told: list[str] = []
    tasks = [Task(ASKS_THE_LEADER, tmp_path / "one", "first"), Task(ASKS_THE_LEADER, tmp_path / "two", "second")]
    finished = session_of(tmp_path, told).run_all(tasks, "here ")

    assert [one.run.path.parent.name for one in finished] == ["one", "two"]
    assert [re.sub(r"\d+\.\d s", "N s", line) for line in told] == [
        f"here [1/2] first: {ASKS_THE_LEADER.requirement}",
        f"here [2/2] second: {ASKS_THE_LEADER.requirement}",
        "here [1/2] first: NOT_RUN (N s)",
        "here [2/2] second: NOT_RUN (N s)",
    ]


@pytest.mark.usefixtures("full_disk")
def test_a_cell_that_fails_is_said_and_is_no_reason_to_end(tmp_path: Path) -> None:
    told: list[str] = []
    begun: list[str] = []
    failures: list[tuple[str, str]] = []
    session = session_of(tmp_path, told)
    cells = [MatrixCell(RESTARTED_FOLLOWER, 2), MatrixCell(ASKS_THE_LEADER, 2)]
    session.run_all(
        tasks_of(tmp_path, cells), "line ", lambda place, problem: failures.append((place, problem)), begun.append
    )

    why = f"{RESTARTED_FOLLOWER.name}, round 2 could not be run: OSError('no space left on device')"
    assert failures == [("line [1/2]", why)]
    assert begun == [f"{RESTARTED_FOLLOWER.name}, round 2", f"{ASKS_THE_LEADER.name}, round 2"]
    assert len([*round_folder(tmp_path, 2).glob("*/run.json")]) == 1


def test_what_the_user_accepts_reaches_each_run(tmp_path: Path) -> None:
    class Looking(SecondLook):
        @override
        def look(self, pipeline: Pipeline, entry: Entry, finished: Finished) -> Finished:
            accepted.append(pipeline.accepted)
            return super().look(pipeline, entry, finished)

    accepted: list[tuple[AcceptedFinding, ...]] = []
    finding = AcceptedFinding("TR-01", "4.4.0", None, "It cuts one record too many.", "KAFKA-1", date(2027, 6, 30))
    replace(session_of(tmp_path, [], Looking()), accepted=(finding,)).run(ASKS_THE_LEADER, tmp_path)

    assert accepted == [(finding,)]


@pytest.mark.usefixtures("full_disk")
def test_what_fails_where_nobody_is_told_ends_the_session(tmp_path: Path) -> None:
    session = session_of(tmp_path, [])
    with pytest.raises(OSError, match="no space left"):
        session.run_all([Task(RESTARTED_FOLLOWER, tmp_path, "x"), Task(ASKS_THE_LEADER, tmp_path, "y")])
    assert not [*tmp_path.glob("*/run.json")]


def test_an_interruption_ends_the_session_although_failures_are_told(tmp_path: Path) -> None:
    class Interrupted(SecondLook):
        @override
        def look(self, pipeline: Pipeline, entry: Entry, finished: Finished) -> Finished:
            raise KeyboardInterrupt

    session = session_of(tmp_path, [], Interrupted())
    with pytest.raises(KeyboardInterrupt):
        session.run_all([Task(ASKS_THE_LEADER, tmp_path, "x")], failed=lambda *_: None)
