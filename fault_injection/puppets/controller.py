"""How does the tester play the controller of a real broker?

The puppet holds the office in ZooKeeper, sends what controllers send, with epochs of choice, and listens as the broker
that UpdateMetadata names as the controller: leaders from 2.7 on ask it to change their in-sync replicas (KIP-497).
Up to 2.6 they write them to ZooKeeper, where the puppet has put the partition's state.

Sources: ``ControllerChannelManager``, ``ReplicaManager.becomeLeaderOrFollower``, ``stopReplicas``,
``maybeUpdateMetadataCache``; KIP-380, KIP-497, KIP-570.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from fault_injection.cluster.relay import Address
from fault_injection.puppets.announcements import LiveBroker, Sender, leader_and_isr, stop_replica, update_metadata
from fault_injection.puppets.connection import (
    ALTER_PARTITION,
    LEADER_AND_ISR,
    STOP_REPLICA,
    UPDATE_METADATA,
    PuppetConnection,
    PuppetError,
    Values,
)
from fault_injection.puppets.controller_znode import ControllerZnode
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.puppets.server import IncomingRequest, PuppetServer
from fault_injection.wire import codec_controller
from fault_injection.wire.codec_controller import alter_partition
from fault_injection.wire.codec_schemas import Messages
from fault_injection.wire.controller_views import ErrorsView, PartitionLeadership, ProposedIsr, StoppedReplica
from fault_injection.wire.views import NONE

TOPIC_IS_DELETED = -2


class ControllerPuppet:
    """The controller of one real broker.

    Args:
        broker: the real broker's id and listeners.
        controller_id: the puppet's own broker id.
        zookeeper_address: ``host:port`` of the cluster's ZooKeeper.
        messages: what ``load_schemas`` gave.

    Attributes:
        epoch: the controller epoch of its requests unless another is chosen; the highest that was sent.
        isr_requests: the changes of in-sync replicas that the broker asked for, 2.7 and newer.
    """

    def __init__(self, broker: LiveBroker, controller_id: int, zookeeper_address: str, messages: Messages) -> None:
        self.broker_id, self.controller_id = broker.id, controller_id
        self._office = ControllerZnode(zookeeper_address, controller_id)
        self.epoch = self._office.first_epoch
        self.isr_requests = IsrRequests(self._commit)
        self.server = PuppetServer({ALTER_PARTITION: self.isr_requests.answer}, messages)
        self.server.listen()
        self._connection = PuppetConnection(broker.listeners["CLIENT"], str(controller_id), messages)
        self._live = {broker.id: broker}
        self._topics: list[PuppetTopic] = []
        self._is_closed = False
        self.announce_broker(controller_id, self.server.address)

    def announce_broker(self, broker: int, address: Address) -> None:
        """Name another live broker in all later requests; ``update_metadata`` tells the real one."""
        self._live[broker] = LiveBroker(broker, {"CLIENT": address, "REPLICATION": address})

    def create_topic(
        self, name: str, replicas: tuple[int, ...], configs: Mapping[str, str] = MappingProxyType({})
    ) -> PuppetTopic:
        """Write down a topic of one partition; no broker hears of it before a decision is sent.

        Args:
            name: of the topic; used once per run.
            replicas: the broker ids it is assigned to, preferred leader first.
            configs: topic settings, such as ``min.insync.replicas``; the broker reads them with its first decision.
        """
        topic = PuppetTopic(name, replicas)
        self._office.register(topic, configs)
        self._topics.append(topic)
        return topic

    def decide(self, leadership: PartitionLeadership) -> ErrorsView:
        """Commit a decision, tell the broker with UpdateMetadata and LeaderAndIsr, and return the latter's answer.

        Raises:
            PuppetError: the broker does not answer.
        """
        version = self._office.commit(leadership, self.epoch)
        committed = replace(leadership, partition_epoch=version)
        self.update_metadata(committed)
        return self.leader_and_isr(committed)

    def leader_and_isr(
        self,
        *decisions: PartitionLeadership,
        controller_epoch: int | None = None,
        broker_epoch: int = NONE,
        version: int | None = None,
    ) -> ErrorsView:
        """Send LeaderAndIsr and return the errors, for the request and by partition.

        Args:
            decisions: about partitions of different topics.
            controller_epoch: the puppet's own unless another is chosen.
            broker_epoch: the broker's registration it is meant for (v2+); -1 is not checked.
            version: of the request; the newest common one if none is chosen.

        Raises:
            PuppetError: the broker does not answer.
        """
        values = leader_and_isr(self._sender(controller_epoch, broker_epoch), decisions, self._live.values())
        return codec_controller.leader_and_isr_response(self._connection.ask(LEADER_AND_ISR, values, version))

    def update_metadata(
        self,
        *decisions: PartitionLeadership,
        controller_epoch: int | None = None,
        broker_epoch: int = NONE,
        version: int | None = None,
    ) -> ErrorsView:
        """Send UpdateMetadata about partitions and all live brokers, and return the error.

        Args and errors are those of ``leader_and_isr``.
        """
        values = update_metadata(self._sender(controller_epoch, broker_epoch), decisions, self._live.values())
        return codec_controller.plain_response(self._connection.ask(UPDATE_METADATA, values, version))

    def stop_replica(
        self,
        topic: PuppetTopic,
        *,
        is_deleted: bool,
        leader_epoch: int = NONE,
        controller_epoch: int | None = None,
        broker_epoch: int = NONE,
        version: int | None = None,
    ) -> ErrorsView:
        """Send StopReplica for the broker's replica of a topic and return the errors.

        Args:
            topic: whose replica.
            is_deleted: whether the replica's files go.
            leader_epoch: of the decision (v3+); -1 is not checked, ``TOPIC_IS_DELETED`` is above all.
            controller_epoch: the puppet's own unless another is chosen.
            broker_epoch: the broker's registration it is meant for (v1+); -1 is not checked.
            version: of the request; the newest common one if none is chosen.

        Raises:
            PuppetError: the broker does not answer.
        """
        stopped = StoppedReplica(topic.name, 0, is_deleted, leader_epoch)
        values = stop_replica(self._sender(controller_epoch, broker_epoch), stopped)
        return codec_controller.stop_replica_response(self._connection.ask(STOP_REPLICA, values, version))

    def broker_epoch(self) -> int:
        """Return the epoch of the real broker's registration."""
        return self._office.broker_epoch(self.broker_id)

    def isr(self, topic: PuppetTopic) -> tuple[int, ...]:
        """Return a topic's committed in-sync replicas, in ascending order."""
        return self._office.isr(topic)

    def unregister_broker(self) -> None:
        """Note that the real broker died: its registration goes, and the connection to it."""
        self._connection.close()
        self._office.unregister(self.broker_id)

    def is_broker_registered(self) -> bool:
        """Return whether the real broker is registered in ZooKeeper."""
        return self._office.is_registered(self.broker_id)

    def close(self) -> None:
        """Have the broker delete its replicas of the puppet's topics, and hand the office back to it; once."""
        if self._is_closed:
            return
        self._is_closed = True
        with contextlib.suppress(PuppetError):  # a broker that is dead deletes nothing
            for topic in self._topics:
                self.stop_replica(topic, is_deleted=True, leader_epoch=TOPIC_IS_DELETED)
        self._connection.close()
        self.server.close()
        self._office.leave(self.epoch)

    def _sender(self, controller_epoch: int | None, broker_epoch: int) -> Sender:
        sender = Sender(self.controller_id, self.epoch if controller_epoch is None else controller_epoch, broker_epoch)
        self.epoch = max(self.epoch, sender.controller_epoch)
        return sender

    def _commit(self, leadership: PartitionLeadership) -> int:
        """Commit a change that a leader asked for; from AlterPartition v2 on it knows the topic by id only."""
        name = leadership.topic or next(topic.name for topic in self._topics if topic.id == leadership.topic_id)
        return self._office.commit(replace(leadership, topic=name), self.epoch)


