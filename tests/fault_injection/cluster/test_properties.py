"""Do a cluster's nodes get the settings that its spec asks for, and is it clear whose settings they are?"""

from types import MappingProxyType
from typing import Any

import pytest

from fault_injection.cluster.plan import Listeners, NodeProperties, properties
from fault_injection.cluster.spec import ClusterSpec, HighWatermarkCheckpoint, Node, ProcessRole, Timing
from fault_injection.releases import MetadataMode, UsageError, find_release

BROKER = Listeners(
    bind_host="127.0.0.1",
    ports={"CLIENT": 1001, "REPLICATION": 1002},
    advertised={"CLIENT": ("127.0.0.1", 1001), "REPLICATION": ("127.0.0.1", 2002)},
    metadata_addresses={100: ("127.0.0.1", 2100)},
    data_directory="/data/1",
)


def spec(version: str = "4.3", mode: MetadataMode | None = None, **changes: Any) -> ClusterSpec:  # noqa: ANN401 - any field of it
    release = find_release(version)
    return ClusterSpec(release, release.metadata_mode(mode), **changes)


def of_broker(cluster: ClusterSpec) -> NodeProperties:
    return properties(cluster, Node(ProcessRole.BROKER, 1), BROKER)


def test_a_kraft_broker_listens_itself_but_is_advertised_at_the_relay() -> None:
    settings = of_broker(spec()).identity
    assert settings["listeners"] == "CLIENT://127.0.0.1:1001,REPLICATION://127.0.0.1:1002"
    assert settings["advertised.listeners"] == "CLIENT://127.0.0.1:1001,REPLICATION://127.0.0.1:2002"
    assert settings["controller.quorum.voters"] == "100@127.0.0.1:2100"
    assert settings["inter.broker.listener.name"] == "REPLICATION"
    assert (settings["node.id"], settings["process.roles"]) == ("1", "broker")
    assert "broker.id" not in settings
    assert "zookeeper.connect" not in settings


def test_a_zookeeper_broker_has_a_broker_id_and_no_kraft_settings() -> None:
    settings = of_broker(spec("2.8")).merged
    assert settings["zookeeper.connect"] == "127.0.0.1:2100"
    assert settings["broker.id"] == "1"
    assert not [key for key in settings if key.startswith(("controller.quorum", "process.", "node."))]


def test_the_three_parts_do_not_overlap_and_the_users_part_wins() -> None:
    asked = of_broker(spec(overrides=MappingProxyType({"replica.fetch.wait.max.ms": "500", "num.io.threads": "3"})))
    assert not asked.identity.keys() & asked.imposed.keys()
    assert asked.imposed["replica.fetch.wait.max.ms"] == "100"
    assert asked.merged["replica.fetch.wait.max.ms"] == "500"
    assert "num.io.threads=3\n" in asked.text()


@pytest.mark.parametrize(
    ("version", "key"), [("4.3", "broker.session.timeout.ms"), ("2.8", "zookeeper.session.timeout.ms")]
)
def test_a_timing_profile_lets_one_clock_run_out_first(version: str, key: str) -> None:
    session = of_broker(spec(version, timing=Timing.SESSION)).merged
    lag = of_broker(spec(version, timing=Timing.LAG)).merged
    assert (session["replica.lag.time.max.ms"], session[key]) == ("120000", "2000")
    assert (lag["replica.lag.time.max.ms"], lag[key]) == ("3000", "60000")


def test_the_session_timeout_of_kraft_is_set_on_the_controller() -> None:
    listeners = Listeners("127.0.0.1", {"CONTROLLER": 2100}, {}, {100: ("127.0.0.1", 2100)}, "/data/100")
    settings = properties(spec(), Node(ProcessRole.CONTROLLER, 100), listeners).merged
    assert settings["broker.session.timeout.ms"] == "2000"
    assert settings["controller.quorum.voters"] == "100@127.0.0.1:2100"
    assert settings["process.roles"] == "controller"
    assert settings["listeners"] == "CONTROLLER://127.0.0.1:2100"


