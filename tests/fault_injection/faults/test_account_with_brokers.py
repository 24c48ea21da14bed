"""Does an account of faults keep its word on real brokers, behind a real gate?"""

from collections.abc import Iterator

import pytest
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.health import UnhealthyClusterError, problems
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import ask, await_registered, await_unregistered
from fault_injection.faults import gate_faults
from fault_injection.faults.account import FaultAccount, FaultAccountError
from fault_injection.faults.fault import FaultEvent, FaultStage
from fault_injection.faults.process import KillProcess, PauseProcess
from fault_injection.releases import jars_of
from fault_injection.waiting import until
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.conftest import made_healthy, spec_of
from tests.fault_injection.cluster.topics import await_isr, create_topic

pytestmark = pytest.mark.broker
TOPIC = "kept"


@pytest.fixture(scope="module")
def gate() -> Iterator[GateProxy]:
    with GateProxy() as gate:
        yield gate


@pytest.fixture(scope="module")
def shared(gate: GateProxy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    spec = spec_of("2.8.2", broker_ids=(1, 2))
    backend = ProcessBackend()
    try:
        directory = tmp_path_factory.mktemp("cluster")
        with Cluster.start(spec, jars_of(spec.release), backend, gate, directory) as cluster:
            create_topic(cluster, TOPIC, [1, 2])
            yield cluster
    finally:
        backend.close()


@pytest.fixture
def cluster(shared: Cluster) -> Cluster:
    made_healthy(shared)
    await_isr(shared, TOPIC, {1, 2})
    return shared


def fetch_of(topic: str) -> Point:
    return Point("fetch_request", source=2, destination=1, topic=topic, partition=0)


def test_faults_of_three_families_are_stamped_and_the_cluster_is_healthy_afterwards(
    cluster: Cluster, gate: GateProxy
) -> None:
    events: list[FaultEvent] = []
    with FaultAccount(cluster, events.append) as faults:
        held = faults.inject(gate_faults.hold(gate, "fetch", fetch_of(TOPIC)))
        until(lambda: gate.caught("fetch"), deadline_s=10, what="a fetch to be held")
        faults.inject(PauseProcess(1))
        faults.inject(KillProcess(2))
        assert problems(cluster)
    assert problems(cluster) == ()
    fired = next(event for event in events if event.stage is FaultStage.FIRED)
    assert fired.number == held.number
    assert fired.frame is not None
    assert (fired.frame.api, fired.frame.direction, fired.frame.offset) == ("Fetch", "request", 0)
    healed = [event.fault for event in events if event.stage is FaultStage.HEALED]
    assert healed == ["kill", "pause", "hold_frame"]


def test_a_point_that_never_comes_is_an_error_that_says_what_came(cluster: Cluster, gate: GateProxy) -> None:
    absent = Point("fetch_request", topic=TOPIC, partition=0, fetch_offset=77)  # whichever broker leads by now
    with pytest.raises(FaultAccountError, match=r"hold_frame never fired: it awaited .*77.*; what came was ") as failed:
        keep_waiting(cluster, gate, absent)
    assert '"fetch_offset": 0' in str(failed.value)


def keep_waiting(cluster: Cluster, gate: GateProxy, absent: Point) -> None:
    with FaultAccount(cluster) as faults:
        faults.inject(gate_faults.hold(gate, "absent", absent))
        until(lambda: bool(gate.passed("absent")), deadline_s=10, what="another fetch to pass")


def test_a_cluster_that_is_not_healthy_is_refused(cluster: Cluster) -> None:
    cluster.kill(2)
    await_unregistered(cluster, 2)
    with pytest.raises(UnhealthyClusterError, match="before the first fault: broker-2 does not run"):
        FaultAccount(cluster).__enter__()


def test_a_fault_that_somebody_left_is_found(cluster: Cluster, gate: GateProxy) -> None:
    left = gate_faults.hold(gate, "left", fetch_of("elsewhere"))
    left.inject(cluster)
    with pytest.raises(UnhealthyClusterError, match="left over before the first one: hold 'left' is armed"):
        FaultAccount(cluster).__enter__()
    left.heal(cluster)


def test_a_broker_that_is_excused_excuses_what_cannot_be_without_it(cluster: Cluster) -> None:
    with FaultAccount(cluster) as faults:
        for broker in (2, 1):
            cluster.kill(broker)
            await_unregistered(cluster, broker)
        faults.excuse(1)
        cluster.start_broker(2)
        await_registered(cluster, 2)
        assert partition_of(cluster, TOPIC, viewer=2) == (-1, [1])
    assert problems(cluster) == ("broker-1 does not run",)


def partition_of(cluster: Cluster, topic: str, viewer: int) -> tuple[int, list[int]]:
    """Return who leads a topic's only partition and who is in sync, as a broker says."""
    answer = ask(cluster.client_address(viewer), MetadataRequest[1](topics=None), MetadataResponse, 5)
    (partition,) = next(one.partitions for one in answer.topics if one.name == topic)
    return partition.leader_id, list(partition.isr_nodes)
