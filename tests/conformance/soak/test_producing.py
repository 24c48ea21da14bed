"""Do producers share out what they are asked, and do they end, whatever ends them? No broker is there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.record.directory import RunDirectory
from conformance.record.ledger import read_attempts, read_outcomes
from conformance.record.soak import AcksOfProducers, ledger_directories
from conformance.soak import producing
from conformance.soak.producing import ProducerEndedError, SoakProducers, loads_of
from fault_injection.releases import UsageError
from fault_injection.waiting import until
from oracle.vocabulary import Acks
from tests.conformance.soak.soaks import soak
from tests.integration.processes import descendants, living

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.record.soak import Soak

NOWHERE = {"bootstrap.servers": "127.0.0.1:1"}
ENDLESS = soak(producers=2, rate=400)
STARTED_S = 30.0

PARENT = f"""
import pathlib, sys
from conformance.record.directory import RunDirectory
from conformance.soak.producing import SoakProducers
from tests.conformance.soak.test_producing import ENDLESS, NOWHERE, all_send

if __name__ == "__main__":
    with SoakProducers(RunDirectory(pathlib.Path(sys.argv[1])), ENDLESS, NOWHERE) as producers:
        all_send(producers)
        print("sending", flush=True)
        producers.done({STARTED_S})
"""


def all_send(producers: SoakProducers) -> None:
    until(
        lambda: all(one.sent > 10 for one in producers.progress_of_each), deadline_s=STARTED_S, what="records of each"
    )


def pids_of(producers: SoakProducers) -> list[int]:
    return [child.process.pid or 0 for child in producers._children]


def interrupt(producers: SoakProducers) -> None:
    for pid in pids_of(producers):
        os.kill(pid, signal.SIGINT)


def test_each_sends_its_share() -> None:
    loads = loads_of(soak(records=10, rate=7))
    assert [load.records for load in loads] == [3, 3, 2, 2]
    assert [load.rate for load in loads] == [2, 2, 2, 1]
    assert [load.acks for load in loads] == [Acks.ALL, Acks.LEADER, Acks.ALL, Acks.LEADER]
    assert [load.base - (7 << 40) for load in loads] == [0, 1 << 32, 2 << 32, 3 << 32]
    assert {load.records for load in loads_of(soak())} == {None}


@pytest.mark.parametrize(
    ("changes", "words"), [({"rate": 3}, "--rate 3: 4 producers"), ({"is_idempotent": True}, "--acks mixed")]
)
def test_what_cannot_be_shared_out_is_refused(changes: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        SoakProducers(RunDirectory(tmp_path), soak(**changes), NOWHERE)


def test_idempotent_producers_wait_for_all() -> None:
    assert all(load.is_idempotent for load in loads_of(soak(is_idempotent=True, acks=AcksOfProducers.ALL)))


@pytest.mark.timeout(120)
def test_producers_send_side_by_side_until_they_are_stopped(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    with SoakProducers(run, ENDLESS, NOWHERE) as producers:
        interrupt(producers)  # before they can have said that they do not hear it
        all_send(producers)
        interrupt(producers)
        before = producers.progress.sent
        until(lambda: producers.progress.sent > before + 100, deadline_s=10, what="records after Ctrl-C")
        assert not producers.done(0.1)
        producers.hurry()
        producers.stop()
        assert producers.done(30)
        assert producers.failures == {}
        told, pids = producers.progress_of_each, pids_of(producers)
    assert sum(one.sent for one in told) == producers.progress.sent
    for number, (one, directory) in enumerate(zip(told, ledger_directories(run, ENDLESS), strict=True)):
        attempts, outcomes = (read(RunDirectory(directory)) for read in (read_attempts, read_outcomes))
        ids = [it.record_id for it in attempts]
        assert ids == list(range(ENDLESS.first_id(number), ENDLESS.first_id(number) + len(ids)))
        assert {it.record_id for it in outcomes} <= set(ids)
        assert len(ids) >= one.sent > 0
    assert not {pid for pid, _ in descendants(os.getpid())} & set(pids)


def sending(path: Path, during: Callable[[SoakProducers], object], asked: Soak = ENDLESS, **connection: str) -> None:
    with SoakProducers(RunDirectory(path), asked, {**NOWHERE, **connection}) as producers:
        during(producers)


@pytest.mark.timeout(120)
def test_a_producer_that_somebody_killed_is_named(tmp_path: Path) -> None:
    pids: list[int] = []

    def kill_one(producers: SoakProducers) -> None:
        all_send(producers)
        pids.extend(pids_of(producers))
        os.kill(pids[1], signal.SIGKILL)
        producers.done(30)

    with pytest.raises(ProducerEndedError, match=r"^producer 1 was killed by SIGKILL$"):
        sending(tmp_path, kill_one)
    assert not {pid for pid, _ in descendants(os.getpid())} & set(pids)


@pytest.mark.timeout(120)
def test_a_producer_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "producers" / "0").mkdir(parents=True)
    (tmp_path / "producers" / "0" / "ledger").write_text("in the way")
    with pytest.raises(ProducerEndedError, match=r"^producer 0 failed: FileExistsError"):
        sending(tmp_path, lambda producers: producers.done(30))


@pytest.mark.timeout(120)
def test_a_failure_is_told_where_the_block_ends(tmp_path: Path) -> None:
    wrong = {"no.such.setting": "1"}
    with pytest.raises(ProducerEndedError, match=r"producer 0 failed: .*no\.such\.setting"):
        sending(tmp_path, lambda _: None, soak(producers=1, records=1), **wrong)


@pytest.mark.timeout(120)
def test_a_producer_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producing, "ENDING_S", -producing.HURRY_S)

    def hurry(producers: SoakProducers) -> None:
        all_send(producers)
        producers.hurry()

    with pytest.raises(ProducerEndedError, match=r"producer 0 took more than 0 s to end, and was killed"):
        sending(tmp_path, hurry, soak(producers=1, rate=400))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_producers_end_with_their_parent(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    command = [sys.executable, str(tmp_path / "parent.py"), str(tmp_path / "run")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "sending\n"
        children = descendants(parent.pid)
        assert len(children) >= 2
        parent.send_signal(how)
    until(lambda: not living(children), deadline_s=20, what="the end of all producers", interval_s=0.1)
