"""What do real brokers of each generation find after their disk lost something?"""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest

from conformance.clients.producer import send
from conformance.clients.topics import create_topic
from conformance.probes.connection import ProbeError
from conformance.probes.replica import Admission
from conformance.probes.replica_probe import ProbedNumbers, ReplicaProbe
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.faults.disk import (
    CLEAN_SHUTDOWN_MARKER,
    LoseLogTail,
    lose_high_watermark_checkpoint,
    lose_tail,
)
from fault_injection.faults.fault import FaultError
from fault_injection.waiting import NotYetError, until
from oracle.vocabulary import Acks, BrokerId, ProduceOutcome

ONE, TWO = BrokerId(1), BrokerId(2)
CLEAN = {"unclean.leader.election.enable": "false"}

pytestmark = pytest.mark.broker


@contextmanager
def replicated(cluster: Cluster, *replicas: int) -> Iterator[tuple[str, ReplicaProbe]]:
    topic = f"lossy-{uuid4().hex[:8]}"
    create_topic([cluster.client_address(broker) for broker in (1, 2)], topic, replicas, CLEAN)
    with ReplicaProbe(cluster, topic) as probe:
        yield topic, probe


def produce(cluster: Cluster, leader: int, topic: str, *record_ids: int) -> None:
    for record_id in record_ids:
        sending = send(cluster.client_address(leader), topic, 0, record_id, Acks.ALL)
        delivery = sending.await_delivery(30)
        sending.close()
        assert delivery.outcome is ProduceOutcome.ACKNOWLEDGED, delivery


