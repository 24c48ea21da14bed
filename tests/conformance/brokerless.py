"""How is a pipeline tried without brokers? With a pool whose cluster never comes up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override

from conformance.catalogue.scenario import Scenario
from conformance.cluster_pool import ClusterPool
from conformance.line import line_named
from conformance.pipeline import Pipeline
from conformance.scenarios.vocabulary import brokers, produce
from fault_injection.releases import JarSet
from oracle.schedule import Schedule
from oracle.steps.frames import Hold
from oracle.vocabulary import BrokerId, PointName

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.cluster.lifecycle import Cluster


ASKS_THE_LEADER = Scenario(
    name="LE-99",
    explanation="Followers of 0.10.2 never ask.",
    schedule=Schedule(
        id="leader-epoch/asks",
        requirement="A follower asks.",
        sources=("LE-01",),
        replicas=brokers(1, 2),
        steps=(
            Hold("ask", PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST, BrokerId(2), BrokerId(1)),
            produce("m0"),
        ),
    ),
)
"""What 0.10.2 does not run."""


class _Backend:
    name, host = "process", "127.0.0.1"

    def close(self) -> None:
        """There is nothing to close."""


class WithoutBrokers(ClusterPool):
    """A pool whose cluster never comes up."""

    failure: BaseException = AssertionError("no broker may start")

    @override
    def cluster_for(self, schedule: Schedule) -> Cluster:
        raise self.failure


def brokerless_pipeline(directory: Path, version: str = "0.10.2.2") -> Pipeline:
    """Return a pipeline that can predict and judge, and whose runs end before the first broker starts."""
    cluster_pool = WithoutBrokers(
        line=line_named(version),
        jars=JarSet(directory, (), "0"),
        backend=cast("Any", _Backend()),
        progress=lambda _: None,
    )
    return Pipeline(cluster_pool, cast("Any", None), directory / "runs", 5, lambda _: None)
