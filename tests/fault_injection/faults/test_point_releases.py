"""Does a cluster have exactly the protocol points whose requests its release sends?"""

import pytest

from fault_injection.cluster.spec import ClusterSpec
from fault_injection.faults.catalogue import points_of, why_no_point
from fault_injection.releases import MetadataMode, find_release
from fault_injection.wire.points import POINTS
from oracle.vocabulary import PointName

EVERYWHERE = {"fetch", "produce", "client_fetch"}
OF_ZOOKEEPER = {"leader_and_isr", "update_metadata", "stop_replica", "controlled_shutdown"}
OF_KRAFT = {"broker_registration", "broker_heartbeat", "controller_fetch"}
LOOKUP, ALTER = "offsets_for_leader_epoch", "alter_partition"
WAYS = ("request", "response")
OF_PRODUCERS = {"init_producer_id", "add_partitions_to_txn", "add_offsets_to_txn", "end_txn", "txn_offset_commit"}
OF_TRANSACTIONS = OF_PRODUCERS | {"write_txn_markers"}


def spec(version: str, mode: MetadataMode | None = None, *, client_links: bool = True) -> ClusterSpec:
    release = find_release(version)
    return ClusterSpec(release, release.metadata_mode(mode), client_links=client_links)


@pytest.mark.parametrize(
    ("version", "mode", "requests"),
    [
        ("0.10.2", None, EVERYWHERE | OF_ZOOKEEPER),
        ("0.11", None, EVERYWHERE | OF_TRANSACTIONS | OF_ZOOKEEPER | {LOOKUP}),
        ("2.6", None, EVERYWHERE | OF_TRANSACTIONS | OF_ZOOKEEPER | {LOOKUP}),
        ("2.7", None, EVERYWHERE | OF_TRANSACTIONS | OF_ZOOKEEPER | {LOOKUP, ALTER}),
        ("2.8", MetadataMode.ZOOKEEPER, EVERYWHERE | OF_TRANSACTIONS | OF_ZOOKEEPER | {ALTER}),
        ("3.9", MetadataMode.ZOOKEEPER, EVERYWHERE | OF_TRANSACTIONS | OF_ZOOKEEPER | {ALTER}),
        ("3.9", MetadataMode.KRAFT, EVERYWHERE | OF_TRANSACTIONS | OF_KRAFT | {ALTER}),
        ("4.3", None, EVERYWHERE | OF_TRANSACTIONS | OF_KRAFT | {ALTER}),
    ],
)
def test_the_points_of_a_release(version: str, mode: MetadataMode | None, requests: set[str]) -> None:
    names = points_of(spec(version, mode))
    assert {name.removesuffix("_request").removesuffix("_response") for name in names} == requests
    assert len(names) == 2 * len(requests)


def test_clients_have_points_only_where_they_pass_the_relay() -> None:
    direct = set(points_of(spec("4.3", client_links=False)))
    verifying = {"add_partitions_to_txn"}
    of_clients = {"produce", "client_fetch", *OF_PRODUCERS} - verifying
    assert set(points_of(spec("4.3"))) - direct == {f"{of}_{way}" for of in of_clients for way in WAYS}
    before = set(points_of(spec("3.5", client_links=False)))
    assert set(points_of(spec("3.5"))) - before == {f"{of}_{way}" for of in of_clients | verifying for way in WAYS}


@pytest.mark.parametrize(
    ("name", "version", "why"),
    [
        ("leader_and_isr", "4.3", "no LeaderAndIsr is sent in KRaft mode: brokers read the metadata log"),
        ("controller_fetch_request", "0.11", "no fetch of the metadata log is sent in ZooKeeper mode"),
        ("broker_heartbeat_response", "0.11", "no BrokerHeartbeat is sent in ZooKeeper mode"),
        ("alter_partition_request", "0.11", "leaders of Kafka 0.11.0.3 write the in-sync replicas to ZooKeeper"),
        ("write_txn_markers_request", "0.10.2", "Kafka 0.10.2.2 has no transactions"),
        ("offsets_for_leader_epoch_request", "4.3", "followers of Kafka 4.3.1 send no OffsetForLeaderEpoch"),
    ],
)
def test_a_missing_point_says_why(name: str, version: str, why: str) -> None:
    assert why in why_no_point(name, spec(version))


def test_the_model_and_the_gate_name_the_same_points() -> None:
    assert [point.value for point in PointName if point.value not in POINTS] == []
    assert [name for name in POINTS if name not in list(PointName)] == []
