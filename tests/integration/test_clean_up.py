"""Whatever ends a tester in the middle of a run, no JVM and no temporary file of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from fault_injection.waiting import until
from tests.integration.processes import Process, descendants, is_java, living

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(180)]

MIDWAY = "wait until 'gap' has caught its frame"
EXIT_DEADLINE_S = 60.0
SUPERVISOR_DEADLINE_S = 20.0


class RunningTester:
    """A ``kafka-conformance run`` of its own, in its own process group and temporary directory."""

    def __init__(self, folder: Path) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self._errors = folder / "errors.txt"
        arguments = ["run", "TR-01", "--kafka", "0.10.2.2", "--backend", "process", "--runs-dir", str(folder / "runs")]
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "conformance.cli", *arguments],
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "TMPDIR": str(self.temporary)},
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """What it wrote to standard error so far."""
        return self._errors.read_text(encoding="utf-8")

    def await_midway(self) -> set[Process]:
        """Wait until brokers run and a frame is held; return every process of the run."""
        until(lambda: MIDWAY in self.said or self.process.poll() is not None, deadline_s=120, what=MIDWAY)
        assert self.process.poll() is None, self.said
        processes = descendants(self.process.pid)
        assert sum(is_java(process) for process in processes) >= 4, "three brokers, a witness with ZooKeeper, Spark"
        return processes

    def left_over(self) -> list[str]:
        """Return the temporary directories that are there."""
        return sorted(path.name for path in self.temporary.glob("kafka-conformance-*"))


@contextmanager
def running_tester(folder: Path) -> Iterator[RunningTester]:
    """Start a run; whatever a failing test leaves of it is ended."""
    one = RunningTester(folder)
    try:
        yield one
    finally:
        for pid, _ in descendants(one.process.pid):
            os.kill(pid, signal.SIGKILL)
        one.process.kill()
        one.process.wait()


def await_gone(processes: set[Process], deadline_s: float) -> None:
    until(lambda: not living(processes), deadline_s=deadline_s, what="end of every process of the run")


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        pytest.param(
            lambda process: os.killpg(process.pid, signal.SIGINT),
            130,
            "kafka-conformance: interrupted; all brokers of this run were ended",
            id="Ctrl-C, which the whole process group gets",
        ),
        pytest.param(lambda process: process.terminate(), 143, "", id="SIGTERM"),
    ],
)
def test_an_interrupted_tester_ends_everything_before_it_ends(
    tmp_path: Path, end: Callable[[subprocess.Popen[bytes]], None], code: int, said: str
) -> None:
    with running_tester(tmp_path) as one:
        processes = one.await_midway()
        end(one.process)

        assert one.process.wait(EXIT_DEADLINE_S) == code, one.said
        assert said in one.said
        assert "Traceback" not in one.said
        await_gone(processes, deadline_s=5)
        assert one.left_over() == []


def test_a_killed_tester_leaves_no_process_and_the_next_one_takes_its_files(tmp_path: Path) -> None:
    with running_tester(tmp_path) as one:
        processes = one.await_midway()
        one.process.kill()
        one.process.wait()

        await_gone(processes, SUPERVISOR_DEADLINE_S)
        assert one.left_over() != []
        next_one = "from conformance.spark_room import SparkRoom; SparkRoom().close()"
        environment = {**os.environ, "TMPDIR": str(one.temporary)}
        subprocess.run([sys.executable, "-c", next_one], env=environment, check=True)
        assert one.left_over() == []
