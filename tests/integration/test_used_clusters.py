"""Is a cluster used again, and given up once a run has left it as no other run may find it?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.record.directory import RunDirectory
from conformance.record.run import read_run
from conformance.record.verdict import Conformance
from conformance.registry import select

if TYPE_CHECKING:
    from conformance.pipeline import Pipeline
    from tests.integration.real_runs import Releases

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]


def cluster_runs(running: Pipeline, name: str) -> tuple[str, ...]:
    """Run an entry, which must conform, and return its name and those of the runs that its cluster had before."""
    (entry,) = select([name])
    assert isinstance(entry, Scenario)
    finished = running.run(entry)
    assert finished.verdict.conformance is Conformance.CONFORMS, finished.verdict.findings
    return (*(read_run(finished.run).cluster_runs or ()), finished.run.path.name)


def test_a_cluster_that_a_run_has_spoilt_is_not_used_again(releases: Releases, tmp_path: Path) -> None:
    """A new minimum clears who is eligible on 4.3.1, whose controller cannot register broker 2 again afterwards."""
    running = releases.pipeline("4.3.1", tmp_path)
    first = cluster_runs(running, "HW-05")
    second = cluster_runs(running, "AC-04/new-minimum")
    third = cluster_runs(running, "HW-05")

    assert second[:-1] == first[-1:]
    assert third[:-1] == ()


LEAVES_A_BROKER_DOWN = """\
id: tests/{name}
requirement: One cluster serves all schedules of a call.
replicas: [1, 2]
timing: lag
steps:
- produce: {{records: [m0]}}
- stop: 2
"""


def test_schedules_of_one_call_share_a_cluster_that_would_be_replaced_else(tmp_path: Path) -> None:
    """Under lag timing a broker that is down at the end has the cluster replaced, unless it is wanted."""
    command = [sys.executable, "-m", "conformance", "run", "--json", "--kafka", "2.8.2", "--backend", "process"]
    for name in ("first", "second"):
        (tmp_path / name).write_text(LEAVES_A_BROKER_DOWN.format(name=name), encoding="utf-8")
        command += ["--schedule", str(tmp_path / name)]
    done = subprocess.run([*command, "--runs-dir", str(tmp_path)], capture_output=True, text=True, check=False)

    first, second = (Path(told["run"]) for told in json.loads(done.stdout)["runs"])
    assert done.returncode == 0, done.stderr
    assert read_run(RunDirectory(second)).cluster_runs == (first.name,)
