"""Is the ledger of several producers exact, against what the topic holds? They go through the gate."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaConsumer, TopicPartition

from benchmarks.attached import started
from conformance.clients.records import record_id_of
from conformance.clients.topics import create_where_brokers_like
from conformance.record.directory import RunDirectory
from conformance.record.ledger import read_attempts, read_outcomes
from conformance.record.soak import ledger_directories
from conformance.soak.producing import SoakProducers
from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.releases import schema_jar
from fault_injection.wire.proxy import GateProxy
from oracle.vocabulary import ProduceOutcome
from tests.conformance.soak.soaks import soak

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.cluster.lifecycle import Cluster

pytestmark = [pytest.mark.broker, pytest.mark.timeout(300)]
ASKED = soak(records=40_003, partitions=5)


def test_every_record_is_where_its_producer_was_told(tmp_path: Path) -> None:
    run, gate = RunDirectory(tmp_path / "run"), GateProxy(schemas=schema_jar())
    gate.trace_to(tmp_path / "wire.ndjson")
    with started("4.4.0", tmp_path / "brokers", gate=gate) as cluster:
        create_where_brokers_like({"bootstrap.servers": cluster.bootstrap}, ASKED.topic, ASKED.partitions, 3, {})
        with SoakProducers(run, ASKED, {"bootstrap.servers": relayed_bootstrap(cluster)}) as producers:
            assert producers.done(120)
            told = producers.progress
        there = topic_of(cluster)
    assert (told.sent, told.acknowledged, told.unknown) == (40_003, 40_003, 0)
    assert [len(one) for one in there.values()] == [8_003, 8_000, 8_000, 8_000, 8_000]
    assert placed_by(run) == {
        record_id: (partition, offset) for partition, ids in there.items() for offset, record_id in enumerate(ids)
    }
    lines = (tmp_path / "wire.ndjson").read_text().splitlines()
    assert sum('"Produce' in line for line in lines) >= ASKED.producers, "producers go through the gate"


def placed_by(run: RunDirectory) -> dict[int, tuple[int, int | None]]:
    """Return where each record is, by what its producer was told; each was attempted and told of once."""
    placed: dict[int, tuple[int, int | None]] = {}
    for number, directory in enumerate(ledger_directories(run, ASKED)):
        attempts, outcomes = (read(RunDirectory(directory)) for read in (read_attempts, read_outcomes))
        assert {one.acks for one in attempts} == {int(ASKED.acks.of(number))}
        assert {one.outcome for one in outcomes} == {ProduceOutcome.ACKNOWLEDGED}
        first = ASKED.first_id(number)
        assert [one.record_id for one in attempts] == list(range(first, first + len(attempts)))
        assert Counter(one.record_id for one in outcomes) == Counter(one.record_id for one in attempts)
        partitions = {one.record_id: one.partition for one in attempts}
        placed |= {one.record_id: (partitions[one.record_id], one.offset) for one in outcomes}
    assert all(partition == (one - ASKED.base) % 2**32 % ASKED.partitions for one, (partition, _) in placed.items())
    return placed


def topic_of(cluster: Cluster) -> dict[int, list[int]]:
    """Return the ids of the records of each partition, by their offsets; each value is that of its key."""
    partitions = [TopicPartition(ASKED.topic, number) for number in range(ASKED.partitions)]
    ids: dict[int, list[int]] = {one.partition: [] for one in partitions}
    with closing(KafkaConsumer(bootstrap_servers=cluster.bootstrap.split(","), enable_auto_commit=False)) as consumer:
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(partitions)
        while any(consumer.position(one) < ends[one] for one in partitions):
            for batch in consumer.poll(timeout_ms=1000, max_records=20_000).values():
                for record in batch:
                    assert record.offset == len(ids[record.partition])
                    assert record_id_of(record.value) == int.from_bytes(record.key, "big")
                    ids[record.partition].append(int.from_bytes(record.key, "big"))
    return ids