def test_what_one_broker_alone_has_wins_over_what_all_have() -> None:
    asked = spec(overrides={"min.insync.replicas": "2"}, node_overrides={1: {"min.insync.replicas": "3"}})
    assert of_broker(asked).overrides == {"min.insync.replicas": "3"}
    assert properties(asked, Node(ProcessRole.BROKER, 2), BROKER).overrides == {"min.insync.replicas": "2"}


def test_several_controllers_elect_as_they_do_by_default() -> None:
    timeout = "controller.quorum.fetch.timeout.ms"
    assert timeout in of_broker(spec()).imposed
    assert timeout not in of_broker(spec(other_controller_ids=(101, 102))).imposed


@pytest.mark.parametrize("others", [(1,), (100,), (101, 101)])
def test_a_controller_needs_an_id_of_its_own(others: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="ids of their own"):
        spec(other_controller_ids=others)


def test_zookeeper_has_no_other_controllers() -> None:
    with pytest.raises(UsageError, match="one controller"):
        ClusterSpec(find_release("3.9"), MetadataMode.ZOOKEEPER, other_controller_ids=(101,))


def test_checkpoints_are_prompt_or_never() -> None:
    key = "replica.high.watermark.checkpoint.interval.ms"
    assert of_broker(spec()).imposed[key] == "100"
    never = of_broker(spec(checkpoint=HighWatermarkCheckpoint.NEVER)).imposed[key]
    assert int(never) > 24 * 60 * 60 * 1000


@pytest.mark.parametrize(("version", "knows"), [("0.10.2", False), ("1.0", False), ("1.1", True), ("4.3", True)])
def test_fetch_sessions_are_as_brokers_have_them_unless_they_are_switched_off(version: str, *, knows: bool) -> None:
    key = "max.incremental.fetch.session.cache.slots"
    assert key not in of_broker(spec(version)).imposed
    assert (of_broker(spec(version, fetch_sessions=False)).imposed.get(key) == "0") is knows


@pytest.mark.parametrize(("version", "knows"), [("0.10.2", False), ("3.7", False), ("3.8", True), ("4.3", True)])
def test_log_start_offsets_are_written_at_the_start_where_a_broker_can_be_told_so(version: str, *, knows: bool) -> None:
    assert (of_broker(spec(version)).imposed.get("log.initial.task.delay.ms") == "0") is knows


def test_promises_of_topics_are_never_imposed() -> None:
    for version in ("0.10.2", "2.8", "4.3"):
        imposed = of_broker(spec(version)).imposed
        assert not {"min.insync.replicas", "unclean.leader.election.enable"} & imposed.keys()


def test_nodes_start_in_order_and_the_witness_is_first() -> None:
    assert [node.name for node in spec("2.8").nodes] == [
        "zookeeper-0",
        "broker-100",
        "broker-1",
        "broker-2",
        "broker-3",
    ]
    assert [node.name for node in spec().nodes] == ["controller-100", "broker-1", "broker-2", "broker-3"]
    without = spec("2.8", controller_id=None)
    assert without.witness_id is None
    assert [node.name for node in without.nodes][:2] == ["zookeeper-0", "broker-1"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"broker_ids": ()}, "ids of their own"),
        ({"broker_ids": (1, 1)}, "ids of their own"),
        ({"controller_id": 1}, "broker and the controller at once"),
        ({"controller_id": None}, "needs a controller id"),
    ],
)
def test_a_spec_that_no_cluster_can_meet_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        spec("4.3", **changes)


def test_a_mode_that_the_release_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="does not run in zookeeper mode"):
        ClusterSpec(find_release("4.0"), MetadataMode.ZOOKEEPER)


def test_a_relayed_listener_is_for_clients_and_mapped_to_a_protocol() -> None:
    ports = {**BROKER.ports, "RELAYED": 1003}
    advertised = {**BROKER.advertised, "RELAYED": ("127.0.0.1", 2003)}
    relayed = Listeners("127.0.0.1", ports, advertised, BROKER.metadata_addresses, BROKER.data_directory)
    settings = properties(spec(client_links=True), Node(ProcessRole.BROKER, 1), relayed).identity
    assert settings["advertised.listeners"].endswith(",RELAYED://127.0.0.1:2003")
    assert settings["listener.security.protocol.map"].endswith(",RELAYED:PLAINTEXT")
    assert "RELAYED" not in of_broker(spec()).text()
