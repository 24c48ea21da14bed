"""Does a cluster with several controllers come up, and does it go on without one of them?"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, find_release, jars_of

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

LED = r"Completed transition to Leader\(.*?epoch=(\d+)"
HOSTS = {101: "127.0.0.2", 102: "127.0.0.3"}


@pytest.fixture(params=["3.3", "4.4"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    release = find_release(request.param)
    spec = ClusterSpec(
        release, MetadataMode.KRAFT, broker_ids=(1, 2), other_controller_ids=(101, 102), controller_hosts=HOSTS
    )
    backend = ProcessBackend()
    try:
        with Cluster.start(spec, jars_of(release), backend, DirectRelay(), tmp_path) as cluster:
            yield cluster
    finally:
        backend.close()


def test_a_topic_is_created_by_the_controllers_that_are_left(cluster: Cluster) -> None:
    epochs = epochs_led(cluster)
    leader = max(epochs, key=epochs.__getitem__)
    cluster.kill(leader)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    (created,) = admin.create_topics([NewTopic("topic", 1, 2)], operation_timeout=30).values()
    created.result(60)
    after = epochs_led(cluster)
    assert max(after.values()) > epochs[leader] == after[leader]


def epochs_led(cluster: Cluster) -> dict[int, int]:
    """Return the last epoch in which each controller led the quorum, of those that did; a slow start has several."""
    led = {node.id: re.findall(LED, cluster.log_text(node.id)) for node in cluster.spec.metadata_nodes}
    return {node: max(map(int, epochs)) for node, epochs in led.items() if epochs}
