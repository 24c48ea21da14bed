"""What is kept of the brokers once a run has ended? Logs, properties, checkpoints, replica logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.replica_logs import LogEntry, write_replica_logs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.probes.replica_probe import ProbedNumbers, ReplicaProbe
    from conformance.record.directory import RunDirectory
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.vocabulary import BrokerId

CHECKPOINTS = ("replication-offset-checkpoint", "recovery-point-offset-checkpoint")


def keep_replica_logs(run: RunDirectory, probe: ReplicaProbe, numbers: Mapping[BrokerId, ProbedNumbers]) -> None:
    """Decode the segment files of every replica into replica_logs/."""
    entries = [
        LogEntry(
            broker=broker,
            offset=record.offset,
            record_id=record.record_id,
            leader_epoch=record.leader_epoch,
            value_matches=record.value_matches,
            high_watermark=replica.high_watermark,
        )
        for broker, replica in numbers.items()
        for record in probe.log(broker).records
    ]
    write_replica_logs(run, entries)


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
                (directory / name.rsplit("/", maxsplit=1)[-1]).write_bytes(
                    cluster.read_file(broker, name, f"{topic}-0")
                )


def keep_node_logs(run: RunDirectory, cluster: Cluster, *, but: tuple[BrokerId, ...] = ()) -> None:
    """Keep the logs of all nodes, the controller or ZooKeeper among them, but for brokers whose files are kept."""
    named = {cluster.node(broker).name for broker in but}
    for name, log in cluster.node_logs().items():
        if name not in named:
            directory = run.path / "brokers" / name
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "server.log").write_text(log, encoding="utf-8")
