"""Which partition state has the controller committed?

| metadata mode | read from | leader, epoch, ISR | ELR |
|---|---|---|---|
| ZooKeeper | ``/brokers/topics/T/partitions/P/state`` | the committed state itself | no |
| KRaft from 3.8 | DescribeTopicPartitions of every live broker | the newest view among them | yes |
| KRaft before | Metadata of every live broker | the newest view among them | no |

A KRaft broker shows the metadata log as far as it has applied it. The newest view is the one with the highest
leader epoch; at rest all views are equal.
"""

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from conformance.probes.connection import (
    NOBODY,
    UNKNOWN_TOPIC_OR_PARTITION,
    BrokerConnection,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    ProbeError,
    partition_metadata,
)
from oracle.error_codes import error_name

# How does the tester read ZooKeeper without a session per question and without noise?


TIMEOUT_S_DEFAULT = 10.0
_LOG = logging.getLogger("conformance.probes.zookeeper")
_LOG.addHandler(logging.NullHandler())  # a lost connection shows in the probe that needed it
_LOG.propagate = False


class ZooKeeperSession:
    """One read-only-by-habit ZooKeeper client per cluster, connected when first used."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S_DEFAULT) -> None:
        self.address = address
        self._timeout_s = timeout_s
        self._client: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def client(self) -> Any:  # noqa: ANN401 - kazoo is untyped
        """Return the connected client.

        Raises:
            ProbeError: ZooKeeper cannot be reached in time.
        """
        if self._client is None:
            client = KazooClient(hosts=self.address, timeout=self._timeout_s, logger=_LOG)
            try:
                client.start(timeout=self._timeout_s)
            except KazooTimeoutError as failed:
                client.stop()
                client.close()
                raise ProbeError(self.address, "ZooKeeper cannot be reached") from failed
            self._client = client
        return self._client

    def close(self) -> None:
        """End the session and its threads."""
        if self._client is not None:
            self._client.stop()
            self._client.close()
            self._client = None


DESCRIBE_VERSION = 0
ISR_NOTICES = "/isr_change_notification"
"""Where leaders write in ZooKeeper that they have changed an ISR, up to 2.6 (ReplicationUtils.propagateIsrChanges)."""


@dataclass(frozen=True, slots=True)
class CommittedPartition:
    """A partition's committed state.

    Attributes:
        leader: the leader's broker id; None when the partition has none.
        leader_epoch: the epoch of its last leadership.
        isr: the in-sync replicas, in ascending order.
        elr: the eligible leader replicas, in ascending order; empty where the release has none (KIP-966).
        last_known_elr: the last known eligible leader replicas, likewise.
    """

    leader: int | None
    leader_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


def zookeeper_view(session: ZooKeeperSession, topic: str, partition: int) -> CommittedPartition | None:
    """Read a partition's state from ZooKeeper; None when there is no such partition.

    Raises:
        ProbeError: ZooKeeper does not answer, or the state is not what a controller writes.
    """
    content: bytes = b""
    path = f"/brokers/topics/{topic}/partitions/{partition}/state"
    try:
        content, _ = session.client().get(path)
        state = json.loads(content)
        return CommittedPartition(_broker(state["leader"]), int(state["leader_epoch"]), _ascending(state["isr"]))
    except NoNodeError:
        return None
    except (KazooException, TimeoutError) as failed:
        raise ProbeError(session.address, f"no answer: {str(failed) or type(failed).__name__}") from failed
    except (ValueError, KeyError, TypeError) as malformed:
        raise ProbeError(session.address, f"{path} holds {content!r}") from malformed


def zookeeper_replicas(session: ZooKeeperSession, topic: str, partition: int) -> tuple[int, ...]:
    """Read a partition's assigned replicas from ZooKeeper, preferred leader first.

    Raises:
        ProbeError: ZooKeeper does not answer, or the assignment is not what a controller writes.
    """
    replicas = zookeeper_assignment(session, topic).get(partition)
    if replicas is None:
        raise ProbeError(session.address, f"/brokers/topics/{topic} has no partition {partition}")
    return replicas


def zookeeper_assignment(session: ZooKeeperSession, topic: str) -> dict[int, tuple[int, ...]]:
    """Read the assigned replicas of each of a topic's partitions from ZooKeeper, preferred leader first.

    Raises:
        ProbeError: ZooKeeper does not answer, or the assignment is not what a controller writes.
    """
    content: bytes = b""
    path = f"/brokers/topics/{topic}"
    try:
        content, _ = session.client().get(path)
        return {int(number): tuple(map(int, them)) for number, them in json.loads(content)["partitions"].items()}
    except (KazooException, TimeoutError) as failed:
        raise ProbeError(session.address, f"no answer: {str(failed) or type(failed).__name__}") from failed
    except (ValueError, KeyError, TypeError, AttributeError) as malformed:
        raise ProbeError(session.address, f"{path} holds {content!r}") from malformed


def isr_notices(session: ZooKeeperSession) -> int:
    """Count how often a notice of a changed ISR was written in ZooKeeper by a leader, or removed by the controller.

    Raises:
        ProbeError: ZooKeeper does not answer.
    """
    try:
        _, stat = session.client().get(ISR_NOTICES)
    except NoNodeError:
        return 0
    except (KazooException, TimeoutError) as failed:
        raise ProbeError(session.address, f"no answer: {str(failed) or type(failed).__name__}") from failed
    return int(stat.children_version)


def broker_view(connection: BrokerConnection, topic: str, partition: int) -> CommittedPartition | None:
    """Ask a KRaft broker for the partition state as it has applied it; None when it knows no such partition.

    Raises:
        ProbeError: it does not answer, or with an unexpected error.
    """
    if connection.version_of(DescribeTopicPartitionsRequest, DESCRIBE_VERSION) is None:
        return _view_of_metadata(connection, topic, partition)
    asked = DescribeTopicPartitionsRequest.TopicRequest(name=topic)
    request = DescribeTopicPartitionsRequest(topics=[asked], response_partition_limit=2000)
    answer = connection.ask(request, DescribeTopicPartitionsResponse, DESCRIBE_VERSION).topics[0]
    if answer.error_code:
        name = error_name(answer.error_code)
        if name == UNKNOWN_TOPIC_OR_PARTITION:
            return None
        raise ProbeError(connection.address, f"DescribeTopicPartitions was answered with {name}", name)
    found = next((it for it in answer.partitions if it.partition_index == partition), None)
    return None if found is None else _view(found)


def newest(views: Iterable[CommittedPartition | None]) -> CommittedPartition | None:
    """Return the view with the highest leader epoch; None when nobody knows the partition."""
    known = [view for view in views if view is not None]
    return max(known, key=lambda view: view.leader_epoch, default=None)


def _view_of_metadata(connection: BrokerConnection, topic: str, partition: int) -> CommittedPartition | None:
    seen = partition_metadata(connection, topic, partition)
    if seen is None:
        return None
    if seen.leader_epoch is None:
        raise ProbeError(connection.address, "a KRaft broker told no leader epoch")
    return CommittedPartition(seen.leader, seen.leader_epoch, seen.isr)


def _view(found: Any) -> CommittedPartition:  # noqa: ANN401 - kafka-python is untyped
    return CommittedPartition(
        leader=_broker(found.leader_id),
        leader_epoch=int(found.leader_epoch),
        isr=_ascending(found.isr_nodes),
        elr=_ascending(found.eligible_leader_replicas or ()),
        last_known_elr=_ascending(found.last_known_elr or ()),
    )


def _broker(broker: int) -> int | None:
    return None if broker == NOBODY else int(broker)


def _ascending(brokers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(map(int, brokers)))
