"""Are a dead tester's processes ended, and nobody else's?"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fault_injection.cluster.supervision import MARKER, Owner, ProcessRecord, records_directory, start_time, sweep
from fault_injection.waiting import until
from tests.fault_injection.cluster.namespaces import in_another_namespace, require_permission

Spawn = Callable[..., subprocess.Popen[bytes]]
DEAD_OWNER = f"{replace(Owner.of_this_process(), pid=4194999, started='1')}-1"


@pytest.fixture(autouse=True)
def records_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    records_directory().mkdir(parents=True)


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    children: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        child = subprocess.Popen([sys.executable, "-c", "input()", *arguments], stdin=subprocess.PIPE)
        children.append(child)
        command_line = Path("/proc", str(child.pid), "cmdline")
        until(lambda: b"input()" in command_line.read_bytes(), deadline_s=10.0, what="its command line to show")
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()


def record(owner: str, child: subprocess.Popen[bytes], started: str | None = None) -> Path:
    path = records_directory() / f"{owner}.json"
    path.write_text(json.dumps({child.pid: started or start_time(child.pid)}))
    return path


def test_a_node_of_a_dead_tester_is_ended(spawn: Spawn) -> None:
    node = spawn(f"{MARKER}broker-1")
    path = record(DEAD_OWNER, node)
    assert sweep() == [node.pid]
    assert node.wait(10) == -9
    assert not path.exists()


def test_a_process_without_our_marker_is_spared(spawn: Spawn) -> None:
    foreign = spawn()
    record(DEAD_OWNER, foreign)
    assert sweep() == []
    assert foreign.poll() is None


def test_a_process_that_got_the_id_later_is_spared(spawn: Spawn) -> None:
    later = spawn(f"{MARKER}broker-1")
    record(DEAD_OWNER, later, started="1")
    assert sweep() == []
    assert later.poll() is None


def test_a_node_of_a_living_tester_is_spared(spawn: Spawn) -> None:
    node = spawn(f"{MARKER}broker-1")
    path = record(f"{Owner.of_this_process()}-1", node)
    assert sweep() == []
    assert node.poll() is None
    assert path.exists()


def test_a_record_that_is_not_readable_is_dropped() -> None:
    path = records_directory() / f"{DEAD_OWNER}.json"
    path.write_text("{")
    assert sweep() == []
    assert not path.exists()


def test_a_record_names_its_owner_and_goes_when_all_is_over(spawn: Spawn) -> None:
    node = spawn(f"{MARKER}broker-1")
    kept = ProcessRecord.of_this_process(supervisor=7)
    kept.add(node.pid)
    assert kept.path.name == f"{Owner.of_this_process()}-7.json"
    assert json.loads(kept.path.read_text()) == {str(node.pid): start_time(node.pid)}
    kept.remove()
    assert not kept.path.exists()


def test_no_process_has_no_start_time() -> None:
    assert start_time(4194999) is None


def test_a_tester_in_another_pid_namespace_drops_no_record_and_ends_no_node(spawn: Spawn) -> None:
    node = spawn(f"{MARKER}broker-1")
    living = record(f"{Owner.of_this_process()}-1", node)
    dead = record(DEAD_OWNER, node)
    assert in_another_namespace("from fault_injection.cluster.supervision import sweep; print(sweep())") == "[]"
    assert living.exists()
    assert dead.exists()
    assert node.poll() is None


def test_only_an_owner_of_this_boot_and_namespace_is_known_to_be_gone() -> None:
    ours = Owner.of_this_process()
    assert not ours.is_gone
    assert replace(ours, started="1").is_gone
    assert not replace(ours, started="1", place="0123456789abcdef").is_gone
    assert Owner.written(str(ours)) == ours
    assert Owner.written(f"{ours.pid}-{ours.started}") is None


def test_a_machine_that_gives_no_namespace_is_told_what_to_change() -> None:
    """Somebody who is not root is refused a PID namespace without a user namespace."""
    nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    with pytest.raises(
        pytest.fail.Exception, match=r"is not permitted here \(.*\): run the tests as root, or allow user"
    ):
        require_permission([*nobody, "unshare", "--pid", "--fork"])
    require_permission([])