def end(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    await_unregistered(cluster, broker)


def start(cluster: Cluster, broker: int) -> str:
    """Start a broker and give what it logged since."""
    before = len(cluster.log_text(broker))
    cluster.start_broker(broker)
    await_registered(cluster, broker)
    return cluster.log_text(broker)[before:]


def await_leader(cluster: Cluster, probe: ReplicaProbe, leader: int, *isr: int, asked: BrokerId) -> None:
    """Wait until the controller has decided, every broker has heard of it, and the leader admits records.

    A client may ask any of them, and a KRaft broker publishes its metadata before its replica leads.
    """

    def is_known() -> bool:
        decided = probe.controller_view([asked])
        heard = [probe.metadata(BrokerId(broker)) for broker in cluster.live_brokers]
        if decided is None or (decided.leader, decided.isr) != (leader, isr):
            return False
        has_been_heard = all(view is not None and view.leader == leader for view in heard)
        return has_been_heard and probe.admission(BrokerId(leader)) is Admission.ADMITTED

    until(is_known, deadline_s=30, what=f"leader {leader}, ISR {isr}")


def await_no_leader(probe: ReplicaProbe) -> None:
    until(
        lambda: (it := probe.controller_view([TWO])) is not None and it.leader is None, deadline_s=10, what="no leader"
    )


def await_numbers(probe: ReplicaProbe, broker: BrokerId, log_end_offset: int, high_watermark: int) -> None:
    wanted = ProbedNumbers(log_end_offset, high_watermark, alive=True)

    def is_reached() -> bool:
        try:
            numbers = probe.live_numbers(broker)
        except ProbeError as unanswered:  # it is registered, but has not heard of its replica yet
            raise NotYetError(unanswered) from unanswered
        if numbers != wanted:
            raise NotYetError(numbers)
        return True

    until(is_reached, deadline_s=15, what=f"{wanted} at broker {broker}")


def await_checkpoint(probe: ReplicaProbe, broker: BrokerId, high_watermark: int) -> None:
    until(
        lambda: probe.checkpointed_high_watermark(broker) == high_watermark,
        deadline_s=10,
        what=f"checkpoint {high_watermark} of broker {broker}",
    )


def test_a_killed_broker_that_lost_its_tail_recovers_what_is_left(cluster: Cluster) -> None:
    with replicated(cluster, 1) as (topic, probe):
        produce(cluster, 1, topic, 0, 1, 2)
        end(cluster, 1)
        assert probe.resting_numbers(ONE).log_end_offset == 3

        assert lose_tail(cluster, 1, topic, 0, 1) == f"broker 1 lost offsets 1 to 2 of {topic}-0"

        assert probe.resting_numbers(ONE).log_end_offset == 1
        logged = start(cluster, 1)
        await_numbers(probe, ONE, 1, 1)
        recovered = [line for line in logged.splitlines() if topic in line and "Recovering unflushed segment" in line]

        assert recovered
        produce(cluster, 1, topic, 3)
        assert [(it.offset, it.record_id) for it in probe.log(ONE).records] == [(0, 0), (1, 3)]


def test_a_broker_that_shut_down_in_order_can_lose_its_tail_too(cluster: Cluster) -> None:
    with replicated(cluster, 1) as (topic, probe):
        produce(cluster, 1, topic, 0, 1, 2)
        cluster.stop(1)
        await_unregistered(cluster, 1)
        assert CLEAN_SHUTDOWN_MARKER in cluster.files(1)

        lose_tail(cluster, 1, topic, 0, 1)

        assert CLEAN_SHUTDOWN_MARKER not in cluster.files(1)
        assert "Recovering unflushed segment" in start(cluster, 1)
        await_numbers(probe, ONE, 1, 1)


def test_epochs_that_begin_in_a_lost_tail_are_dropped_at_load_and_replication_brings_the_tail_back(
    cluster: Cluster,
) -> None:
    with replicated(cluster, 1, 2) as (topic, probe):
        produce(cluster, 1, topic, 0)
        await_numbers(probe, TWO, 1, 1)
        end(cluster, 1)
        await_leader(cluster, probe, 2, 2, asked=TWO)
        produce(cluster, 2, topic, 1, 2)
        start(cluster, 1)
        await_leader(cluster, probe, 2, 1, 2, asked=TWO)
        await_checkpoint(probe, TWO, 3)
        end(cluster, 2)
        await_leader(cluster, probe, 1, 1, asked=ONE)
        epochs = probe.epoch_starts(TWO)

        assert [it.start_offset for it in epochs] == ([0, 1] if epochs else [])

        lose_tail(cluster, 2, topic, 0, 1)

        assert probe.epoch_starts(TWO) == epochs
        end(cluster, 1)
        start(cluster, 2)

        await_no_leader(probe)
        await_numbers(probe, TWO, 1, 1)
        until(lambda: probe.epoch_starts(TWO) == epochs[:1], deadline_s=10, what="the later epoch is dropped")
        start(cluster, 1)
        await_leader(cluster, probe, 1, 1, 2, asked=TWO)
        await_numbers(probe, TWO, 3, 3)
        assert [it.record_id for it in probe.log(TWO).records] == [0, 1, 2]


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_lost_checkpoint_lets_the_high_watermark_begin_at_0(cluster: Cluster, is_lost: bool) -> None:
    with replicated(cluster, 1, 2) as (topic, probe), replicated(cluster, 1, 2) as (_, other):
        produce(cluster, 1, topic, 0, 1, 2)
        await_checkpoint(probe, TWO, 3)
        await_checkpoint(other, TWO, 0)
        end(cluster, 2)
        await_leader(cluster, probe, 1, 1, asked=ONE)
        end(cluster, 1)
        if is_lost:
            lost = f"broker 2 lost the checkpointed high watermark 3 of {topic}-0"
            assert lose_high_watermark_checkpoint(cluster, 2, topic, 0) == lost
            assert probe.checkpointed_high_watermark(TWO) is None
            assert other.checkpointed_high_watermark(TWO) == 0

        start(cluster, 2)

        await_no_leader(probe)
        await_numbers(probe, TWO, 3, 0 if is_lost else 3)
        assert [it.record_id for it in probe.log(TWO).records] == [0, 1, 2]
        start(cluster, 1)
        await_leader(cluster, probe, 1, 1, 2, asked=TWO)
        await_numbers(probe, TWO, 3, 3)


def test_the_disk_of_a_running_broker_is_left_alone(cluster: Cluster) -> None:
    with replicated(cluster, 1) as (topic, probe):
        produce(cluster, 1, topic, 0, 1)
        assert not LoseLogTail(1, 1, topic).available(cluster)
        with pytest.raises(FaultError, match="broker 1 runs: lose_tail is for the disk of a broker that is down"):
            lose_tail(cluster, 1, topic, 0, 1)
        with pytest.raises(FaultError, match="broker 1 runs: lose_high_watermark_checkpoint"):
            lose_high_watermark_checkpoint(cluster, 1, topic, 0)
        assert probe.resting_numbers(ONE).log_end_offset == 2
        end(cluster, 1)
        assert LoseLogTail(1, 1, topic).available(cluster)
        assert not LoseLogTail(2, 1, topic).available(cluster)
