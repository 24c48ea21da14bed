"""A tester's temporary files go with it: the next tester removes what a killed one left, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.work_directory import remove_leftovers, work_directory
from fault_injection.cluster.supervision import Owner, start_time
from tests.fault_injection.cluster.namespaces import in_another_namespace

if TYPE_CHECKING:
    from pathlib import Path

DIE = "import os, signal; from conformance.work_directory import work_directory as w; print(w('brokers'), flush=True)"


@pytest.fixture(autouse=True)
def own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def left_behind(tmp_path: Path) -> Path:
    """Let a tester be killed while it has a directory."""
    command = [sys.executable, "-c", f"{DIE}; os.kill(os.getpid(), signal.SIGKILL)"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    path = tmp_path / os.path.basename(done.stdout.strip())  # noqa: PTH119 - text, not a path yet
    (path / "1" / "data").mkdir(parents=True)
    return path


def directory_of(tmp_path: Path, **owner: object) -> Path:
    """Name a directory of this process, or of one that differs from it."""
    return tmp_path / f"kafka-conformance-{replace(Owner.of_this_process(), **owner)}-brokers-x"


def test_what_a_killed_tester_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = left_behind(tmp_path)
    ours = work_directory("spark")

    assert not left.exists()
    assert ours.is_dir()
    assert "-spark-" in ours.name


def test_directories_of_living_testers_and_of_others_stay(tmp_path: Path) -> None:
    ours = work_directory("brokers")
    parent = directory_of(tmp_path, pid=os.getppid(), started=start_time(os.getppid()))
    others = [parent, tmp_path / "kafka-conformance-notes", tmp_path / "something-else"]
    for path in others:
        path.mkdir()

    assert remove_leftovers() == []
    assert all(path.is_dir() for path in (ours, *others))


def test_a_process_id_that_was_used_again_is_not_its_old_owner(tmp_path: Path) -> None:
    old = directory_of(tmp_path, started="1")
    old.mkdir()

    assert remove_leftovers() == [old]


def test_where_processes_cannot_be_seen_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = left_behind(tmp_path)
    monkeypatch.setattr("fault_injection.cluster.supervision._place", lambda: None)

    assert remove_leftovers() == []
    assert work_directory("brokers").is_dir()
    assert left.is_dir()


@pytest.mark.parametrize("with_proc", [True, False])
def test_testers_in_two_pid_namespaces_leave_each_other_alone(tmp_path: Path, *, with_proc: bool) -> None:
    ours = work_directory("brokers")

    theirs = tmp_path / in_another_namespace(DIE, {"TMPDIR": str(tmp_path)}, with_proc=with_proc).rpartition("/")[2]

    assert ours.is_dir()
    assert theirs.is_dir()
    assert remove_leftovers() == []
    assert theirs.is_dir()


def test_a_directory_of_another_boot_stays(tmp_path: Path) -> None:
    other = (
        tmp_path
        / f"kafka-conformance-{replace(Owner.of_this_process(), place='0123456789abcdef', pid=4194999)}-spark-x"
    )
    other.mkdir()

    assert remove_leftovers() == []
    assert other.is_dir()
