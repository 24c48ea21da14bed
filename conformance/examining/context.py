"""Where is an examination conducted?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.cluster_pool import ClusterPool
    from conformance.record.directory import RunDirectory
    from conformance.spark_thread import SparkThread
    from fault_injection.cluster.backend import Backend
    from fault_injection.releases import JarSet, MetadataMode, Release
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class ExaminationContext:
    """Where an examination is conducted.

    Attributes:
        cluster_pool: keeps the cluster, gate and backend that the scenarios of one command share.
        spark: reconciles runs, for examinations of the reconciliation itself.
        run: the run's directory; what is worth keeping as evidence goes there.
        directory: an empty work directory, removed when the examination ends.
        seed: the run's seed.
        progress: tells people what is being done.
    """

    cluster_pool: ClusterPool
    spark: SparkThread
    run: RunDirectory
    directory: Path
    seed: int
    progress: Callable[[str], None]

    @property
    def release(self) -> Release:
        """Return the release whose brokers are examined."""
        return self.cluster_pool.line.release

    @property
    def metadata(self) -> MetadataMode:
        """Who keeps the brokers' metadata."""
        return self.cluster_pool.line.metadata

    @property
    def rules(self) -> RuleSet:
        """Return the rules of that release in that mode."""
        return self.cluster_pool.line.rules

    @property
    def jars(self) -> JarSet:
        """Return the brokers' jars."""
        return self.cluster_pool.jars

    @property
    def backend(self) -> Backend:
        """What brokers are started with."""
        return self.cluster_pool.backend
