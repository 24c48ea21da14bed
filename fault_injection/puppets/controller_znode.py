"""How does a puppet become the controller in ZooKeeper, and how does it hand the office back?

The real broker resigns when ``/controller`` names another one, and then decides nothing any more: no request
of its own crosses those of the puppet. The puppet keeps the partitions' states where brokers up to 2.6 write their
in-sync replicas themselves. When it leaves, ``/controller_epoch`` is the highest that the broker has seen,
so that the next controller, the real broker again, is obeyed.

Sources: ``KafkaController``, ``ZookeeperLeaderElector`` (0.10.2), ``ReplicationUtils.updateLeaderAndIsr``,
``ZkData.scala``; KIP-380 for broker epochs.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from fault_injection.cluster.readiness import zookeeper
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.wire.controller_views import PartitionLeadership

CONTROLLER, CONTROLLER_EPOCH = "/controller", "/controller_epoch"


class ControllerZnode:
    """The controller's office, held from construction until ``leave``.

    Args:
        zookeeper_address: ``host:port`` of the cluster's ZooKeeper.
        holder: the puppet's broker id.

    Attributes:
        first_epoch: the controller epoch the office was taken in, one above the last real controller's.
    """

    def __init__(self, zookeeper_address: str, holder: int) -> None:
        self._stack = ExitStack()
        self._client: Any = self._stack.enter_context(zookeeper(zookeeper_address))
        self._topics: list[PuppetTopic] = []
        self.first_epoch = int(self._client.get(CONTROLLER_EPOCH)[0]) + 1
        value = {"version": 1, "brokerid": holder, "timestamp": "0"}
        taking = self._client.transaction()
        taking.delete(CONTROLLER)
        taking.create(CONTROLLER, _json(value), ephemeral=True)
        taking.set_data(CONTROLLER_EPOCH, str(self.first_epoch).encode())
        _require(taking.commit())

    def broker_epoch(self, broker: int) -> int:
        """Return the epoch of a broker's registration (KIP-380): the transaction that created its node."""
        return int(self._client.get(f"/brokers/ids/{broker}")[1].czxid)

    def is_registered(self, broker: int) -> bool:
        """Return whether a broker has a registration."""
        return self._client.exists(f"/brokers/ids/{broker}") is not None

    def unregister(self, broker: int) -> None:
        """Remove the registration of a broker that is dead, before its session would have ended."""
        if self.is_registered(broker):
            self._client.delete(f"/brokers/ids/{broker}")

    def register(self, topic: PuppetTopic, configs: Mapping[str, str]) -> None:
        """Write down that a topic exists and how it is configured, without a state of its partition."""
        self._client.create(_config_path(topic), _json({"version": 1, "config": dict(configs)}), makepath=True)
        assignment = {"version": 1, "partitions": {"0": list(topic.replicas)}}
        self._client.create(f"/brokers/topics/{topic.name}", _json(assignment))
        self._topics.append(topic)

    def commit(self, leadership: PartitionLeadership, controller_epoch: int) -> int:
        """Write down a partition's state and return its version: what brokers call its partition epoch."""
        state = {
            "controller_epoch": controller_epoch,
            "leader": leadership.leader,
            "version": 1,
            "leader_epoch": leadership.leader_epoch,
            "isr": list(leadership.isr),
        }
        path = _state_path(leadership.topic, leadership.partition)
        if self._client.exists(path) is None:
            self._client.create(path, _json(state), makepath=True)
            return 0
        return int(self._client.set(path, _json(state)).version)

    def isr(self, topic: PuppetTopic) -> tuple[int, ...]:
        """Return a topic's committed in-sync replicas, in ascending order."""
        content, _ = self._client.get(_state_path(topic.name, 0))
        return tuple(sorted(json.loads(content)["isr"]))

    def leave(self, last_epoch: int) -> None:
        """Remove all topics and let the real brokers elect a controller with an epoch above ``last_epoch``."""
        for topic in self._topics:
            self._client.delete(f"/brokers/topics/{topic.name}", recursive=True)
            self._client.delete(_config_path(topic))
        if self._client.exists("/isr_change_notification") is not None:
            for noted in self._client.get_children("/isr_change_notification"):
                self._client.delete(f"/isr_change_notification/{noted}")
        self._client.set(CONTROLLER_EPOCH, str(last_epoch).encode())
        self._stack.close()


def _config_path(topic: PuppetTopic) -> str:
    return f"/config/topics/{topic.name}"


def _state_path(topic: str | None, partition: int) -> str:
    return f"/brokers/topics/{topic}/partitions/{partition}/state"


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _require(results: list[object]) -> None:
    for result in results:
        if isinstance(result, Exception):
            raise result
