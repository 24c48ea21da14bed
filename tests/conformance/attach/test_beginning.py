"""What is said of a topic that was created when nothing comes of its ledger? That it is there. No broker is needed."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.attach import beginning, ledger
from conformance.attach.beginning import LedgerOptions, NewTopicAsked, begin
from conformance.cli import main
from conformance.clients.topics import TopicError
from conformance.probes.topic_of_clients import NotAnsweredError, TopicSeenByClients
from fault_injection.releases import UsageError
from tests.conformance.attach.test_attach_judging import CLEAN, LED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.record.attached import PartitionWatched, SettingsWatched

OPTIONS = LedgerOptions(("b:1",), "t", creates=NewTopicAsked(partitions=1))
THERE = LedgerOptions(("b:1",), "t")
LEFT = r"topic kafka-conformance-t was created, and not written to: .*; delete it yourself\.$"


class Brokers:
    """What brokers answer about the topic, and which of their answers fail, by name: so often, after so many."""

    def __init__(self, *failing: str, times: int = 1000, after: int = 0) -> None:
        self._failing, self._left, self._before = failing, times, after

    def _told(self, name: str) -> None:
        if name in self._failing and self._before:
            self._before -= 1
        elif name in self._failing and self._left:
            self._left -= 1
            raise NotAnsweredError("broker 2 does not answer")

    def is_idempotence_known(self) -> bool:
        return True

    def seen(self) -> TopicSeenByClients:
        self._told("seen")
        return TopicSeenByClients("c", (replace(LED, assigned=(1, 2, 3)),), "id")

    def offsets(self, partitions: Sequence[PartitionWatched], timestamp: int = -1) -> dict[int, int]:
        if timestamp == beginning.EARLIEST and "offsets" in self._failing and self._left:
            self._left -= 1
            return {}
        return {one.partition: 0 for one in partitions}

    def settings(self) -> SettingsWatched:
        self._told("settings")
        return CLEAN


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Brokers], None]:
    """Have brokers that answer so asked."""

    def ask(brokers: Brokers) -> None:
        monkeypatch.setattr(beginning, "KNOWN_S", 0.3)
        monkeypatch.setattr(beginning, "connected", lambda *_: nullcontext())
        monkeypatch.setattr(beginning, "create_where_brokers_like", lambda *_: None)
        monkeypatch.setattr(beginning, "TopicOfClients", lambda *_: brokers)

    return ask


@pytest.mark.parametrize("failing", ["seen", "offsets", "settings"])
def test_a_topic_that_was_created_and_is_not_written_to_is_told(
    failing: str, asked: Callable[[Brokers], None], tmp_path: Path
) -> None:
    asked(Brokers(failing))
    with pytest.raises(UsageError, match=LEFT) as refused:
        begin(OPTIONS, tmp_path)
    assert "not answer" in str(refused.value)
    with pytest.raises(UsageError, match=r"^topic t cannot be looked at: .*not answer$"):
        begin(THERE, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("failing", "after"), [("seen", 0), ("seen", 1), ("offsets", 0)])
def test_a_broker_that_does_not_answer_once_is_asked_again(
    failing: str, after: int, asked: Callable[[Brokers], None], tmp_path: Path
) -> None:
    asked(Brokers(failing, times=1, after=after))
    run, attached = begin(OPTIONS, tmp_path)
    assert (attached.topic, attached.is_own, run.path.exists()) == ("kafka-conformance-t", True, True)


def test_a_topic_that_is_gone_meanwhile_is_told(asked: Callable[[Brokers], None], tmp_path: Path) -> None:
    class Gone(Brokers):
        def seen(self) -> TopicSeenByClients:
            return super().seen() if self.is_asked_first() else TopicSeenByClients("c", (), "id")

        def is_asked_first(self) -> bool:
            self._before += 1
            return self._before == 1

    asked(Gone())
    with pytest.raises(UsageError, match="the topic is not there any more, or has fewer partitions"):
        begin(OPTIONS, tmp_path)


def test_a_created_topic_whose_ledger_has_no_place_is_told(asked: Callable[[Brokers], None], tmp_path: Path) -> None:
    asked(Brokers())
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=LEFT):
        begin(OPTIONS, tmp_path / "file")


def test_a_topic_that_may_be_left_by_who_interrupts_the_beginning_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ledger, "begin", interrupt)
    given = ["attach", "--bootstrap-server", "b:1", "--records", "1", "--runs-dir", str(tmp_path)]
    assert main([*given, "--create", "t"]) == 130
    assert "topic kafka-conformance-t may have been created: delete it yourself" in capsys.readouterr().err
    assert main([*given, "--topic", "t"]) == 130
    assert "created" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (None, "it may be there all the same: delete it yourself"),
        ("REQUEST_TIMED_OUT", "it may be there all the same: delete it yourself"),
        ("TOPIC_ALREADY_EXISTS", "--topic kafka-conformance-t writes to the one that is there"),
    ],
)
def test_a_topic_that_may_have_been_created_is_told(
    error: str | None,
    hint: str,
    asked: Callable[[Brokers], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise TopicError("topic kafka-conformance-t was not created", error)

    asked(Brokers())
    monkeypatch.setattr(beginning, "create_where_brokers_like", refuse)
    with pytest.raises(UsageError, match=hint):
        begin(OPTIONS, tmp_path)
