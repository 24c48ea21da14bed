"""Is each mistake that is made on real brokers found by its own check, and nothing else by any?

A cluster has as many mistakes as can stand beside each other; what an audit finds must be theirs and no more.
"""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from conformance.audit.audit import CHECKS
from conformance.audit.release_seen import known_lines
from conformance.line import line_named
from fault_injection.cluster.readiness import await_registered
from fault_injection.releases import find_release, jars_of
from oracle.vocabulary import TRANSACTION_STATE
from tests.conformance.audit.made_clusters import WEAK
from tests.conformance.audit.seeded_clusters import (
    GOOD,
    QUIET,
    Topics,
    audit_of,
    await_findings,
    await_isr,
    create,
    live,
    seeded,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fault_injection.cluster.lifecycle import Cluster

pytestmark = [pytest.mark.broker, pytest.mark.timeout(400)]

UNREGISTER_BROKER = 64
MIN_1, MIN_3, MIN_4 = ({"min.insync.replicas": str(number)} for number in (1, 3, 4))
UNCLEAN = {"unclean.leader.election.enable": "true"}
ALL_THREE = [1, 2, 3]

SETTINGS: Topics = {
    "one": ([1], MIN_1),
    "lone": ([1, 2, 5], MIN_1),
    "every": ([1, 2, 5], MIN_3),
    "above": ([1, 2, 5], MIN_4),
    "two": ([1, 2], MIN_1),
    "unclean": ([1, 2, 5], UNCLEAN),
}
OF_SETTINGS = {
    "replication-factor-1": "topic one",
    "min-isr-1": "topic lone",
    "min-isr-equals-replicas": "topic every",
    "min-isr-above-replicas": "topic above",
    "two-replicas": "topic two",
    "unclean-election": "topic unclean",
}
STATES: Topics = {
    "waits": ([3, 4, 5], {}),
    "under": ([1, 3, 4], {}),
    "at": ([1, 2, 3], {}),
    "margin": ([1, 2, 5, 3], {}),
}
OF_STATES = {
    "on-eligible-replicas": "partition waits-0",
    "under-min-isr": "partition under-0",
    "at-min-isr": "partition at-0",
    "roll-margin": "partition margin-0",
}
GONE = {"replicas-nowhere": ["topic under", "topic waits"]}
DISK = {"log-directory-offline": "broker 4"}
CARELESS = {
    "auto-create": ["broker 1", "broker 2", "broker 3", "broker 4"],
    "lag-time": ["broker 1", "broker 2", "broker 3", "broker 4"],
    "internal-topics": "topic __consumer_offsets",
    "unflushed-in-one-room": "cluster",
    "min-isr-1": "topic lone",
    "known-defect": "topic lone",
}
OFFLINE = {"offline": "partition gone-0"}
UPGRADED = {
    "eligible-replicas-off": "cluster",
    "transaction-version": "cluster",
    "mixed-versions": "cluster",
    "controller-quorum": "cluster",
    "one-rack": "topic near",
    "unclean-transactions": "topic unclean",
    "internal-topics": "topic __transaction_state",
}
ON_ONE_HOST = {
    "controller-quorum": "cluster",
    "broker-min-isr-unheeded": "broker 1",
    "lag-time": "broker 2",
}
WIDE = {"replication-factor-below-norm": "topic narrow"}


def test_every_check_has_its_mistake_on_real_brokers() -> None:
    every = (OF_SETTINGS, OF_STATES, GONE, DISK, CARELESS, OFFLINE, UPGRADED, ON_ONE_HOST, WIDE)
    assert {check for mistakes in every for check in mistakes} == {one.id for one in CHECKS} - {WEAK}


def test_mistakes_of_topics_and_what_befalls_brokers(tmp_path: Path) -> None:
    """Three controllers, each on a host of its own, and eligible leader replicas; nothing is wrong at first."""
    own = {**GOOD, "log.dirs": "data,more"}
    with seeded(line_named("4.4.0"), tmp_path, broker_ids=(1, 2, 3, 4, 5), overrides=own) as cluster:
        topics: Topics = {"good": ([1, 2, 5], {})}
        create(cluster, topics)
        await_findings(cluster, {}, topics)
        topics |= SETTINGS
        create(cluster, SETTINGS)
        await_findings(cluster, OF_SETTINGS, topics)
        _with_a_disk_that_is_gone(cluster, 4, lambda: await_findings(cluster, OF_SETTINGS | DISK, topics))
        topics |= STATES
        create(cluster, STATES)
        await_findings(cluster, OF_SETTINGS, topics)
        _leave_one_after_the_other(cluster, 5, 3, 4, topic="waits")
        await_findings(cluster, OF_SETTINGS | OF_STATES, topics)
        cluster.start_broker(3)
        await_registered(cluster, 3)
        _unregister(cluster, 4)
        # A broker that was killed is no eligible leader replica when it is back, and the other one is forgotten.
        await_findings(cluster, OF_SETTINGS | GONE | {"on-eligible-replicas": "partition waits-0"}, topics)
        moves = {
            one.subject: one
            for row in audit_of(cluster).rows
            for one in row.findings
            if one.check == "replicas-nowhere"
        }
        assert moves["topic under"].command is not None
        assert moves["topic waits"].command is None
        assert moves["topic waits"].mend.startswith("bring broker 4 back first: ")


def _with_a_disk_that_is_gone(cluster: Cluster, broker: int, look: Callable[[], None]) -> None:
    """Restart a broker while its second log directory is a file; look, and restart it with the directory."""
    directory = cluster.directory / str(broker) / "more"
    aside = directory.with_name("aside")
    cluster.stop(broker)
    directory.rename(aside)
    directory.write_text("no directory")
    cluster.start_broker(broker)
    await_registered(cluster, broker)
    look()
    cluster.stop(broker)
    directory.unlink()
    aside.rename(directory)
    cluster.start_broker(broker)
    await_registered(cluster, broker)


def _leave_one_after_the_other(cluster: Cluster, first: int, second: int, last: int, topic: str) -> None:
    """Kill the replicas of a topic, each once the one before is out of sync; the first comes back."""
    cluster.kill(first)
    await_isr(cluster, topic, {second, last})
    cluster.kill(second)
    await_isr(cluster, topic, {last})
    cluster.kill(last)
    cluster.start_broker(first)
    await_registered(cluster, first)


def _unregister(cluster: Cluster, broker: int) -> None:
    """Have the cluster forget a broker that is down: UnregisterBroker (KIP-631), which kafka-python has not."""
    host, port = live(cluster).split(",")[0].split(":")
    header = struct.pack(">hhih4sb", UNREGISTER_BROKER, 0, 1, 4, b"test", 0)
    request = header + struct.pack(">ib", broker, 0)
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        answer = connection.recv(256)
    _, correlation, _, _, error = struct.unpack_from(">iibih", answer)
    assert (correlation, error) == (1, 0)


def test_what_a_careless_cluster_has(tmp_path: Path) -> None:
    """ZooKeeper, no racks, built-in defaults; then the last replica in sync ends, and the others come back."""
    poor = {"auto.create.topics.enable": "true", "default.replication.factor": "1", "replica.lag.time.max.ms": "60000"}
    poor |= {"offsets.topic.replication.factor": "1"}
    line = line_named("2.8.2")
    with seeded(line, tmp_path, broker_ids=(1, 2, 3, 4), overrides=GOOD | poor, racks=False) as cluster:
        topics: Topics = {"good": (ALL_THREE, {}), "lone": (ALL_THREE, MIN_1), "gone": ([2, 3, 4], {})}
        create(cluster, topics)
        await_findings(cluster, CARELESS, topics)
        _leave_one_after_the_other(cluster, 2, 3, 4, topic="gone")
        cluster.start_broker(3)
        await_registered(cluster, 3)
        three = [f"broker {one}" for one in ALL_THREE]
        left = CARELESS | {"auto-create": three, "lag-time": three}
        await_findings(cluster, left | OFFLINE, topics)


def test_what_an_upgraded_cluster_has(tmp_path: Path) -> None:
    """Features as an earlier release had them, one controller, and three of four brokers in one rack."""
    line = line_named("4.4.0")
    earlier = known_lines()[line.text].metadata_version - 1
    features = {"eligible.leader.replicas.version": 0, "transaction.version": 1, "metadata.version": earlier}
    racks = {one: {"broker.rack": "near" if one < 4 else "far"} for one in (1, 2, 3, 4)}
    own = {**GOOD, "transaction.state.log.min.isr": "1"}
    topics: Topics = {"good": ([1, 2, 4], {}), "near": (ALL_THREE, {}), "unclean": ([1, 2, 4], UNCLEAN)}
    with seeded(
        line,
        tmp_path,
        broker_ids=(1, 2, 3, 4),
        overrides=own,
        racks=False,
        node_overrides=racks,
        features=features,
        other_controller_ids=(),
        controller_hosts={},
    ) as cluster:
        create(cluster, topics)
        _have_a_transaction(cluster, "good")
        await_findings(cluster, UPGRADED, topics)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0.11.0.3/zookeeper", {"transaction-version": "cluster"}),
        ("3.9.2/kraft", {"transaction-version": "cluster"}),
        ("4.4.0/kraft", {}),
    ],
)
def test_what_a_cluster_has_once_somebody_had_a_transaction(
    line: str, expected: dict[str, str], tmp_path: Path
) -> None:
    topics: Topics = {"good": (ALL_THREE, {})}
    with seeded(line_named(line), tmp_path) as cluster:
        create(cluster, topics)
        await_findings(cluster, {}, topics)
        _have_a_transaction(cluster, "good")
        await_findings(cluster, expected, {**topics, TRANSACTION_STATE: (ALL_THREE, {})})


