"""What is kept of the brokers once a run has ended? Logs, properties, checkpoints, replica logs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.probes.replica_probe import ReplicaNumbers, ReplicaProbe
    from conformance.run_directory import RunDirectory
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.vocabulary import BrokerId
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")


@cache
def replica_logs_schema() -> pa.Schema:
    """Return the columns of what the replicas' segments hold."""
    return pa.schema(
        [
            ("broker", pa.int32()),
            ("offset", pa.int64()),
            ("record_id", pa.int64()),
            ("leader_epoch", pa.int32()),
            ("value_matches", pa.bool_()),
            ("high_watermark", pa.int64()),
        ]
    )


CHECKPOINTS = ("replication-offset-checkpoint", "recovery-point-offset-checkpoint")


def write_replica_logs(run: RunDirectory, probe: ReplicaProbe, numbers: Mapping[BrokerId, ReplicaNumbers]) -> None:
    """Decode the segment files of every replica into replica_logs/."""
    rows = [
        {
            "broker": broker,
            "offset": record.offset,
            "record_id": record.record_id,
            "leader_epoch": record.leader_epoch,
            "value_matches": record.value_matches,
            "high_watermark": replica.high_watermark,
        }
        for broker, replica in numbers.items()
        for record in probe.log(broker).records
    ]
    table = pa.Table.from_pylist(rows, schema=replica_logs_schema())
    pq.write_table(table, run.path / "replica_logs" / "replica_logs.parquet")


def keep_broker_files(run: RunDirectory, cluster: Cluster, topic: str, brokers: tuple[BrokerId, ...]) -> None:
    """Copy each broker's log, properties and checkpoint files."""
    for broker in brokers:
        directory = run.path / "brokers" / str(broker)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "server.log").write_text(cluster.log_text(broker), encoding="utf-8")
        (directory / "server.properties").write_text(cluster.settings(broker).text(), encoding="utf-8")
        for name in cluster.files(broker):
            is_epochs = name == f"{topic}-0/leader-epoch-checkpoint"
            if name in CHECKPOINTS or is_epochs:
                (directory / name.rsplit("/", maxsplit=1)[-1]).write_bytes(cluster.read_file(broker, name))


def keep_node_logs(run: RunDirectory, cluster: Cluster, *, but: tuple[BrokerId, ...] = ()) -> None:
    """Keep the logs of all nodes, the controller or ZooKeeper among them, but for brokers whose files are kept."""
    named = {cluster.node(broker).name for broker in but}
    for name, log in cluster.node_logs().items():
        if name not in named:
            directory = run.path / "brokers" / name
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "server.log").write_text(log, encoding="utf-8")
