"""A real two-replica cluster with a witness, shared by the tests that need brokers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, find_release, jars_of

RELEASES = ("0.10.2.2", "2.8.2", "3.9.2", "4.3.1")
"""One of each protocol generation; the default metadata mode of each."""


@contextmanager
def two_replicas(version: str, directory: Path, mode: MetadataMode | None = None) -> Iterator[Cluster]:
    """Start brokers 1 and 2 of a release; controller or witness is 100."""
    release = find_release(version)
    spec = ClusterSpec(
        release,
        release.metadata_mode(mode),
        broker_ids=(1, 2),
        overrides={"unclean.leader.election.enable": "true"},
    )
    backend, relay = ProcessBackend(), DirectRelay()
    try:
        with Cluster.start(spec, jars_of(release), backend, relay, directory) as cluster:
            yield cluster
    finally:
        relay.close()
        backend.close()