def _have_a_transaction(cluster: Cluster, topic: str) -> None:
    producer = Producer({"bootstrap.servers": live(cluster), "transactional.id": "seeded", **QUIET})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, b"one")
    producer.commit_transaction(60)


def test_what_single_brokers_have_of_their_own_and_voters_on_one_host(tmp_path: Path) -> None:
    """Eligible leader replicas switched on in 4.0, three controllers on one host; then a broker of the next release."""
    alone = {1: {"min.insync.replicas": "3"}, 2: {"replica.lag.time.max.ms": "60000"}}
    features = {"eligible.leader.replicas.version": 1}
    with seeded(line_named("4.0.2"), tmp_path, node_overrides=alone, features=features, controller_hosts={}) as cluster:
        topics: Topics = {"good": (ALL_THREE, {})}
        create(cluster, topics)
        await_findings(cluster, ON_ONE_HOST, topics)
        cluster.stop(3)
        cluster.jars = jars_of(find_release("4.1"))
        cluster.start_broker(3)
        await_registered(cluster, 3)
        await_findings(cluster, ON_ONE_HOST | {"mixed-versions": "cluster"}, topics)


def test_a_topic_has_fewer_replicas_than_most(tmp_path: Path) -> None:
    wide: Topics = {f"wide-{one}": ([1, 2, 3, 4], {}) for one in range(3)}
    topics: Topics = {**wide, "narrow": (ALL_THREE, {})}
    with seeded(line_named("3.9.2"), tmp_path, broker_ids=(1, 2, 3, 4)) as cluster:
        create(cluster, topics)
        await_findings(cluster, WIDE, topics)


@pytest.mark.parametrize("line", known_lines())
def test_nothing_is_found_in_a_good_cluster_of_any_line(line: str, tmp_path: Path) -> None:
    with seeded(line_named(line), tmp_path) as cluster:
        topics: Topics = {"good": (ALL_THREE, {}), "another": (ALL_THREE, {})}
        create(cluster, topics)
        await_findings(cluster, {}, topics)
