"""Whatever ends a tester in the middle of a run, no JVM and no temporary file of it stays, and the run says so."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conformance.record.run import INTERRUPTED
from fault_injection.waiting import until
from tests.integration.processes import Process, descendants, is_java, living

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.alone, pytest.mark.timeout(180)]

MIDWAY = "wait until the hold 'gap' has caught its frame"
SENT_IN_VAIN = '"event": "record_sent", "subject": "m2"'
"""A record is on its way to a partition that has no leader: its producer waits for a second."""
PROMPTLY_S = 5.0
SUPERVISOR_DEADLINE_S = 20.0


class RunningTester:
    """A ``kafka-conformance run``, or ``hunt``, of its own, in its own process group and temporary directory."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.runs = folder / "runs"
        self._errors = folder / "errors.txt"
        arguments = [*command, "--kafka", "0.10.2.2", "--backend", "process", "--runs-dir", str(self.runs)]
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
        return self._await(lambda: MIDWAY in self.said, MIDWAY)

    def await_reconciling(self) -> set[Process]:
        """Wait until Spark reads the topic; return every process of the run."""
        return self._await(lambda: any(self.runs.glob("*/topic/_temporary")), "Spark's job")

    def await_send(self) -> set[Process]:
        """Wait until m2 is sent; return every process of the run."""
        return self._await(
            lambda: any(SENT_IN_VAIN in path.read_text() for path in self.runs.glob("*/timeline.ndjson")),
            "m2 to be sent",
        )

    def await_lanes(self) -> set[Process]:
        """Wait until a broker was killed or stopped in each of two lanes; return every process of the hunt."""
        return self._await(
            lambda: all(re.search(f"lane {lane}: (kill|stop|pause) broker", self.said) for lane in (1, 2)), "two lanes"
        )

    def _await(self, has_come: Callable[[], bool], what: str) -> set[Process]:
        until(lambda: has_come() or self.process.poll() is not None, deadline_s=120, what=what)
        assert self.process.poll() is None, self.said
        processes = descendants(self.process.pid)
        assert sum(is_java(process) for process in processes) >= 4, "three brokers, a witness with ZooKeeper, Spark"
        return processes

    def words_of_the_run(self) -> list[str]:
        """Return why the run ended early, and its verdict and reason, as its directory has them."""
        (run,) = self.runs.iterdir()
        about, verdict = (json.loads((run / name).read_text()) for name in ("run.json", "verdict.json"))
        return [about["harness_failure"]["message"], verdict["conformance"], verdict["reason"]]

    def left_over(self) -> list[str]:
        """Return the temporary directories that are there."""
        return sorted(path.name for path in self.temporary.iterdir())


@contextmanager
def running_tester(folder: Path, *command: str) -> Iterator[RunningTester]:
    """Start a run; whatever a failing test leaves of it is ended."""
    one = RunningTester(folder, *(command or ("run", "TR-01")))
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
    "midway",
    [
        pytest.param(RunningTester.await_midway, id="a frame is held"),
        pytest.param(RunningTester.await_reconciling, id="Spark's job runs"),
    ],
)
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
def test_an_interrupted_tester_ends_everything_at_once_before_it_ends(
    tmp_path: Path,
    midway: Callable[[RunningTester], set[Process]],
    end: Callable[[subprocess.Popen[bytes]], None],
    code: int,
    said: str,
) -> None:
    with running_tester(tmp_path) as one:
        processes = midway(one)
        end(one.process)

        assert one.process.wait(PROMPTLY_S) == code, one.said
        assert said in one.said
        assert "Traceback" not in one.said
        await_gone(processes, deadline_s=1)
        assert one.left_over() == []
        assert one.words_of_the_run() == [INTERRUPTED, "HARNESS_ERROR", INTERRUPTED]


def test_a_send_that_ctrl_c_cuts_off_is_not_held_against_the_brokers(tmp_path: Path) -> None:
    """It ends in the client's queue, as no prediction says, and that is the tester's doing; ``judge`` says the same."""
    with running_tester(tmp_path, "run", "EL-01/safe") as one:
        one.await_send()
        os.killpg(one.process.pid, signal.SIGINT)

        assert one.process.wait(PROMPTLY_S) == 130, one.said
        (run,) = one.runs.iterdir()
        lines = (json.loads(line) for line in (run / "observations.ndjson").read_text().splitlines())
        assert [line["error"] for line in lines if line.get("label") == "m2"] == ["_PURGE_QUEUE"]
        assert one.words_of_the_run() == [INTERRUPTED, "HARNESS_ERROR", INTERRUPTED]

        again = subprocess.run([sys.executable, "-m", "conformance.cli", "judge", str(run)], check=False)
        assert again.returncode == 4
        assert one.words_of_the_run() == [INTERRUPTED, "HARNESS_ERROR", INTERRUPTED]


LANES = ("hunt", "--lanes", "2", "--drawn-only", "--schedules", "8", "--seed", "1")


def test_an_interrupted_hunt_ends_every_lane_before_it_ends(tmp_path: Path) -> None:
    with running_tester(tmp_path, *LANES) as one:
        processes = one.await_lanes()
        os.killpg(one.process.pid, signal.SIGINT)

        assert one.process.wait(3 * PROMPTLY_S) == 130, one.said
        assert "Traceback" not in one.said
        await_gone(processes, deadline_s=1)
        assert one.left_over() == []


def test_a_killed_hunt_leaves_no_process(tmp_path: Path) -> None:
    with running_tester(tmp_path, *LANES) as one:
        processes = one.await_lanes()
        one.process.kill()
        one.process.wait()

        await_gone(processes, 3 * SUPERVISOR_DEADLINE_S)


def test_a_killed_tester_leaves_no_process_and_the_next_one_takes_its_files(tmp_path: Path) -> None:
    with running_tester(tmp_path) as one:
        processes = one.await_midway()
        one.process.kill()
        one.process.wait()

        await_gone(processes, SUPERVISOR_DEADLINE_S)
        assert one.left_over() != []
        next_one = "from conformance.spark_thread import SparkThread; SparkThread().close()"
        environment = {**os.environ, "TMPDIR": str(one.temporary)}
        subprocess.run([sys.executable, "-c", next_one], env=environment, check=True)
        assert one.left_over() == []
