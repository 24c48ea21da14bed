"""Do probes tell the numbers of real replicas, and leave them as they are?"""

import threading
from collections.abc import Iterator
from uuid import uuid4

import pytest

from conformance.clients.producer import send
from conformance.clients.topics import create_topic
from conformance.probes.connection import BrokerConnection, ProbeError
from conformance.probes.controller import CommittedPartition
from conformance.probes.replica import Admission, served_records
from conformance.probes.replica_probe import ProbedNumbers, ReplicaProbe
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.waiting import until
from oracle.vocabulary import Acks, BrokerId, ProduceOutcome
from tests.conformance.real_clusters import RELEASES, two_replicas

ONE, TWO = BrokerId(1), BrokerId(2)
BOTH = {ONE: True, TWO: True}

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module", params=RELEASES)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with two_replicas(request.param, tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"probed-{uuid4().hex[:8]}"
    create_topic([cluster.client_address(1), cluster.client_address(2)], name, [1, 2])
    return name


@pytest.fixture
def probe(cluster: Cluster, topic: str) -> Iterator[ReplicaProbe]:
    with ReplicaProbe(cluster, topic) as opened:
        yield opened


def produce(cluster: Cluster, topic: str, *record_ids: int) -> None:
    for record_id in record_ids:
        sending = send(cluster.client_address(1), topic, 0, record_id, Acks.ALL)
        delivery = sending.await_delivery(30)
        sending.close()
        assert delivery.outcome is ProduceOutcome.ACKNOWLEDGED, delivery


def await_numbers(probe: ReplicaProbe, offset: int) -> dict[BrokerId, ProbedNumbers]:
    wanted = dict.fromkeys(BOTH, ProbedNumbers(offset, offset, alive=True))
    until(lambda: probe.numbers(BOTH) == wanted, deadline_s=15, what=f"{offset} everywhere")
    return wanted


def test_fifty_probes_change_nothing(cluster: Cluster, topic: str, probe: ReplicaProbe) -> None:
    produce(cluster, topic, 0, 1)
    before = await_numbers(probe, 2)
    state = probe.controller_view([ONE, TWO])
    for _ in range(50):
        assert probe.numbers(BOTH) == before
        assert probe.admission(ONE) is Admission.ADMITTED
        assert probe.admission(TWO) is Admission.NOT_LEADER
        assert probe.controller_view([ONE, TWO]) == state
    assert state is not None
    assert (state.leader, state.isr) == (1, (1, 2))
    assert [it.record_id for it in probe.log(ONE).records] == [0, 1]


def test_a_consumer_is_served_what_was_produced(cluster: Cluster, topic: str, probe: ReplicaProbe) -> None:
    produce(cluster, topic, 0, 1, 2)
    await_numbers(probe, 3)

    with BrokerConnection(cluster.client_address(1)) as leader, BrokerConnection(cluster.client_address(2)) as follower:
        served = served_records(leader, topic, 0, 1)
        assert [(record.offset, record.record_id, record.value_matches) for record in served] == [
            (1, 1, True),
            (2, 2, True),
        ]
        with pytest.raises(ProbeError):
            served_records(follower, f"{topic}-elsewhere", 0)


def test_an_uncommitted_record_is_in_the_log_end_offset_only(cluster: Cluster, topic: str, probe: ReplicaProbe) -> None:
    produce(cluster, topic, 0)
    await_numbers(probe, 1)
    cluster.pause(2)
    try:
        sending = send(cluster.client_address(1), topic, 0, 1, Acks.LEADER)
        assert sending.await_delivery(10).offset == 1
        sending.close()
        assert probe.live_numbers(ONE) == ProbedNumbers(2, 1, alive=True)
    finally:
        cluster.resume(2)
        await_registered(cluster, 2)
    await_numbers(probe, 2)


def test_a_closed_probe_leaves_no_thread(cluster: Cluster, topic: str) -> None:
    threads = threading.active_count()
    with ReplicaProbe(cluster, topic) as probe:
        probe.controller_view([ONE, TWO])
        probe.numbers(BOTH)
    assert threading.active_count() == threads


def test_every_broker_tells_its_own_belief(topic: str, probe: ReplicaProbe) -> None:
    beliefs = [probe.metadata(ONE), probe.metadata(TWO)]
    assert [(it.leader, it.isr) for it in beliefs if it is not None] == [(1, (1, 2))] * 2, topic


def test_a_topic_that_is_not_there_is_unknown_and_is_not_created(cluster: Cluster) -> None:
    with ReplicaProbe(cluster, "absent") as probe:
        for _ in range(2):
            assert probe.metadata(ONE) is None
            assert probe.controller_view([ONE, TWO]) is None
        with pytest.raises(ProbeError):
            probe.live_numbers(ONE)


def test_segments_hold_what_was_produced(cluster: Cluster, topic: str, probe: ReplicaProbe) -> None:
    produce(cluster, topic, 7, 8)
    await_numbers(probe, 2)
    for broker in BOTH:
        log = probe.log(broker)
        assert [(it.offset, it.record_id, it.value_matches) for it in log.records] == [(0, 7, True), (1, 8, True)]
        assert log.log_end_offset == 2
        assert probe.resting_numbers(broker).log_end_offset == 2


def test_a_killed_broker_is_read_from_its_files_and_again_after_its_restart(
    cluster: Cluster, topic: str, probe: ReplicaProbe
) -> None:
    produce(cluster, topic, 0, 1, 2)
    await_numbers(probe, 3)
    until(lambda: probe.checkpointed_high_watermark(TWO) == 3, deadline_s=5, what="checkpoint 3")
    cluster.kill(2)
    with pytest.raises(ProbeError):
        probe.live_numbers(TWO)
    assert probe.numbers({ONE: True, TWO: False})[TWO] == ProbedNumbers(3, 3, alive=False)
    await_unregistered(cluster, 2)
    view = until(lambda: _lone_leader(probe), deadline_s=15, what="ISR is broker 1")
    assert view.leader == 1
    cluster.start_broker(2)
    await_registered(cluster, 2)
    until(lambda: (it := probe.controller_view([ONE, TWO])) and it.isr == (1, 2), deadline_s=30, what="ISR 1, 2")
    await_numbers(probe, 3)


def test_a_replica_that_left_an_isr_at_its_minimum_stays_eligible_where_the_release_has_it(
    cluster: Cluster,
) -> None:
    name = f"probed-{uuid4().hex[:8]}"
    create_topic([cluster.client_address(1), cluster.client_address(2)], name, [1, 2], {"min.insync.replicas": "2"})
    has_eligible_replicas = cluster.spec.release.is_at_least(4, 1)
    with ReplicaProbe(cluster, name) as probe:
        cluster.stop(2)
        await_unregistered(cluster, 2)
        view = until(lambda: _lone_leader(probe), deadline_s=30, what="ISR is broker 1")
        assert view.elr == ((2,) if has_eligible_replicas else ())
        until(lambda: probe.admission(ONE) is Admission.TOO_FEW_IN_SYNC, deadline_s=10, what="broker 1 refuses")
        cluster.start_broker(2)
        await_registered(cluster, 2)
        until(lambda: probe.admission(ONE) is Admission.ADMITTED, deadline_s=30, what="broker 1 admits")


def _lone_leader(probe: ReplicaProbe) -> CommittedPartition | None:
    view = probe.controller_view([ONE])
    return view if view is not None and view.isr == (1,) else None
