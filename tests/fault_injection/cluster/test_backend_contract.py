"""Does every backend start, hurt, heal and end real brokers in the same way?"""

import itertools
import socket
from pathlib import Path

import pytest

from fault_injection.cluster.backend import Backend, ClusterError, NodeDiedError
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import (
    await_registered,
    await_unregistered,
    brokers_known_to,
    is_serving,
    registered_brokers,
    zookeeper,
)
from fault_injection.cluster.relay import DirectRelay
from fault_injection.releases import jars_of
from fault_injection.waiting import until
from tests.fault_injection.cluster.conftest import spec_of
from tests.fault_injection.cluster.topics import consume, create_topic, produce

pytestmark = pytest.mark.broker
TOPICS = (f"contract-{number}" for number in itertools.count())


def test_every_broker_is_registered_and_knows_the_others(cluster: Cluster) -> None:
    assert {1, 2, 3} <= registered_brokers(cluster)
    for broker in cluster.live_brokers:
        assert brokers_known_to(cluster.client_address(broker)) == frozenset(cluster.live_brokers)


def test_the_controller_is_none_of_the_brokers_with_replicas(cluster: Cluster) -> None:
    if cluster.zookeeper_address is None:
        assert 100 not in cluster.live_brokers
        assert cluster.is_alive(100)
        return
    with zookeeper(cluster.zookeeper_address) as client:
        assert b'"brokerid":100' in client.get("/controller")[0]


def test_a_killed_broker_is_unregistered_and_comes_back_with_its_records(cluster: Cluster) -> None:
    topic = next(TOPICS)
    create_topic(cluster, topic, [1])
    produce(cluster, topic, b"m0", b"m1")
    cluster.kill(1)
    assert not cluster.is_alive(1)
    assert not is_serving(cluster.client_address(1))
    await_unregistered(cluster, 1)
    assert 1 not in registered_brokers(cluster)
    cluster.start_broker(1)
    await_registered(cluster, 1)
    assert consume(cluster, topic, 2) == [b"m0", b"m1"]


def test_a_dead_brokers_ports_refuse(cluster: Cluster) -> None:
    cluster.kill(3)
    host, port = cluster.client_address(3).split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)


def test_a_stopped_broker_shuts_down_in_order(cluster: Cluster) -> None:
    cluster.stop(2)
    assert not cluster.is_alive(2)
    assert "shut down completed" in cluster.log_text(2).lower()
    await_unregistered(cluster, 2)
    cluster.start_broker(2)
    await_registered(cluster, 2)
    assert cluster.live_brokers[-3:] == (1, 2, 3)


def test_a_paused_broker_answers_nothing_until_it_is_resumed(cluster: Cluster) -> None:
    cluster.pause(2)
    assert cluster.is_alive(2)
    assert 2 not in cluster.live_brokers
    assert not is_serving(cluster.client_address(2))
    await_unregistered(cluster, 2)
    cluster.resume(2)
    await_registered(cluster, 2)
    assert is_serving(cluster.client_address(2))


def test_a_paused_broker_can_be_killed(cluster: Cluster) -> None:
    cluster.pause(1)
    cluster.kill(1)
    assert not cluster.is_alive(1)
    await_unregistered(cluster, 1)
    cluster.start_broker(1)
    await_registered(cluster, 1)


def test_files_are_read_while_a_broker_runs_and_when_it_is_dead(cluster: Cluster) -> None:
    topic = next(TOPICS)
    create_topic(cluster, topic, [2])
    produce(cluster, topic, b"a record that can be found")
    segment = f"{topic}-0/00000000000000000000.log"
    assert segment in cluster.files(2)
    assert segment not in cluster.files(1)
    cluster.kill(2)
    assert b"a record that can be found" in cluster.read_file(2, segment)
    assert "meta.properties" in cluster.files(2)


def test_high_watermarks_are_checkpointed_promptly(cluster: Cluster) -> None:
    topic = next(TOPICS)
    create_topic(cluster, topic, [3, 2])
    produce(cluster, topic, b"m0", b"m1")

    def is_checkpointed() -> bool:
        checkpoints = (cluster.read_file(broker, "replication-offset-checkpoint") for broker in (2, 3))
        return all(f"{topic} 0 2\n".encode() in checkpoint for checkpoint in checkpoints)

    assert until(is_checkpointed, deadline_s=10, what="a checkpoint of offset 2")


def test_log_start_offsets_are_written_at_the_start_of_a_broker(backend: Backend, tmp_path: Path) -> None:
    spec = spec_of("4.3", broker_ids=(1,))
    with Cluster.start(spec, jars_of(spec.release), backend, DirectRelay(), tmp_path) as cluster:
        none_begins_later = b"0\n0\n"  # the format's version, and no log that begins after offset 0
        until(
            lambda: cluster.read_file(1, "log-start-offset-checkpoint") == none_begins_later,
            deadline_s=10,
            what="written log start offsets",
        )


def test_a_path_out_of_the_data_directory_is_refused(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="not below the data directory"):
        cluster.read_file(1, "../server.properties")


def test_a_running_broker_cannot_be_started_and_a_dead_one_not_killed(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="runs already"):
        cluster.start_broker(1)
    cluster.kill(1)
    with pytest.raises(ClusterError, match="does not run"):
        cluster.kill(1)


def test_no_node_survives_an_exception(backend: Backend, tmp_path: Path) -> None:
    spec = spec_of("0.10.2", broker_ids=(1,))
    with (
        pytest.raises(ZeroDivisionError),
        Cluster.start(spec, jars_of(spec.release), backend, DirectRelay(), tmp_path),
    ):
        raise ZeroDivisionError
    assert not any(backend.is_running(node) for node in spec.nodes)


@pytest.mark.parametrize("version", ["0.10.2", "4.3"])
def test_a_node_that_ends_by_itself_is_told_with_its_last_words(version: str, backend: Backend, tmp_path: Path) -> None:
    spec = spec_of(version, broker_ids=(1,))
    wrong = type(spec)(spec.release, spec.metadata_mode, (1,), overrides={"num.io.threads": "none"})
    with pytest.raises((NodeDiedError, ClusterError), match=r"(?s)none.*num\.io\.threads"):
        Cluster.start(wrong, jars_of(spec.release), backend, DirectRelay(), tmp_path)
    assert not any(backend.is_running(node) for node in spec.nodes)
