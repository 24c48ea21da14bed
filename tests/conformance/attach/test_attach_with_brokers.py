"""Is what an attached ledger says of records true on brokers? Each count is made again, by DuckDB and kafka-python.

Losses are made to happen: by settings that allow them, and by cutting the tails of replicas' logs, which none allows.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.attached import Recounted, named_lost, recounted, start_again, started
from conformance.attach.beginning import LedgerOptions, NewTopicAsked, begin, connection_of, topic_of
from conformance.attach.finishing import _at_rest, counted_of, delete_created, finish
from conformance.attach.ledger import AttachedLedger
from conformance.attach.rest import NotAtRestError
from conformance.attach.watching import PATIENCE_S
from conformance.clients.client_settings import ClientSettings
from conformance.clients.connecting import connected
from conformance.clients.topics import TopicError, create_where_brokers_like, delete_anywhere
from conformance.probes.topic_of_clients import TopicOfClients
from conformance.record.attached import Phase, Promised, note, read_attached
from conformance.record.directory import RunDirectory
from conformance.record.fault_commands import read_commands
from conformance.running.election_requests import request_reassignment
from conformance.spark_thread import SparkThread
from fault_injection.cluster.spec import Node, ProcessRole
from fault_injection.releases import UsageError
from fault_injection.waiting import NotYetError, until
from oracle.vocabulary import Acks, BrokerId
from reports.attach_page import write_attach_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fault_injection.cluster.lifecycle import Cluster

pytestmark = [pytest.mark.broker, pytest.mark.timeout(300)]
CLIENT = ClientSettings()


@pytest.fixture(scope="module", params=["0.11.0.3", "2.8.2", "3.9.2", "4.4.0"])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with started(request.param, tmp_path_factory.mktemp("attached")) as three_brokers:
        yield three_brokers


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkThread]:
    with SparkThread() as thread:
        yield thread


def _options(cluster: Cluster, topic: str, **changes: object) -> LedgerOptions:
    options = LedgerOptions(
        tuple(cluster.bootstrap.split(",")), topic, creates=NewTopicAsked(partitions=2), rate=2000, settle_s=60
    )
    return replace(options, **changes)


def _agree(cluster: Cluster, run: RunDirectory) -> Recounted:
    """Make sure that both counts are the same, and return one."""
    counted, again = counted_of(run), recounted(cluster, run)
    assert counted.identity_holds
    assert counted.told("acknowledged") == again.acknowledged
    assert counted.total("lost") == len(again.lost)
    assert named_lost(run) == again.lost
    assert sum(one.read for one in counted.partitions) == again.read
    return again


def test_a_killed_leader_takes_nothing_with_it(cluster: Cluster, spark: SparkThread, tmp_path: Path) -> None:
    with AttachedLedger(_options(cluster, "kept"), tmp_path) as ledger:
        until(lambda: ledger.progress.acknowledged > 2_000 and ledger.is_in_sync, deadline_s=30, what="records")
        before = ledger.progress.acknowledged
        cluster.kill(1)
        until(lambda: ledger.progress.acknowledged > before + 4_000, deadline_s=90, what="records after it")
        start_again(cluster, 1)
        until(lambda: ledger.is_in_sync, deadline_s=60, what="every replica in sync")
    verdict = ledger.verdict(spark)
    assert verdict.promise is Promised.KEPT, verdict
    assert _agree(cluster, ledger.run).read >= before + 4_000
    assert "elections on" in " ".join(verdict.rests_on)
    assert "partition 0" in write_attach_page(ledger.run).read_text()
    delete_created(ledger.run, CLIENT)


def test_acks_1_loses_what_followers_had_not_fetched(cluster: Cluster, spark: SparkThread, tmp_path: Path) -> None:
    options = _options(cluster, "acks-1", acks=Acks.LEADER, creates=NewTopicAsked(partitions=3))
    with AttachedLedger(options, tmp_path) as ledger:
        until(lambda: ledger.progress.acknowledged > 1_000 and ledger.is_in_sync, deadline_s=30, what="records")
        leader = ledger.watcher.latest[0].leader
        others = [one for one in (1, 2, 3) if one != leader]
        cluster.pause(others[0])
        cluster.pause(others[1])
        before = ledger.progress.acknowledged
        until(lambda: ledger.progress.acknowledged > before + 500, deadline_s=10, what="records that only one has")
        cluster.kill(leader)
        cluster.resume(others[0])
        cluster.resume(others[1])
        until(lambda: ledger.watcher.latest[0].leader in others, deadline_s=60, what="another leader")
        ledger.stop()
        ledger.done(150)
        start_again(cluster, leader)
    verdict = ledger.verdict(spark)
    assert verdict.promise is Promised.ALLOWED_BY_SETTINGS, verdict
    assert len(_agree(cluster, ledger.run).lost) >= 100
    delete_created(ledger.run, CLIENT)


def test_tails_that_were_cut_off_are_a_broken_promise(cluster: Cluster, spark: SparkThread, tmp_path: Path) -> None:
    options = _options(cluster, "cut", records=400, rate=100, creates=NewTopicAsked(partitions=1))
    with AttachedLedger(options, tmp_path) as ledger:
        assert ledger.done(60)
    topic = ledger.attached.topic
    cluster.kill(1, 2, 3)
    for broker in (1, 2, 3):
        _cut_tail(cluster, broker, f"{topic}-0/00000000000000000000.log")
    start_again(cluster, 1, 2, 3)
    verdict = ledger.verdict(spark)
    lost = _agree(cluster, ledger.run).lost
    assert verdict.promise is Promised.BROKEN, verdict
    assert 0 < len(lost) < 400
    assert max(lost) == ledger.attached.base + 399
    assert len(lost) == ledger.attached.base + 400 - min(lost)
    delete_created(ledger.run, CLIENT)


def _cut_tail(cluster: Cluster, broker: int, file: str) -> None:
    """Cut a third off a log, in the midst of a batch: recovery cuts to the batch before."""
    path = cluster.data_directory(broker) / file
    os.truncate(path, path.stat().st_size * 2 // 3)


def test_a_topic_that_others_write_to_is_refused_unless_told(
    cluster: Cluster, spark: SparkThread, tmp_path: Path
) -> None:
    with AttachedLedger(_options(cluster, "others", records=300), tmp_path) as first:
        assert first.done(60)
    named = _options(cluster, first.attached.topic, creates=None, records=200)
    with pytest.raises(UsageError, match="300 records of others"):
        begin(named, tmp_path)
    with AttachedLedger(replace(named, beside_others=True, records=None, rate=100), tmp_path) as others:
        until(lambda: others.progress.acknowledged > 100, deadline_s=30, what="records of others")
        with AttachedLedger(replace(named, beside_others=True), tmp_path) as second:
            assert second.done(60)
        verdict = second.verdict(spark)
    assert verdict.promise is Promised.KEPT, verdict
    assert counted_of(second.run).foreign > 0
    with pytest.raises(UsageError, match="was not created here"):
        delete_created(second.run, CLIENT)
    delete_created(first.run, CLIENT)


def test_a_partition_that_was_reassigned_to_fewer_replicas_is_whole(cluster: Cluster, tmp_path: Path) -> None:
    named = _options(cluster, "unequal", creates=None)
    admin = AdminClient(connection_of(named))
    (made,) = admin.create_topics([NewTopic("unequal", 2, replica_assignment=[[1, 2, 3], [1, 2, 3]])]).values()
    made.result(30)
    until(lambda: _answering_leaders(named) == 2, deadline_s=30, what="leaders that answer", interval_s=0.5)
    with AttachedLedger(named, tmp_path) as ledger:
        until(lambda: ledger.is_in_sync, deadline_s=20, what="every replica in sync")
        request_reassignment(cluster, 1, "unequal", (BrokerId(1), BrokerId(2)))
        until(lambda: len(ledger.watcher.latest[0].isr) == 2, deadline_s=30, what="the reassignment")
        until(lambda: ledger.is_in_sync, deadline_s=20, what="every replica in sync again")
        assert ledger.one_at_a_time.why_not() is None
    delete_anywhere(connection_of(named), "unequal")


def test_a_ledger_that_was_killed_is_gone_on_with(cluster: Cluster, spark: SparkThread, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance.cli", "attach", "--bootstrap-server", cluster.bootstrap]
    command += ["--create", "killed", "--duration", "5m", "--runs-dir", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        until(lambda: len(list(tmp_path.glob("*/ledger/outcomes-*.parquet"))) >= 3, deadline_s=60, what="outcomes")
        process.send_signal(signal.SIGKILL)
    (run,) = map(RunDirectory, tmp_path.iterdir())
    assert read_attached(run).phase is Phase.PRODUCING
    verdict = finish(run, CLIENT, 60, spark)
    assert verdict.promise is Promised.KEPT, verdict
    assert counted_of(run).told("indeterminate") > 0
    assert _agree(cluster, run).acknowledged >= 1_000
    delete_created(run, CLIENT)


def test_a_partition_without_a_leader_decides_nothing_yet(cluster: Cluster, spark: SparkThread, tmp_path: Path) -> None:
    options = _options(cluster, "alone", records=200, creates=NewTopicAsked(partitions=1, replicas=1))
    with AttachedLedger(options, tmp_path) as ledger:
        assert ledger.done(60)
    leader = ledger.watcher.latest[0].leader
    cluster.kill(leader)
    with pytest.raises(NotAtRestError, match=r"partition 0 has (no|a) leader"):
        finish(ledger.run, CLIENT, 10, spark)
    start_again(cluster, leader)
    assert finish(ledger.run, CLIENT, 60, spark).promise is Promised.KEPT
    delete_created(ledger.run, CLIENT)


def test_a_leader_that_is_cut_off_and_alone_answers_accuses_nobody(
    cluster: Cluster, spark: SparkThread, tmp_path: Path
) -> None:
    options = _options(cluster, "cut-off", records=100, creates=NewTopicAsked(partitions=1))
    with AttachedLedger(options, tmp_path) as first:
        assert first.done(60)
    leader = first.watcher.latest[0].leader
    others = [one for one in (1, 2, 3) if one != leader]
    away = [one for one in cluster.spec.nodes if one != Node(ProcessRole.BROKER, leader)]
    named = replace(options, topic=first.attached.topic, creates=None, records=300, beside_others=True)
    named = replace(named, bootstrap=tuple(map(cluster.client_address, others)))
    with _paused(cluster, [Node(ProcessRole.BROKER, leader)]):
        until(lambda: _leader_of(named) in others, deadline_s=150, what="another leader", interval_s=1)
        with AttachedLedger(named, tmp_path) as ledger:
            assert ledger.done(60)
        assert ledger.progress.acknowledged == 300
        for one in away:
            cluster.backend.pause(one)
    attached = note(ledger.run, read_attached(ledger.run), bootstrap=cluster.client_address(leader))
    with _paused(cluster, away):
        alone = _at_rest(ledger.run, attached, CLIENT, 15)
    assert alone.ends == attached.starts, "the high watermark of before"
    assert "not every broker that is to have it names the same leader" in (alone.unread or "")
    assert alone.is_at_rest is False
    verdict = finish(ledger.run, CLIENT, 90, spark)
    assert verdict.promise is Promised.KEPT, verdict
    delete_created(first.run, CLIENT)


def _leader_of(options: LedgerOptions) -> int | None:
    with connected(options.bootstrap, CLIENT, PATIENCE_S) as manager:
        seen = TopicOfClients(manager, options.topic).seen()
    return seen.partitions[0].leader if seen else None


def _answering_leaders(options: LedgerOptions) -> int:
    with connected(options.bootstrap, CLIENT, PATIENCE_S) as manager:
        topic = TopicOfClients(manager, options.topic)
        seen = topic.seen()
        return len(topic.offsets(seen.partitions)) if seen else 0


@contextmanager
def _paused(cluster: Cluster, nodes: list[Node]) -> Iterator[None]:
    for one in nodes:
        cluster.backend.pause(one)
    try:
        yield
    finally:
        for one in nodes:
            cluster.backend.resume(one)


def test_a_topic_that_was_deleted_and_created_again_is_another_one(
    cluster: Cluster, spark: SparkThread, tmp_path: Path
) -> None:
    options = _options(cluster, "again", records=300, settle_s=5, creates=NewTopicAsked(partitions=1))
    with AttachedLedger(options, tmp_path) as ledger:
        assert ledger.done(60)
    delete_created(ledger.run, CLIENT)
    until(lambda: _is_created_again(options), deadline_s=30, what="the topic to be created again", interval_s=1)
    if ledger.attached.topic_id is None:
        verdict = finish(ledger.run, CLIENT, 60, spark)
        assert verdict.promise is Promised.INCONCLUSIVE, verdict
        assert "was the topic deleted and created again?" in verdict.reason
        return
    with pytest.raises(NotAtRestError, match="deleted and created again"):
        ledger.verdict(spark)
    with pytest.raises(UsageError, match=r"is not deleted: .* deleted and created again"):
        delete_created(ledger.run, CLIENT)


def _is_created_again(options: LedgerOptions) -> bool:
    try:
        create_where_brokers_like(connection_of(options), topic_of(options), 1, 3, {})
    except TopicError as error:
        raise NotYetError(str(error)) from error
    return True


def test_what_somebody_had_deleted_is_neither_allowed_nor_broken(
    cluster: Cluster, spark: SparkThread, tmp_path: Path
) -> None:
    options = _options(cluster, "deleted", records=300, creates=NewTopicAsked(partitions=1))
    with AttachedLedger(options, tmp_path) as ledger:
        assert ledger.done(60)
    admin = AdminClient(connection_of(options))
    (asked,) = admin.delete_records([TopicPartition(ledger.attached.topic, 0, 100)]).values()
    assert asked.result(30).low_watermark == 100
    verdict = ledger.verdict(spark)
    assert verdict.promise is Promised.INCONCLUSIVE, verdict
    assert counted_of(ledger.run).total("deleted") == 100
    assert "retention was off" in verdict.reason or "cannot be seen" in verdict.reason
    delete_created(ledger.run, CLIENT)


def test_a_team_has_a_ledger_in_a_test_of_its_own(
    cluster: Cluster, spark: SparkThread, ledger: Callable[..., AttachedLedger]
) -> None:
    with ledger(cluster.bootstrap, create="own", rate=500) as running:
        until(lambda: running.progress.acknowledged > 300, deadline_s=30, what="records")
    assert running.verdict(spark).promise == "kept"
    delete_created(running.run, CLIENT)


def test_the_command_runs_what_breaks_the_cluster_and_notes_it(cluster: Cluster, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance.cli", "attach", "--bootstrap-server", cluster.bootstrap, "--json"]
    command += ["--create", "told", "--duration", "6s", "--runs-dir", str(tmp_path), "--delete-created"]
    command += [
        "--fault-command",
        "echo one; exit 3",
        "--at",
        "1s",
        "--fault-command",
        "sleep 9; echo two",
        "--at",
        "2s",
    ]
    command += ["--fault-command", "echo three", "--at", "5s"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert told.returncode == 0, told.stderr
    (run,) = map(RunDirectory, tmp_path.iterdir())
    failed, ended = read_commands(run)
    assert (failed.exit_code, (run.path / failed.output).read_text()) == (3, "one\n")
    assert (ended.exit_code, (run.path / ended.output).read_text()) == (0, "two\n")
    assert "2 commands were run against the cluster, 1 of them failed" in told.stdout
    assert [one["command"] for one in json.loads(told.stdout)["commands_not_run"]] == ["echo three"]
    assert "1 of 3 commands were not run: 'echo three' (due at 5 s)" in told.stdout
    assert "runs sleep 9; echo two" in told.stderr
    assert "not run: echo three" in told.stderr
    assert "deleted topic kafka-conformance-told" in told.stderr
