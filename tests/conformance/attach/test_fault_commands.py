"""When is a command run that breaks a cluster, and what is noted of it?"""

from __future__ import annotations

import time
from threading import Event
from typing import TYPE_CHECKING

import pytest

from conformance.attach import fault_commands
from conformance.attach.fault_commands import FaultCommands
from conformance.attach.one_at_a_time import OneAtATime
from conformance.record.attached import PartitionWatched
from conformance.record.directory import RunDirectory
from conformance.record.fault_commands import FaultCommand, read_commands, read_given_commands
from fault_injection.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

WHOLE, SHRUNK = (1, 2, 3), (1, 3)


class Looks:
    """What a watcher sees of one partition, as the test has it."""

    def __init__(self) -> None:
        self.latest: tuple[PartitionWatched, ...] = ()
        self.see(WHOLE)

    def see(self, isr: tuple[int, ...], assigned: tuple[int, ...] = ()) -> None:
        self.latest = (PartitionWatched(time.time_ns(), 0, 1, 4, isr, 1, assigned=assigned),)

    def one_at_a_time(self, grace_s: float = 60) -> OneAtATime:
        return OneAtATime(lambda: self.latest, 1, len(WHOLE), grace_s)


def test_commands_run_in_the_order_of_their_times_and_what_they_print_is_kept(tmp_path: Path) -> None:
    told: list[str] = []
    commands = [FaultCommand("echo second >&2; false", 0.2), FaultCommand("echo first", 0)]
    FaultCommands(commands, RunDirectory(tmp_path), told.append).run(Event().wait)
    assert told == ["runs echo first", "runs echo second >&2; false"]
    first, second = read_commands(RunDirectory(tmp_path))
    assert (first.exit_code, second.exit_code) == (0, 1)
    assert [(tmp_path / one.output).read_text() for one in (first, second)] == ["first\n", "second\n"]
    assert second.began_ns - first.began_ns >= 100_000_000


def test_replicas_that_were_not_seen_to_leave_since_a_command_let_no_other_one_begin() -> None:
    looks = Looks()
    order = looks.one_at_a_time()
    assert order.why_not() is None
    order.begin()
    order.end()
    looks.see(WHOLE)  # the broker that was killed counts as in sync until its session ends
    assert order.why_not()
    looks.see(SHRUNK)
    assert order.why_not()
    looks.see(WHOLE)
    assert order.why_not() is None


def test_replicas_that_left_and_came_back_while_a_command_ran_need_not_leave_again() -> None:
    looks = Looks()
    order = looks.one_at_a_time()
    order.begin()
    looks.see(SHRUNK)
    order.look()
    looks.see(WHOLE)
    order.end()
    assert order.why_not(), "that was before its end"
    looks.see(WHOLE)
    assert order.why_not() is None


def test_a_command_that_breaks_nothing_lets_the_next_one_begin_after_a_while() -> None:
    looks = Looks()
    order = looks.one_at_a_time(grace_s=0)
    order.begin()
    order.end()
    assert order.why_not(), "nobody has looked since"
    looks.see(WHOLE)
    assert order.why_not() is None


def test_a_partition_is_whole_with_the_replicas_that_it_has_and_not_with_those_of_the_first_one() -> None:
    looks = Looks()
    looks.see((1, 2), assigned=(1, 2))
    assert looks.one_at_a_time().why_not() is None
    looks.see((1, 2, 3), assigned=(1, 2, 3, 4))
    assert "a replica is out of sync" in (looks.one_at_a_time().why_not() or "")
    looks.see((1, 2, 3), assigned=(1, 2, 4))
    assert looks.one_at_a_time().why_not()


def test_a_replica_that_leaves_a_partition_of_more_than_the_first_one_has_is_harm() -> None:
    looks = Looks()
    order = looks.one_at_a_time()
    order.begin()
    looks.see((1, 2, 3), assigned=(1, 2, 3, 4))
    order.look()
    order.end()
    looks.see((1, 2, 3, 4), assigned=(1, 2, 3, 4))
    assert order.why_not() is None


@pytest.mark.parametrize("seconds", [11, 3600])
def test_a_cluster_that_does_not_answer_is_not_in_sync(seconds: int) -> None:
    looks = Looks()
    (look,) = looks.latest
    looks.latest = (PartitionWatched(look.at_ns - seconds * 10**9, 0, 1, 4, WHOLE, 1),)
    assert "not every partition was seen" in (looks.one_at_a_time().why_not() or "")


