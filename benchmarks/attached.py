"""Does a cluster keep every record while its brokers are killed? ``python -m benchmarks.attached --state DIR``.

Three brokers of a release, as child processes. A ledger writes with acks=all, or 1; every so many seconds a broker is
killed with SIGKILL, never while a replica catches up, and started again once the controller has noticed. Then the topic
is read back and judged as ``attach`` does, and every count is made again by DuckDB and kafka-python.
"""

from __future__ import annotations

import argparse
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from kafka import KafkaConsumer, TopicPartition

from conformance.attach.finishing import counted_of
from conformance.attach.ledger import ledger_beside
from conformance.line import NEWEST, line_named
from conformance.record.attached import read_attached
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, jars_of
from fault_injection.waiting import until
from oracle.vocabulary import Acks
from reports.attach_page import write_attach_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.attach.ledger import AttachedLedger
    from conformance.record.directory import RunDirectory
    from fault_injection.wire.proxy import GateProxy

SESSION_MS = 6_000
BACK_S = 120.0


def main() -> None:
    """Run it, and print the verdict and both counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", type=Path, required=True, help="where the ledger and the brokers' data go")
    parser.add_argument("--kafka", default=NEWEST, metavar="V")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=20, metavar="S", help="seconds between two kills")
    parser.add_argument("--rate", type=int, default=2500)
    parser.add_argument("--acks", choices=["all", "1"], default="all")
    asked = parser.parse_args()
    asked.state.mkdir(parents=True)
    with started(asked.kafka, asked.state / "brokers") as cluster:
        acks = Acks.ALL if asked.acks == "all" else Acks.LEADER
        beside = ledger_beside(
            cluster.bootstrap, create="killed", runs=asked.state / "runs", rate=asked.rate, acks=acks
        )
        with beside as ledger:
            kills = _break(cluster, ledger, time.monotonic() + 60 * asked.minutes, asked.every)
        verdict = ledger.verdict()
        print(f"{kills} kills; {verdict.promise.upper()}: {verdict.reason}")  # noqa: T201
        counted = counted_of(ledger.run)
        print(f"attempted {counted.attempted:,}, acknowledged {counted.told('acknowledged'):,}")  # noqa: T201
        again = recounted(cluster, ledger.run)
        same = "the same records" if again.lost == named_lost(ledger.run) else "OTHER RECORDS"
        print(f"lost {counted.total('lost'):,}; recounted: {again.words}, {same}")  # noqa: T201
        print(*verdict.rests_on, write_attach_page(ledger.run), sep="\n")  # noqa: T201


@contextmanager
def started(
    version: str,
    directory: Path,
    settings: Mapping[str, str] | None = None,
    gate: GateProxy | None = None,
    other_controllers: tuple[int, ...] = (),
) -> Iterator[Cluster]:
    """Start three brokers of a release that the controller misses after six seconds.

    Args:
        version: of Kafka.
        directory: for what the nodes write.
        settings: further ones of the brokers.
        gate: through which clients come that begin at ``client_links.relayed_bootstrap``; None for no such way.
        other_controllers: ids of KRaft controllers beside the first.
    """
    line = line_named(version)
    is_kraft = line.metadata is MetadataMode.KRAFT
    session = {"broker.session.timeout.ms" if is_kraft else "zookeeper.session.timeout.ms": str(SESSION_MS)}
    spec = ClusterSpec(
        line.release,
        line.metadata,
        controller_id=100 if is_kraft else None,
        overrides={**session, **(settings or {})},
        client_links=gate is not None,
        other_controller_ids=other_controllers,
    )
    with (
        closing(ProcessBackend()) as backend,
        closing(gate or DirectRelay()) as relay,
        Cluster.start(spec, jars_of(line.release), backend, relay, directory) as cluster,
    ):
        yield cluster


def start_again(cluster: Cluster, *brokers: int) -> None:
    """Start brokers that were killed once their registrations are gone; with ZooKeeper they would end at once."""
    for broker in brokers:
        await_unregistered(cluster, broker)
    for broker in brokers:
        cluster.start_broker(broker)
    await_registered(cluster, *brokers)


def _break(cluster: Cluster, ledger: AttachedLedger, until_s: float, every_s: float) -> int:
    """Kill brokers in turn, each when every replica is in sync again; return how many were."""
    for kills, broker in enumerate(cycle(cluster.spec.broker_ids), start=1):
        due = time.monotonic() + every_s
        until(lambda: ledger.is_in_sync, deadline_s=BACK_S, what="every replica in sync")
        cluster.kill(broker)
        until(lambda: not ledger.is_in_sync, deadline_s=BACK_S, what="the controller to notice")
        start_again(cluster, broker)
        until(lambda due=due: ledger.done(0) or time.monotonic() >= due, deadline_s=2 * every_s, what="the next kill")
        if time.monotonic() >= until_s:
            until(lambda: ledger.is_in_sync, deadline_s=BACK_S, what="every replica in sync")
            return kills
    raise AssertionError("a cluster has brokers")


@dataclass(frozen=True, slots=True)
class Recounted:
    """What is counted without Spark: the topic by kafka-python, what was acknowledged by DuckDB.

    Attributes:
        lost: ids of the records that were acknowledged and are not there.
    """

    acknowledged: int
    lost: frozenset[int]
    read: int
    duplicated: int

    @property
    def words(self) -> str:
        """Return the counts for a person to read."""
        lost = f"{self.acknowledged:,} acknowledged, {len(self.lost):,} lost"
        return f"{lost}, {self.read:,} read, {self.duplicated:,} there twice"


def named_lost(run: RunDirectory) -> frozenset[int]:
    """Return the ids of the records that the ledger's own reading calls lost."""
    rows = duckdb.sql(f"select record_id from '{run.path}/reconciliation/not_kept/*.parquet' where lost").fetchall()  # noqa: S608
    return frozenset(row[0] for row in rows)


def recounted(cluster: Cluster, run: RunDirectory) -> Recounted:
    """Count a ledger again, from the topic as it is now and the outcomes that were written."""
    attached, ids, copies = read_attached(run), set[int](), 0
    partitions = [TopicPartition(attached.topic, number) for number in range(attached.partitions)]
    addresses = [cluster.client_address(one) for one in cluster.live_brokers]
    with closing(KafkaConsumer(bootstrap_servers=addresses, enable_auto_commit=False)) as consumer:
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(partitions)
        while any(consumer.position(one) < ends[one] for one in partitions):
            for batch in consumer.poll(timeout_ms=1000, max_records=20_000).values():
                copies += len(batch)
                ids.update(int.from_bytes(one.key, "big") for one in batch)
    told = duckdb.sql(f"select record_id from '{run.path}/ledger/outcomes-*.parquet' where outcome = 'acknowledged'")  # noqa: S608
    acknowledged = {row[0] for row in told.fetchall()}
    return Recounted(len(acknowledged), frozenset(acknowledged - ids), copies, copies - len(ids))


if __name__ == "__main__":
    main()
