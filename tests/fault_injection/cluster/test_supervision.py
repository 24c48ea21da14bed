"""Does the supervisor run children, pass signals, and take them along when the tester goes?"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.supervision import Supervision, start_time
from fault_injection.waiting import until

REPOSITORY = Path(__file__).parents[3]
SLEEPER = [sys.executable, "-c", "print('up', flush=True); import threading; threading.Event().wait()"]
TESTER = f"""
import sys, threading
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
from fault_injection.cluster.supervision import Supervision
supervision = Supervision()
pid = supervision.start({SLEEPER!r}, Path.cwd(), Path("output"))
print(supervision.pid, pid, flush=True)
threading.Event().wait()
"""


@pytest.fixture
def supervision() -> Iterator[Supervision]:
    supervision = Supervision()
    yield supervision
    supervision.close()


def is_gone(pid: int) -> bool:
    return start_time(pid) is None


def test_a_child_runs_and_its_output_is_kept(supervision: Supervision, tmp_path: Path) -> None:
    pid = supervision.start([sys.executable, "-c", "print('hello'); raise SystemExit(3)"], tmp_path, tmp_path / "out")
    code = until(lambda: supervision.exit_code(pid), deadline_s=20, what="end of the child")
    assert code == 3
    assert (tmp_path / "out").read_text() == "hello\n"


def test_a_signal_reaches_the_child(supervision: Supervision, tmp_path: Path) -> None:
    pid = supervision.start(SLEEPER, tmp_path, tmp_path / "out")
    assert supervision.exit_code(pid) is None
    supervision.send_signal(pid, signal.SIGTERM)
    assert until(lambda: supervision.exit_code(pid), deadline_s=20, what="end of the child") == -signal.SIGTERM


def test_an_answer_that_nobody_read_is_passed_over(supervision: Supervision, tmp_path: Path) -> None:
    pid = supervision.start([sys.executable, "-c", "raise SystemExit(7)"], tmp_path, tmp_path / "out")
    stdin = supervision._process.stdin
    assert stdin is not None
    stdin.write(f'{{"signal": 0, "pid": {pid}, "serial": 0}}\n'.encode())
    stdin.flush()
    assert until(lambda: supervision.exit_code(pid), deadline_s=20, what="end of the child") == 7


def test_a_program_that_does_not_exist_is_an_error(supervision: Supervision, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="FileNotFoundError"):
        supervision.start([str(tmp_path / "absent")], tmp_path, tmp_path / "out")
    with pytest.raises(ClusterError, match="KeyError"):
        supervision.exit_code(1)


def test_closing_takes_the_children_along(tmp_path: Path) -> None:
    supervision = Supervision()
    pid = supervision.start(SLEEPER, tmp_path, tmp_path / "out")
    supervision.close()
    assert is_gone(pid)
    with pytest.raises(ClusterError, match="is gone"):
        supervision.exit_code(pid)


@pytest.mark.parametrize("victim", ["tester", "supervisor", "both"])
def test_no_child_survives_a_killed_tester_or_supervisor(victim: str, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", TESTER], cwd=tmp_path, stdout=subprocess.PIPE) as tester:
        assert tester.stdout is not None
        supervisor, child = map(int, tester.stdout.readline().split())
        assert not is_gone(child)
        if victim != "tester":
            os.kill(supervisor, signal.SIGKILL)
        if victim != "supervisor":
            tester.kill()
        until(lambda: is_gone(child), deadline_s=20, what="end of the child")
        until(lambda: is_gone(supervisor), deadline_s=20, what="end of the supervisor")
        tester.kill()
