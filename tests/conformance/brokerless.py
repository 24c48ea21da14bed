"""How is a pipeline tried without brokers? With a laboratory whose cluster never comes up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override

from conformance.laboratory import Laboratory
from conformance.pipeline import Pipeline
from fault_injection.releases import JarSet, find_release

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.cluster.lifecycle import Cluster
    from oracle.schedule import Schedule


class _Backend:
    name, host = "process", "127.0.0.1"

    def close(self) -> None:
        """There is nothing to close."""


class WithoutBrokers(Laboratory):
    """A laboratory whose cluster never comes up."""

    failure: BaseException = AssertionError("no broker may start")

    @override
    def cluster_for(self, schedule: Schedule) -> Cluster:
        raise self.failure


def brokerless_pipeline(directory: Path, version: str = "0.10.2.2") -> Pipeline:
    """Return a pipeline that can predict and judge, and whose runs end before the first broker starts."""
    release = find_release(version)
    laboratory = WithoutBrokers(
        release=release,
        metadata=release.default_metadata_mode,
        jars=JarSet(directory, (), "0"),
        backend=cast("Any", _Backend()),
        progress=lambda _: None,
    )
    return Pipeline(laboratory, cast("Any", None), directory / "runs", 5, lambda _: None)
