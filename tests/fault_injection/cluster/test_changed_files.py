"""Does every backend let the files of a dead broker be changed, and those of a living one not?"""

import pytest

from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from tests.fault_injection.cluster.topics import create_topic, produce

pytestmark = pytest.mark.broker
TOPIC = "changed"
SEGMENT = f"{TOPIC}-0/00000000000000000000.log"
INDEX = f"{TOPIC}-0/00000000000000000000.index"


def test_a_dead_brokers_files_are_replaced_added_and_removed(cluster: Cluster) -> None:
    create_topic(cluster, TOPIC, [2])
    produce(cluster, TOPIC, b"m0")
    cluster.kill(2)
    await_unregistered(cluster, 2)
    before, content = cluster.files(2), cluster.read_file(2, SEGMENT)
    other = cluster.read_file(2, "meta.properties")

    cluster.write_file(2, SEGMENT, content + content)
    cluster.write_file(2, "added", b"")
    cluster.remove_files(2, INDEX, "recovery-point-offset-checkpoint", f"{TOPIC}-0/never-there")

    assert cluster.read_file(2, SEGMENT) == content + content
    assert cluster.read_file(2, "meta.properties") == other
    wanted = {*before, "added"} - {INDEX, "recovery-point-offset-checkpoint"}
    assert cluster.files(2) == sorted(wanted)

    cluster.write_file(2, SEGMENT, content)
    cluster.start_broker(2)
    await_registered(cluster, 2)
    assert INDEX in cluster.files(2)


def test_a_living_brokers_files_are_not_changed(cluster: Cluster) -> None:
    before = cluster.read_file(1, "meta.properties")
    with pytest.raises(ClusterError, match="broker-1 runs: its files can be changed only while it is down"):
        cluster.write_file(1, "meta.properties", b"")
    with pytest.raises(ClusterError, match="broker-1 runs"):
        cluster.remove_files(1, "meta.properties")
    assert cluster.read_file(1, "meta.properties") == before


def test_nothing_outside_the_data_directory_is_changed(cluster: Cluster) -> None:
    cluster.kill(1)
    with pytest.raises(ClusterError, match="not below the data directory"):
        cluster.write_file(1, "../server.properties", b"")
    with pytest.raises(ClusterError, match="not below the data directory"):
        cluster.remove_files(1, "../server.properties")


def test_a_file_needs_its_folder(cluster: Cluster) -> None:
    cluster.kill(3)
    with pytest.raises(FileNotFoundError):
        cluster.write_file(3, "no-such-topic-0/00000000000000000000.log", b"")
