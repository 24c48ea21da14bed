"""Which log directories has a broker that is to have two, and is a replica's file found in the one that has it?"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.plan import Listeners, log_directories, properties
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole
from fault_injection.faults.disk import LoseHighWatermarkCheckpoint
from fault_injection.releases import UsageError, find_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.cluster.backend import Backend
    from fault_injection.releases import JarSet

BROKER = Listeners("127.0.0.1", {"CLIENT": 1001}, {}, {100: ("127.0.0.1", 2100)}, "/data/1")
FILES = {
    "data/meta.properties": b"first",
    "data/replication-offset-checkpoint": b"0\n1\nu 0 5\n",
    "data/u-0/leader-epoch-checkpoint": b"u",
    "data-2/meta.properties": b"second",
    "data-2/replication-offset-checkpoint": b"0\n1\nt 0 7\n",
    "data-2/t-0/leader-epoch-checkpoint": b"t",
    "data-20/t-0/leader-epoch-checkpoint": b"no log directory",
    "server.log": b"",
}


def spec(log_dirs: int = 2, **changes: Any) -> ClusterSpec:  # noqa: ANN401 - any field of it
    release = find_release("4.3")
    return ClusterSpec(release, release.metadata_mode(None), log_dirs=log_dirs, **changes)


@contextmanager
def cluster_with(log_dirs: int) -> Iterator[Cluster]:
    """Give a cluster that was never started, whose brokers are down and have these files."""
    files = dict(FILES)
    backend = SimpleNamespace(
        host="127.0.0.1",
        bind_host="127.0.0.1",
        client_host="127.0.0.1",
        files=lambda _: sorted(files),
        read=lambda _, path: files[path],
        write=lambda _, path, content: files.update({path: content}),
        is_running=lambda _: False,
        retire=lambda _: None,
    )
    cluster = Cluster(spec(log_dirs), cast("JarSet", None), cast("Backend", backend), DirectRelay(), Path("nowhere"))
    yield cluster
    cluster.shutdown()


def test_they_are_numbered_from_the_second_on() -> None:
    of_broker = properties(spec(3), Node(ProcessRole.BROKER, 1), BROKER).identity
    assert of_broker["log.dirs"] == "/data/1,/data/1-2,/data/1-3"
    assert log_directories(spec(3)) == ["data", "data-2", "data-3"]
    assert log_directories(spec(1)) == ["data"]
    assert log_directories(spec(1, overrides={"log.dirs": "data,more"})) == ["data", "more"]


def test_there_is_one_at_least_and_one_way_to_name_them() -> None:
    with pytest.raises(UsageError, match="needs a log directory"):
        spec(0)
    with pytest.raises(UsageError, match=r"Either log\.dirs"):
        spec(2, overrides={"log.dirs": "data,more"})


def test_a_replicas_files_are_found_in_the_directory_that_has_it() -> None:
    with cluster_with(2) as cluster:
        assert cluster.log_directory_of(1, "t-0") == "data-2"
        assert cluster.log_directory_of(1, "u-0") == cluster.log_directory_of(1, "never-0") == "data"
        assert cluster.read_file(1, "t-0/leader-epoch-checkpoint") == b"t"
        assert cluster.read_file(1, "u-0/leader-epoch-checkpoint") == b"u"
        assert (
            cluster.read_file(1, "replication-offset-checkpoint", "t-0")
            == FILES["data-2/replication-offset-checkpoint"]
        )
        assert (
            cluster.read_file(1, "replication-offset-checkpoint", "u-0") == FILES["data/replication-offset-checkpoint"]
        )
        names = ["meta.properties", "replication-offset-checkpoint"]
        assert cluster.files(1) == [*names, "t-0/leader-epoch-checkpoint", "u-0/leader-epoch-checkpoint"]


def test_with_one_directory_what_stands_beside_it_is_none_of_its_files() -> None:
    with cluster_with(1) as cluster:
        assert "t-0/leader-epoch-checkpoint" not in cluster.files(1)
        with pytest.raises(KeyError):
            cluster.read_file(1, "t-0/leader-epoch-checkpoint")


def test_no_path_leads_out_of_the_directory() -> None:
    with cluster_with(2) as cluster, pytest.raises(ClusterError, match="not below the data directory"):
        cluster.read_file(1, "t-0/../../data/meta.properties")


def test_a_disk_loses_what_stands_beside_the_replica() -> None:
    with cluster_with(2) as cluster:
        fault = LoseHighWatermarkCheckpoint(1, "t")
        assert fault.high_watermark(cluster) == 7
        assert fault.inject(cluster) == "broker 1 lost the checkpointed high watermark 7 of t-0"
        assert fault.high_watermark(cluster) is None
        assert cluster.read_file(1, "replication-offset-checkpoint", "u-0") == b"0\n1\nu 0 5\n"
