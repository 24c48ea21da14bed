"""What are all replicas' numbers right now, whether their brokers run or not?

A live broker is asked; of a broker that is down the log end offset comes from its segment files and the high
watermark from its checkpoint, never above the log's end. One open connection per broker serves all probes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Protocol, Self

from conformance.probes.checkpoints import (
    HIGH_WATERMARK_FILE,
    LEADER_EPOCH_FILE,
    LOG_START_FILE,
    EpochStart,
    high_watermark_checkpoint,
    leader_epoch_checkpoint,
)
from conformance.probes.connection import BrokerConnection, PartitionMetadata, ProbeError, partition_metadata
from conformance.probes.controller import (
    CommittedPartition,
    ZooKeeperSession,
    broker_view,
    isr_notices,
    newest,
    zookeeper_replicas,
    zookeeper_view,
)
from conformance.probes.replica import Admission, admission, log_start_offset, replica_offsets
from conformance.probes.segments import LogOnDisk, replica_log
from oracle.vocabulary import BrokerId

WITHOUT_REPLICA = ("REPLICA_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION")
"""What a broker answers, by release, that was never told of its replica since it started."""


class ProbedCluster(Protocol):
    """What a probe needs to know of a cluster; ``fault_injection.cluster.lifecycle.Cluster`` has it."""

    @property
    def zookeeper_address(self) -> str | None:
        """``host:port`` of ZooKeeper; None in KRaft mode."""

    def client_address(self, broker: int) -> str:
        """``host:port`` of a broker's client listener."""

    def files(self, broker: int) -> Sequence[str]:
        """Relative paths of the files in a broker's log directory."""

    def read_file(self, broker: int, path: str, beside: str = "") -> bytes:
        """Content of one of those files; of those that each log directory has the one beside a replica's folder."""


@dataclass(frozen=True, slots=True)
class ProbedNumbers:
    """One replica's numbers.

    Attributes:
        log_end_offset: the offset that its next record will get.
        high_watermark: the first offset that it does not know to be committed.
        alive: whether its broker answered; else the numbers are those of its files.
        log_start_offset: the first offset that it serves.
    """

    log_end_offset: int
    high_watermark: int
    alive: bool
    log_start_offset: int = 0


@dataclass(frozen=True, slots=True)
class WrittenDown:
    """What stands on disk and in ZooKeeper beside a partition's numbers.

    Attributes:
        epoch_files: the pairs (leader epoch, first offset) of every answering replica.
        isr_notices: how often a notice of a changed ISR was written in ZooKeeper by a leader, or removed; 0 in KRaft.
    """

    epoch_files: Mapping[int, tuple[tuple[int, int], ...]]
    isr_notices: int


