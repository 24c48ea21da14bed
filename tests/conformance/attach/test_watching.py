"""What does the watcher write down? What it sees of its own topic, until it is over, and after whole lines alone."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.attach import finishing, watching
from conformance.attach.finishing import _watching_settings
from conformance.attach.watching import Watcher
from conformance.clients.client_settings import ClientSettings
from conformance.clients.connecting import UnreadableClusterError
from conformance.probes.topic_of_clients import NotAnsweredError, TopicSeenByClients
from conformance.record.attached import WATCHED_FILE, SettingsWatched, append_lines, read_settings, read_watched
from conformance.record.directory import RunDirectory
from tests.conformance.attach.test_attach_judging import ATTACHED, LED, ZOOKEEPER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conformance.record.attached import PartitionWatched


class ToldTopic:
    """What brokers answer, and what happens while they do."""

    def __init__(self, *partitions: PartitionWatched, topic_id: str = "id") -> None:
        self.partitions, self.topic_id = partitions, topic_id
        self.meanwhile: Callable[[], None] = lambda: None
        self.why_silent: str | None = None

    def seen(self) -> TopicSeenByClients:
        if self.why_silent is not None:
            raise NotAnsweredError(self.why_silent)
        return TopicSeenByClients("c", self.partitions, self.topic_id)

    def offsets(self, partitions: Sequence[PartitionWatched]) -> dict[int, int]:
        self.meanwhile()
        return {one.partition: 90 for one in partitions}

    def settings(self) -> SettingsWatched:
        return ZOOKEEPER


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    with closing(Watcher(["b:1"], ClientSettings(), ATTACHED, RunDirectory(tmp_path))) as one:
        yield one


def look(watcher: Watcher, topic: ToldTopic) -> None:
    watcher._look(topic, is_settings=True)  # type: ignore[arg-type]


def test_a_look_that_finds_another_topic_is_written_down_as_one_that_saw_nothing(
    watcher: Watcher, tmp_path: Path
) -> None:
    look(watcher, ToldTopic(LED, topic_id="another"))
    assert read_watched(RunDirectory(tmp_path)) == []
    (unseen,) = read_settings(RunDirectory(tmp_path))
    assert unseen.why_not


def test_every_look_is_written_down_and_every_one_at_settings(watcher: Watcher, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    look(watcher, ToldTopic(LED))
    look(watcher, ToldTopic(LED))
    assert [one.high_watermark for one in read_watched(run)] == [90, 90]
    assert read_settings(run) == [ZOOKEEPER, ZOOKEEPER]


def test_a_look_that_nobody_answers_is_written_down_as_such(watcher: Watcher, tmp_path: Path) -> None:
    topic = ToldTopic(LED)
    topic.why_silent = "broker 1 did not answer"
    look(watcher, topic)
    run = RunDirectory(tmp_path)
    assert [(one.why_not, one.at_ns > 0) for one in read_settings(run)] == [("broker 1 did not answer", True)]
    assert read_watched(run) == []


def test_a_watcher_goes_on_after_whatever_a_look_fails_by_and_notes_it(
    watcher: Watcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [ValueError("an answer that nobody foresaw"), UnreadableClusterError("no broker answers")]

    def connected(*_: object) -> None:
        raise failures.pop(0)

    def over_once_all_failed(_: float) -> bool:
        return not failures

    monkeypatch.setattr(watching, "connected", connected)
    monkeypatch.setattr(watcher._is_over, "wait", over_once_all_failed)
    watcher.watch()
    told = [one.why_not for one in read_settings(RunDirectory(tmp_path))]
    assert told == ["the look failed: ValueError('an answer that nobody foresaw')", "no broker answers"]


def test_settings_are_looked_at_as_often_until_all_is_at_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Whole:
        is_whole = staticmethod(lambda: True)

    run = RunDirectory(tmp_path)
    looked = _watching_settings(run, ToldTopic(LED), Whole())  # type: ignore[arg-type]
    assert [looked(), looked()] == [True, True]
    assert read_settings(run) == [ZOOKEEPER]
    monkeypatch.setattr(finishing, "SETTINGS_S", 0.0)
    looked = _watching_settings(run, ToldTopic(LED), Whole())  # type: ignore[arg-type]
    assert [looked(), looked()] == [True, True]
    assert read_settings(run) == [ZOOKEEPER] * 3


def test_a_look_that_hangs_when_the_ledger_ends_is_not_written_down(watcher: Watcher, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    topic = ToldTopic(LED)
    topic.meanwhile = watcher.end
    look(watcher, topic)
    assert read_watched(run) == []
    assert read_settings(run) == []


def test_neither_added_partitions_nor_another_topic_of_the_name_are_written_down(
    watcher: Watcher, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path)
    look(watcher, ToldTopic(LED, replace(LED, partition=1)))
    look(watcher, ToldTopic(replace(LED, leader_epoch=0), topic_id="other"))
    assert [(one.partition, one.leader_epoch) for one in read_watched(run)] == [(0, 4)]
    assert list(watcher.latest) == [0]


def test_a_line_that_was_cut_is_taken_off_before_others_follow_it(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    append_lines(run, WATCHED_FILE, [LED])
    with (tmp_path / WATCHED_FILE).open("a") as file:
        file.write('{"at_ns": 17, "parti')
    assert read_watched(run) == [LED]
    append_lines(run, WATCHED_FILE, [LED, LED])
    assert read_watched(run) == [LED, LED, LED]
