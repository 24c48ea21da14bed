"""Is the ledger whole when its network is gone, or its producer may write no more, and does it go on afterwards?"""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from kafka.protocol.admin import DescribeQuorumRequest

from benchmarks.attached import recounted, start_again, started
from conformance.attach.beginning import LedgerOptions, NewTopicAsked, begin
from conformance.attach.finishing import counted_of
from conformance.attach.ledger import AttachedLedger
from conformance.audit.asking import BrokerAsker
from conformance.audit.cluster import NotSeen
from conformance.cli import main
from conformance.clients.client_settings import ClientSettings
from conformance.clients.connecting import connected
from conformance.clients.ledger_producer import ProducersFailError
from conformance.probes.topic_of_clients import TopicOfClients
from conformance.record.attached import Promised, read_attached
from conformance.record.ledger import read_attempts, read_outcomes
from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.relay import CLIENTS
from fault_injection.faults.network import cut
from fault_injection.releases import UsageError, schema_jar
from fault_injection.waiting import until
from fault_injection.wire.proxy import GateProxy
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from fault_injection.cluster.lifecycle import Cluster

pytestmark = [pytest.mark.broker, pytest.mark.timeout(300)]
WITH_ACLS = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


def test_a_ledger_whose_network_is_gone_is_whole_and_goes_on_when_it_is_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = GateProxy(schemas=schema_jar())
    with started("4.4.0", tmp_path / "brokers", gate=gate) as cluster:
        options = LedgerOptions(
            tuple(relayed_bootstrap(cluster).split(",")),
            "cut-off",
            creates=NewTopicAsked(partitions=2),
            rate=500,
            delivery_timeout_s=4,
        )
        gone = cut(gate, CLIENTS, None, both_ways=True, at_heal="reset")
        with AttachedLedger(options, tmp_path / "runs") as ledger:
            until(lambda: ledger.progress.acknowledged > 1_000, deadline_s=30, what="records")
            gone.inject(cluster)
            until(lambda: ledger.progress.unknown > 500, deadline_s=30, what="records whose outcome is unknown")
            until(lambda: not ledger.is_in_sync, deadline_s=30, what="a look that is too old")
        assert main(["attach", "--resume", str(ledger.run.path), "--settle", "5s"]) == 3
        told = capsys.readouterr().err
        assert "no broker answers at" in told
        assert f"the ledger is whole: attach --resume {ledger.run.path} goes on from there" in told
        attempts, outcomes = read_attempts(ledger.run), read_outcomes(ledger.run)
        assert {one.record_id for one in attempts} == {one.record_id for one in outcomes}
        gone.heal(cluster)
        assert main(["attach", "--resume", str(ledger.run.path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["promise"] == "kept"
        again, counted = recounted(cluster, ledger.run), counted_of(ledger.run)
        assert (again.acknowledged, again.lost) == (counted.told("acknowledged"), frozenset())
        assert counted.told("indeterminate") > 500


def test_three_controllers_of_which_the_leading_one_is_killed_take_nothing_with_them(tmp_path: Path) -> None:
    with started("4.4.0", tmp_path / "brokers", other_controllers=(101, 102)) as cluster:
        options = LedgerOptions(
            tuple(cluster.bootstrap.split(",")), "controllers", creates=NewTopicAsked(partitions=2), rate=500
        )
        with AttachedLedger(options, tmp_path) as ledger:
            until(lambda: ledger.progress.acknowledged > 1_000 and ledger.is_in_sync, deadline_s=30, what="records")
            before = until(lambda: _leading_controller(cluster), deadline_s=30, what="a leading controller")
            cluster.kill(before)
            broker = ledger.watcher.latest[0].leader
            cluster.kill(broker)
            until(lambda: ledger.watcher.latest[0].leader not in (broker, None), deadline_s=60, what="another leader")
            after = until(lambda: _leading_controller(cluster), deadline_s=60, what="another leading controller")
            assert after in {100, 101, 102} - {before}
            start_again(cluster, broker)
            until(lambda: ledger.is_in_sync, deadline_s=60, what="every replica in sync")
        verdict = ledger.verdict()
        assert verdict.promise is Promised.KEPT, verdict
        again, counted = recounted(cluster, ledger.run), counted_of(ledger.run)
        assert (again.acknowledged, again.lost) == (counted.told("acknowledged"), frozenset())


def _leading_controller(cluster: Cluster) -> int | None:
    """Return the controller that leads the quorum, as it tells it itself by a broker; None if none does."""
    topic = DescribeQuorumRequest.TopicData
    partition = topic.PartitionData(partition_index=0)
    asked = DescribeQuorumRequest(topics=[topic(topic_name="__cluster_metadata", partitions=[partition])])
    servers = [cluster.client_address(one) for one in cluster.live_brokers]
    with connected(servers, ClientSettings(), patience_s=5) as manager:
        answer = BrokerAsker(manager).ask(asked)
    if isinstance(answer, NotSeen) or not answer.topics:
        return None
    (told,) = answer.topics[0].partitions
    return None if told.error_code or told.leader_id < 0 else int(told.leader_id)


def test_a_release_that_may_not_have_idempotent_producers_is_told_before_a_topic_is_made(tmp_path: Path) -> None:
    with started("0.10.2.2", tmp_path / "brokers") as cluster:
        servers = tuple(cluster.bootstrap.split(","))
        options = LedgerOptions(servers, "never-made", creates=NewTopicAsked(), is_idempotent=True)
        with pytest.raises(UsageError, match="this release has no idempotent producers"):
            begin(options, tmp_path / "runs")
        with connected(servers, options.client, patience_s=5) as manager:
            assert TopicOfClients(manager, "kafka-conformance-never-made").seen() is None


def test_a_producer_that_may_not_write_is_followed_by_one_that_may(tmp_path: Path) -> None:
    with started("2.7.2", tmp_path / "brokers", WITH_ACLS) as cluster, ExitStack() as denied:
        options = LedgerOptions(
            tuple(cluster.bootstrap.split(",")), "denied", creates=NewTopicAsked(partitions=2), rate=500
        )
        _allow_all(cluster.bootstrap)
        denied.enter_context(_denied(cluster.bootstrap))
        with AttachedLedger(options, tmp_path) as ledger:
            until(lambda: bool(ledger.attached.senders), deadline_s=30, what="another producer")
            denied.close()
            until(lambda: ledger.progress.acknowledged > 1_000, deadline_s=60, what="records")
        verdict = ledger.verdict()
        assert verdict.promise is Promised.KEPT, verdict
        assert recounted(cluster, ledger.run).lost == frozenset()
        assert read_attached(ledger.run).senders


def test_a_ledger_of_which_no_producer_may_write_says_why(tmp_path: Path) -> None:
    with started("2.7.2", tmp_path / "brokers", WITH_ACLS) as cluster:
        options = LedgerOptions(tuple(cluster.bootstrap.split(",")), "never", creates=NewTopicAsked(partitions=2))
        _allow_all(cluster.bootstrap)
        ledger = AttachedLedger(options, tmp_path)
        refused = pytest.raises(
            ProducersFailError, match=r"no producer can write to kafka-conformance-never: .*uthoriz"
        )
        with _denied(cluster.bootstrap), refused, ledger:
            assert ledger.done(60)
        attempts, outcomes = read_attempts(ledger.run), read_outcomes(ledger.run)
        assert {one.record_id for one in attempts} == {one.record_id for one in outcomes}
        assert {one.outcome for one in outcomes} == {ProduceOutcome.REFUSED, ProduceOutcome.INDETERMINATE}


def _may(permission: AclPermissionType) -> AclBinding:
    operation = AclOperation.ALL if permission is AclPermissionType.ALLOW else AclOperation.IDEMPOTENT_WRITE
    literal = ResourcePatternType.LITERAL
    return AclBinding(ResourceType.BROKER, "kafka-cluster", literal, "User:*", "*", operation, permission)


def _allow_all(bootstrap: str) -> None:
    """Allow brokers what they need once there is any rule about the cluster."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    _done(admin.create_acls([_may(AclPermissionType.ALLOW)]))


@contextmanager
def _denied(bootstrap: str) -> Iterator[None]:
    """Nobody may write idempotently while the block runs; everything else is allowed."""
    admin, denies = AdminClient({"bootstrap.servers": bootstrap}), _may(AclPermissionType.DENY)
    _done(admin.create_acls([denies]))
    try:
        yield
    finally:
        same = AclBindingFilter(
            denies.restype,
            denies.name,
            denies.resource_pattern_type,
            denies.principal,
            denies.host,
            denies.operation,
            denies.permission_type,
        )
        _done(admin.delete_acls([same]))


def _done(answers: Mapping[object, Future[object]]) -> None:
    for answered in answers.values():
        answered.result(30)