def test_a_command_waits_for_its_turn_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_commands, "TOLD_AFTER_S", 0.3)
    told: list[str] = []
    looks = Looks()
    commands = FaultCommands(
        [FaultCommand("echo kill", 0), FaultCommand("echo start", 0)],
        RunDirectory(tmp_path),
        told.append,
        looks.one_at_a_time(),
    )
    waits, is_over = iter(range(100)), Event()

    def wait(seconds: float) -> bool:
        if seconds:
            looks.see(SHRUNK)
            if is_over.wait(seconds / 10) or next(waits, None) is None:
                is_over.set()
        return is_over.is_set()

    commands.run(wait)
    assert [one.command for one in read_commands(RunDirectory(tmp_path))] == ["echo kill"]
    assert [one.command for one in read_given_commands(RunDirectory(tmp_path))] == ["echo kill", "echo start"]
    (waits_for,) = told[1:]
    assert waits_for.startswith(
        "echo start waits, as --one-at-a-time asks: a replica is out of sync; if this is to mend"
    )


def test_a_command_that_waits_whether_the_one_before_broke_anything_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fault_commands, "TOLD_AFTER_S", 0.2)
    told: list[str] = []
    looks, is_over = Looks(), Event()

    def wait(seconds: float) -> bool:
        looks.see(WHOLE)
        return is_over.wait(min(seconds, 0.1))

    given = [FaultCommand("sleep 0.5", 0), FaultCommand("echo next", 0)]
    FaultCommands(given, RunDirectory(tmp_path), told.append, looks.one_at_a_time(grace_s=1)).run(wait)
    waits = "no replica was seen to leave the ISR by the command before, which may take 1 s"
    assert told == ["runs sleep 0.5", f"echo next waits, as --one-at-a-time asks: {waits}", "runs echo next"]


def test_a_command_whose_turn_comes_at_once_has_not_waited_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fault_commands, "TOLD_AFTER_S", 0.3)
    told: list[str] = []
    looks = Looks()

    def wait(seconds: float) -> bool:
        looks.see(WHOLE)
        return Event().wait(min(seconds, 0.1))

    given = [FaultCommand("sleep 0.5", 0), FaultCommand("echo next", 0)]
    FaultCommands(given, RunDirectory(tmp_path), told.append, looks.one_at_a_time(grace_s=0.1)).run(wait)
    assert told == ["runs sleep 0.5", "runs echo next"]


def test_a_command_that_runs_at_the_end_goes_on_to_its_own(tmp_path: Path) -> None:
    told: list[str] = []
    command = "touch is-broken; sleep 1; echo mended"
    commands = FaultCommands([FaultCommand(f"cd {tmp_path}; {command}", 0)], RunDirectory(tmp_path), told.append)
    with commands.beside():
        until_there(tmp_path, "*-broken")
    (ended,) = read_commands(RunDirectory(tmp_path))
    assert (ended.exit_code, (tmp_path / ended.output).read_text()) == (0, "mended\n")
    assert told[-1] == f"waits for cd {tmp_path}; {command} to end, 120 s at most"


def test_none_begins_after_the_end_although_it_was_due_before(tmp_path: Path) -> None:
    given = [FaultCommand(f"touch {tmp_path}/first-began; sleep 1", 0), FaultCommand("true", 0)]
    commands = FaultCommands(given, RunDirectory(tmp_path), lambda _: None)
    with commands.beside():
        until_there(tmp_path, "first-began")
    assert [one.exit_code for one in read_commands(RunDirectory(tmp_path))] == [0]


def test_a_command_is_noted_when_it_begins_and_its_end_once_it_is_known(tmp_path: Path) -> None:
    run, command = RunDirectory(tmp_path), f"touch {tmp_path}/begun; until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    with FaultCommands([FaultCommand(command, 0)], run, lambda _: None, limit_s=2).beside():
        until_there(tmp_path, "begun")
        (running,) = read_commands(run)
        (tmp_path / "go").touch()
    (ended,) = read_commands(run)
    assert (running.command, running.is_end_known, running.exit_code) == (command, False, None)
    assert (ended.began_ns, ended.is_end_known, ended.exit_code) == (running.began_ns, True, 0)


def until_there(directory: Path, pattern: str) -> None:
    until(lambda: any(directory.glob(pattern)), deadline_s=10, what=pattern, interval_s=0.02)


def test_what_keeps_commands_from_running_is_raised(tmp_path: Path) -> None:
    commands = FaultCommands([FaultCommand("true", 0)], RunDirectory(tmp_path), lambda _: None)
    (tmp_path / "command-001.log").mkdir()
    with pytest.raises(IsADirectoryError), commands.beside():
        until(lambda: commands.failure is not None, deadline_s=10, what="the failure", interval_s=0.02)


def test_nothing_more_is_run_once_it_is_over(tmp_path: Path) -> None:
    is_over = Event()
    is_over.set()
    FaultCommands([FaultCommand("true", 5)], RunDirectory(tmp_path), lambda _: None).run(is_over.wait)
    assert read_commands(RunDirectory(tmp_path)) == []
    assert read_given_commands(RunDirectory(tmp_path)) == [FaultCommand("true", 5)]
