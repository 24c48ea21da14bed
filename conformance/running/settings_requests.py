"""How do a topic's durability settings change while it is in use? As the operators' tool of the release does it.

With ZooKeeper they are a node and a notice that brokers watch, in every release; in KRaft mode it is an
IncrementalAlterConfigs request (KIP-339).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from conformance.clients.configuration import quiet_configuration
from conformance.interruption import HarnessError
from conformance.running.asking_zookeeper import DEADLINE_S, asking_zookeeper

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster

NOTICE_PATH = "/config/changes/config_change_"


def request_settings(cluster: Cluster, asked: int, topic: str, configs: dict[str, str]) -> None:
    """Give a topic other settings; returns when the request is accepted.

    Args:
        cluster: the brokers.
        asked: the broker to ask in KRaft mode.
        topic: the topic.
        configs: every setting that the topic shall have from now on.

    Raises:
        HarnessError: nobody took the request.
    """
    zookeeper = cluster.zookeeper_address
    if zookeeper is not None:
        _write_nodes(zookeeper, topic, configs)
    else:
        _ask_broker(cluster.client_address(asked), topic, configs)


def _write_nodes(zookeeper: str, topic: str, configs: dict[str, str]) -> None:
    notice = {"version": 2, "entity_path": f"topics/{topic}"}
    with asking_zookeeper(zookeeper, "the settings could not be changed") as session:
        session.set(f"/config/topics/{topic}", json.dumps({"version": 1, "config": configs}).encode())
        session.create(NOTICE_PATH, json.dumps(notice).encode(), sequence=True)


def _ask_broker(address: str, topic: str, configs: dict[str, str]) -> None:
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in configs.items()]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin = AdminClient(quiet_configuration(address))
    try:
        admin.incremental_alter_configs([resource])[resource].result(DEADLINE_S)
    except (KafkaException, TimeoutError) as failed:
        raise HarnessError(f"the settings could not be changed: {failed}") from failed