class ReplicaProbe:
    """Reads one partition's replicas; keeps its connections open until it is closed."""

    def __init__(self, cluster: ProbedCluster, topic: str, partition: int = 0) -> None:
        self._cluster = cluster
        self._topic = topic
        self._partition = partition
        self._connections: dict[BrokerId, BrokerConnection] = {}
        zookeeper = cluster.zookeeper_address
        self._zookeeper = None if zookeeper is None else ZooKeeperSession(zookeeper)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def numbers(
        self, alive: Mapping[BrokerId, bool], untold: Collection[int] = frozenset()
    ) -> dict[BrokerId, ProbedNumbers]:
        """Read every replica's numbers.

        Args:
            alive: the partition's replicas, and whether each one's broker runs.
            untold: the brokers that hear no decision: one that has started so does not know its replica, whose numbers
                are those of its files.

        Raises:
            ProbeError: a broker that runs does not answer, or has no such replica although it was told.
        """
        return {
            broker: self._numbers(broker, untold) if is_alive else self.resting_numbers(broker)
            for broker, is_alive in alive.items()
        }

    def _numbers(self, broker: BrokerId, untold: Collection[int]) -> ProbedNumbers:
        try:
            return self.live_numbers(broker)
        except ProbeError as refused:
            if broker not in untold or refused.error not in WITHOUT_REPLICA:
                raise
        return replace(self.resting_numbers(broker), alive=True)

    def live_numbers(self, broker: BrokerId) -> ProbedNumbers:
        """Ask a running broker for the numbers of its replica.

        Raises:
            ProbeError: it does not answer, or has no such replica.
        """
        end, high_watermark = replica_offsets(self._connection(broker), self._topic, self._partition)
        start = log_start_offset(self._connection(broker), self._topic, self._partition)
        return ProbedNumbers(end, high_watermark, alive=True, log_start_offset=start)

    def resting_numbers(self, broker: BrokerId) -> ProbedNumbers:
        """Read the numbers of a replica whose broker is down from its files."""
        end = self.log(broker).log_end_offset
        high_watermark = min(self._checkpointed(broker, HIGH_WATERMARK_FILE) or 0, end)
        start = self._checkpointed(broker, LOG_START_FILE) or 0
        return ProbedNumbers(end, high_watermark, alive=False, log_start_offset=start)

    def log(self, broker: BrokerId) -> LogOnDisk:
        """Decode a replica's segment files, whether its broker runs or not."""
        return replica_log(
            self._cluster.files(broker),
            lambda path: self._cluster.read_file(broker, path),
            self._topic,
            self._partition,
        )

    def checkpointed_high_watermark(self, broker: BrokerId) -> int | None:
        """Read the high watermark that a broker has on disk; None when it has written none yet."""
        return self._checkpointed(broker, HIGH_WATERMARK_FILE)

    def _checkpointed(self, broker: BrokerId, file: str) -> int | None:
        """Read the partition's offset from one of a broker's checkpoint files; None when it is in none."""
        if file not in self._cluster.files(broker):
            return None
        content = self._cluster.read_file(broker, file, f"{self._topic}-{self._partition}")
        return high_watermark_checkpoint(content).get((self._topic, self._partition))

    def epoch_starts(self, broker: BrokerId) -> tuple[EpochStart, ...]:
        """Read the leader epochs that a replica has on disk; none before 0.11."""
        path = f"{self._topic}-{self._partition}/{LEADER_EPOCH_FILE}"
        if path not in self._cluster.files(broker):
            return ()
        return leader_epoch_checkpoint(self._cluster.read_file(broker, path))

    def written_down(self, answering: Mapping[BrokerId, bool]) -> WrittenDown:
        """Read what stands on disk and in ZooKeeper beside the numbers.

        Raises:
            ProbeError: ZooKeeper does not answer.
        """
        read = {broker: self.epoch_starts(broker) for broker, answers in answering.items() if answers}
        pairs: dict[int, tuple[tuple[int, int], ...]] = {
            b: tuple((pair.leader_epoch, pair.start_offset) for pair in starts) for b, starts in read.items()
        }
        notices = 0 if self._zookeeper is None else isr_notices(self._zookeeper)
        return WrittenDown(pairs, notices)

    def metadata(self, broker: BrokerId) -> PartitionMetadata | None:
        """Ask a running broker whom it believes to lead; None when it knows no such partition.

        Raises:
            ProbeError: it does not answer.
        """
        return partition_metadata(self._connection(broker), self._topic, self._partition)

    def controller_view(self, live_brokers: Sequence[BrokerId]) -> CommittedPartition | None:
        """Read the committed partition state; None when nobody who can be asked knows the partition.

        Args:
            live_brokers: the brokers to ask in KRaft mode; the newest of their views is given.

        Raises:
            ProbeError: ZooKeeper, or one of these brokers, does not answer.
        """
        if self._zookeeper is not None:
            return zookeeper_view(self._zookeeper, self._topic, self._partition)
        return newest(self.broker_view(broker) for broker in live_brokers)

    def assigned(self, live_brokers: Sequence[BrokerId]) -> frozenset[tuple[int, ...]]:
        """Read which replicas are assigned, preferred leader first: one answer, or several while brokers disagree.

        Args:
            live_brokers: the brokers to ask in KRaft mode.

        Raises:
            ProbeError: ZooKeeper, or one of these brokers, does not answer.
        """
        if self._zookeeper is not None:
            return frozenset({zookeeper_replicas(self._zookeeper, self._topic, self._partition)})
        asked = (self.metadata(broker) for broker in live_brokers)
        return frozenset(seen.replicas for seen in asked if seen is not None)

    def broker_view(self, broker: BrokerId) -> CommittedPartition | None:
        """Ask one KRaft broker for the partition state as it has applied it.

        Raises:
            ProbeError: it does not answer.
        """
        return broker_view(self._connection(broker), self._topic, self._partition)

    def admission(self, broker: BrokerId) -> Admission:
        """Ask a running broker whether it would append a record sent with acks=all now; nothing is appended.

        Raises:
            ProbeError: it does not answer.
        """
        return admission(self._connection(broker), self._topic, self._partition)

    def close(self) -> None:
        """Close all connections; a later probe opens them again."""
        for connection in self._connections.values():
            connection.close()
        if self._zookeeper is not None:
            self._zookeeper.close()

    def _connection(self, broker: BrokerId) -> BrokerConnection:
        if broker not in self._connections:
            self._connections[broker] = BrokerConnection(self._cluster.client_address(broker))
        return self._connections[broker]
