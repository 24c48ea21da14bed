"""When is a run's topic gone from a cluster that the next run uses?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.clients.topics import TopicError, delete_topic
from fault_injection.waiting import until

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster

DELETION_DEADLINE_S = 30.0


def require_all_running(cluster: Cluster) -> None:
    """Make sure that no broker keeps what it has of a topic because it does not run.

    Raises:
        TopicError: one ended by itself, and is down still.
    """
    if down := [broker for broker in cluster.spec.broker_ids if not cluster.is_alive(broker)]:
        raise TopicError(f"brokers {down} have ended by themselves, and keep what they have")


def remove_topic(cluster: Cluster, topic: str) -> None:
    """Delete a topic and wait until it is gone from every log directory.

    Raises:
        TopicError: the brokers refuse to.
        DeadlineExceededError: it does not go away.
    """
    addresses = [cluster.client_address(broker) for broker in cluster.live_brokers]
    delete_topic(addresses, topic)
    until(
        lambda: not any(_is_of(topic, name) for b in cluster.live_brokers for name in cluster.files(b)),
        deadline_s=DELETION_DEADLINE_S,
        what=f"topic {topic} to be gone from every log directory",
    )


def _is_of(topic: str, path: str) -> bool:
    """Say whether a data file lies in the directory of one of the topic's partitions."""
    folder, _, partition = path.partition("/")[0].rpartition("-")
    return folder == topic and partition.isdigit()
