"""A node that ends although the tester did not end it, on real brokers: whose mistake does the verdict say it is?"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.record.verdict import Conformance
from conformance.scenarios.vocabulary import await_isr, brokers, checkpoint, kill, produce, start
from oracle.schedule import Schedule, TopicSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.pipeline import Finished, Pipeline
    from fault_injection.cluster.lifecycle import Cluster
    from tests.integration.real_runs import Releases

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]

WATCHED = Scenario(
    name="watched",
    explanation="",
    schedule=Schedule(
        id="watched",
        requirement="Every node runs until the end.",
        sources=(),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            checkpoint("m0 is committed"),
            kill(2),
            produce("m1"),
            start(2),
            await_isr(1, 2),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
)


@pytest.fixture
def pipeline(releases: Releases, tmp_path: Path) -> Pipeline:
    return releases.pipeline("4.3.1", tmp_path)


def disturbed(pipeline: Pipeline, at: str, disturb: Callable[[Cluster], None]) -> Finished:
    """Run the scenario, and do something to its cluster when a step begins, told by how its words begin."""
    cluster_of = pipeline.cluster_pool

    def progress(text: str) -> None:
        if text.startswith(at) and cluster_of.running is not None:
            disturb(cluster_of.running)

    return type(pipeline)(cluster_of, pipeline.spark, pipeline.runs, pipeline.seed, progress).run(WATCHED)


def signalled(node_id: int, number: signal.Signals) -> Callable[[Cluster], None]:
    """Return what sends a signal to a node behind the tester's back."""

    def send(cluster: Cluster) -> None:
        os.kill(cast("Any", cluster.backend)._pids[cluster.node(node_id)], number)

    return send


@pytest.mark.parametrize(
    ("at", "node_id", "number", "name"),
    [
        ("produce m0", 1, signal.SIGKILL, "broker-1"),
        ("wait until the in-sync replicas", 2, signal.SIGKILL, "broker-2"),
        ("checkpoint: end", 1, signal.SIGTERM, "broker-1"),
        ("produce m1", 100, signal.SIGKILL, "controller-100"),
    ],
)
def test_a_node_that_somebody_else_ends_is_not_held_against_kafka(
    pipeline: Pipeline, at: str, node_id: int, number: signal.Signals, name: str
) -> None:
    finished = disturbed(pipeline, at, signalled(node_id, number))

    assert finished.verdict.conformance is Conformance.HARNESS_ERROR, finished.verdict.reason
    assert finished.verdict.reason == f"{name} was killed by signal {int(number)}, not by the tester"


def test_a_node_that_ends_by_itself_is_a_finding_with_its_first_cause_and_every_node_s_log(pipeline: Pipeline) -> None:
    def lose_directory(cluster: Cluster) -> None:
        gone = cluster.data_directory(1)
        gone.rename(gone.with_name("lost"))  # at once: files that a broker writes meanwhile would stop a removal

    finished = disturbed(pipeline, "produce m2", lose_directory)

    assert finished.verdict.conformance is Conformance.DEVIATES, finished.verdict.reason
    assert "broker-1 ended by itself (ended with exit code 1)" in finished.verdict.reason
    assert "broker-1 logged first: [" in finished.verdict.reason
    logs = finished.run.path / "brokers"
    assert all((logs / node / "server.log").stat().st_size for node in ("1", "2", "broker-3", "controller-100"))
