"""Does the producer tell what it was told, promptly, and nothing more certain than that?"""

import threading
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from confluent_kafka import KafkaException

from conformance.clients.one_produce import OneRecord, ProduceAnswer, produce_once
from conformance.clients.producer import DeliveryReport, RecordInFlight, send
from conformance.clients.questions import Listed, Questioner
from conformance.clients.topics import TopicError, create_topic, delete_topic
from conformance.probes.replica import Admission
from conformance.probes.replica_probe import ReplicaProbe
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.waiting import until
from oracle.steps.produce import PRODUCE_TIMEOUT_MS
from oracle.vocabulary import Acks, BrokerId, ProduceOutcome
from tests.conformance.real_clusters import RELEASES, two_replicas

ONE, TWO = BrokerId(1), BrokerId(2)
LATEST = -1


@pytest.fixture(scope="module", params=RELEASES)
def shared_cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with two_replicas(request.param, tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Iterator[Cluster]:
    yield shared_cluster
    for broker in (1, 2):
        if broker not in shared_cluster.live_brokers:
            if shared_cluster.is_alive(broker):  # paused: its requests to the controller may hang on after a resume
                shared_cluster.kill(broker)
            await_unregistered(shared_cluster, broker)
            shared_cluster.start_broker(broker)
    await_registered(shared_cluster, 1, 2)


def new_topic(cluster: Cluster, **configs: str) -> str:
    name = f"sent-{uuid4().hex[:8]}"
    configs = {key.replace("_", "."): value for key, value in configs.items()}
    create_topic([cluster.client_address(1), cluster.client_address(2)], name, [1, 2], configs)
    with ReplicaProbe(cluster, name) as probe:  # a broker that has just come back may join the ISR a little later
        until(lambda: _isr(probe) == {ONE, TWO}, deadline_s=10, what=f"both replicas of {name} to be in sync")
    return name


def _isr(probe: ReplicaProbe) -> set[BrokerId]:
    told = probe.metadata(ONE)
    return set() if told is None else set(told.isr)


def delivered(sending: RecordInFlight, deadline_s: float = 20) -> DeliveryReport:
    try:
        return sending.await_delivery(deadline_s)
    finally:
        sending.close()


@pytest.mark.broker
def test_acks_decide_what_success_means(cluster: Cluster) -> None:
    topic, address = new_topic(cluster), cluster.client_address(1)
    told = [
        delivered(send(address, topic, 0, record_id, acks))
        for record_id, acks in enumerate((Acks.ALL, Acks.LEADER, Acks.NONE))
    ]
    assert told == [
        DeliveryReport(ProduceOutcome.ACKNOWLEDGED, None, 0),
        DeliveryReport(ProduceOutcome.ACKNOWLEDGED, None, 1),
        DeliveryReport(ProduceOutcome.INDETERMINATE, None, None),
    ]


@pytest.mark.broker
def test_one_request_with_any_acks_to_any_broker(cluster: Cluster) -> None:
    topic = new_topic(cluster)
    asked = [(1, 1), (1, 0), (1, 7), (2, -1), (2, 0)]
    now_ms = time.time_ns() // 1_000_000
    told = [
        produce_once(cluster.client_address(broker), topic, OneRecord(number, acks, 1_000, now_ms + number, 100))
        for number, (broker, acks) in enumerate(asked)
    ]
    assert told == [
        ProduceAnswer(is_answered=True, offset=0),
        ProduceAnswer(is_answered=False),
        ProduceAnswer(is_answered=True, error="INVALID_REQUIRED_ACKS"),
        ProduceAnswer(is_answered=True, error="NOT_LEADER_OR_FOLLOWER"),
        ProduceAnswer(is_answered=False, is_closed=True),
    ]
    leader = Questioner(cluster.client_address(1), topic)
    until(lambda: leader.list_offset(LATEST) == Listed(None, 2), deadline_s=10, what="both records to be committed")
    assert leader.list_offset(now_ms + 1) == Listed(None, 1)
    assert leader.fetch(0).record_ids == (0, 1)
    assert leader.fetch(3).error == "OFFSET_OUT_OF_RANGE"
    assert Questioner(cluster.client_address(2), topic).list_offset(LATEST).error == "NOT_LEADER_OR_FOLLOWER"


@pytest.mark.broker
def test_a_client_started_from_the_follower_reaches_the_leader(cluster: Cluster) -> None:
    told = delivered(send(cluster.client_address(2), new_topic(cluster), 0, 5, Acks.ALL, value_length=10_000))
    assert told == DeliveryReport(ProduceOutcome.ACKNOWLEDGED, None, 0)


@pytest.mark.broker
def test_an_answer_that_never_comes_leaves_the_outcome_open(cluster: Cluster) -> None:
    topic = new_topic(cluster)
    with ReplicaProbe(cluster, topic) as probe:
        cluster.pause(2)
        sending = send(cluster.client_address(1), topic, 0, 0, Acks.ALL, timeout_ms=100)  # over before the session is
        assert delivered(sending) == DeliveryReport(ProduceOutcome.INDETERMINATE, "REQUEST_TIMED_OUT", None)
        assert probe.live_numbers(ONE).log_end_offset == 1


@pytest.mark.broker
def test_a_request_in_flight_ends_with_its_leader_and_stays_open(cluster: Cluster) -> None:
    topic = new_topic(cluster)
    with ReplicaProbe(cluster, topic) as probe:
        cluster.pause(2)
        sending = send(cluster.client_address(1), topic, 0, 0, Acks.ALL, queue_timeout_ms=100)
        until(lambda: probe.live_numbers(ONE).log_end_offset == 1, deadline_s=10, what="the append")
        assert sending.poll() is None
    cluster.kill(1)
    began = time.monotonic()
    assert delivered(sending) == DeliveryReport(ProduceOutcome.INDETERMINATE, "_TRANSPORT", None)
    assert time.monotonic() - began < 2


@pytest.mark.broker
def test_a_request_in_flight_to_a_silent_leader_ends_soon_after_its_timeout(cluster: Cluster) -> None:
    topic = new_topic(cluster)
    with ReplicaProbe(cluster, topic) as probe:
        cluster.pause(2)
        sending = send(cluster.client_address(1), topic, 0, 0, Acks.ALL, timeout_ms=600, queue_timeout_ms=100)
        until(lambda: probe.live_numbers(ONE).log_end_offset == 1, deadline_s=10, what="the append")
    cluster.pause(1)
    began = time.monotonic()
    told = delivered(sending)
    assert (told.outcome, told.offset) == (ProduceOutcome.INDETERMINATE, None)
    assert told.error in {"_TIMED_OUT", "_MSG_TIMED_OUT"}
    assert time.monotonic() - began < 8


@pytest.mark.broker
def test_too_few_replicas_refuse_acks_all_and_a_partition_without_leader_refuses_everything(
    cluster: Cluster,
) -> None:
    topic = new_topic(cluster, min_insync_replicas="2", unclean_leader_election_enable="false")
    with ReplicaProbe(cluster, topic) as probe:
        cluster.kill(2)
        await_unregistered(cluster, 2)
        until(lambda: probe.admission(ONE) is Admission.TOO_FEW_IN_SYNC, deadline_s=30, what="ISR 1")
        address = cluster.client_address(1)
        told = delivered(send(address, topic, 0, 0, Acks.ALL))
        assert told == DeliveryReport(ProduceOutcome.REFUSED, "NOT_ENOUGH_REPLICAS", None)
        assert delivered(send(address, topic, 0, 1, Acks.LEADER)).outcome is ProduceOutcome.ACKNOWLEDGED
        cluster.kill(1)
        await_unregistered(cluster, 1)
        cluster.start_broker(2)
        await_registered(cluster, 2)
        until(lambda: (it := probe.metadata(TWO)) and it.leader is None, deadline_s=15, what="no leader")
        began = time.monotonic()
        told = delivered(send(cluster.client_address(2), topic, 0, 2, Acks.ALL, queue_timeout_ms=500))
        assert told == DeliveryReport(ProduceOutcome.REFUSED, "LEADER_NOT_AVAILABLE", None)
        assert time.monotonic() - began < 2


@pytest.mark.broker
def test_topics_come_and_go_for_every_broker(cluster: Cluster) -> None:
    topic = new_topic(cluster)
    addresses = [cluster.client_address(1), cluster.client_address(2)]
    with pytest.raises(TopicError) as refused:
        create_topic(addresses, topic, [1, 2])
    assert refused.value.error == "TOPIC_ALREADY_EXISTS"
    delete_topic(addresses, topic)
    with pytest.raises(TopicError) as refused:
        delete_topic(addresses, topic)
    assert refused.value.error == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.broker
def test_a_setting_that_is_none_is_refused_by_name(cluster: Cluster) -> None:
    with pytest.raises(TopicError) as refused:
        new_topic(cluster, min_insync_replicas="several")
    is_old = cluster.spec.release.minor < (0, 11)
    assert refused.value.error == ("UNKNOWN_SERVER_ERROR" if is_old else "INVALID_CONFIG")


def test_a_broker_that_is_not_there_gets_nothing_and_leaves_nothing_behind(capfd: pytest.CaptureFixture[str]) -> None:
    threads = threading.active_count()
    told = delivered(send("127.0.0.1:1", "t", 0, 0, Acks.ALL, queue_timeout_ms=200))
    assert told == DeliveryReport(ProduceOutcome.REFUSED, "LEADER_NOT_AVAILABLE", None)
    assert threading.active_count() == threads
    assert capfd.readouterr() == ("", "")


def test_a_record_given_up_before_anything_is_known_is_closed_at_once() -> None:
    sending = send("127.0.0.1:1", "t", 0, 0, Acks.ALL)
    began = time.monotonic()
    sending.close()
    assert time.monotonic() - began < 1


def test_a_value_too_large_for_the_client_is_refused_where_it_is() -> None:
    told = delivered(send("127.0.0.1:1", "t", 0, 0, Acks.ALL, value_length=17 * 1024 * 1024))
    assert told == DeliveryReport(ProduceOutcome.REFUSED, "MESSAGE_TOO_LARGE", None)


def test_a_client_can_wait_as_long_as_a_schedule_may_say_and_no_longer() -> None:
    longest = PRODUCE_TIMEOUT_MS.greatest
    send("127.0.0.1:9", "nowhere", 0, 1, Acks.ALL, longest).close()
    with pytest.raises(KafkaException, match=r"socket\.timeout\.ms"):
        send("127.0.0.1:9", "nowhere", 0, 1, Acks.ALL, longest + 1)