# What does a controller puppet answer a leader that wishes to change its in-sync replicas?
#
# The request is AlterPartition, or AlterIsr, which is its version 0. The puppet
# commits the wish, as a controller does that agrees, unless it was told to refuse with an error of choice.


Commit = Callable[[PartitionLeadership], int]
"""Writes a partition's state down and gives its partition epoch."""


class IsrRequests:
    """Answers AlterPartition and keeps what was asked for.

    Args:
        commit: called for every change that is granted.
    """

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._lock = threading.Lock()
        self._proposed: list[ProposedIsr] = []
        self._error = 0

    def refuse(self, error: int) -> None:
        """Answer every later request with an error code; 0 grants again."""
        with self._lock:
            self._error = error

    @property
    def proposed(self) -> tuple[ProposedIsr, ...]:
        """What leaders asked for so far, granted or not, oldest first."""
        with self._lock:
            return tuple(self._proposed)

    def answer(self, asked: IncomingRequest) -> Values:
        """Return the answer to one request."""
        view = alter_partition(asked.message)
        with self._lock:
            self._proposed += view.partitions
            error = self._error
        topics = [
            {
                "topic_name": wish.topic or "",
                "topic_id": wish.topic_id,
                "partitions": [self._decided(view.broker_id, wish, error)],
            }
            for wish in view.partitions
        ]
        return {"error_code": 0, "topics": topics}

    def _decided(self, leader: int, wish: ProposedIsr, error: int) -> dict[str, Any]:
        if error:
            return {"partition_index": wish.partition, "error_code": error}
        return {
            "partition_index": wish.partition,
            "error_code": 0,
            "leader_id": leader,
            "leader_epoch": wish.leader_epoch,
            "isr": list(wish.new_isr),
            "leader_recovery_state": wish.leader_recovery_state,
            "partition_epoch": self._commit(_committed(leader, wish)),
        }


def _committed(leader: int, wish: ProposedIsr) -> PartitionLeadership:
    return PartitionLeadership(
        topic=wish.topic,
        topic_id=wish.topic_id,
        partition=wish.partition,
        leader=leader,
        leader_epoch=wish.leader_epoch,
        isr=wish.new_isr,
        replicas=(),
        partition_epoch=wish.partition_epoch,
        controller_epoch=0,
    )
