"""On which brokers should a topic's replicas be? The command that moves them, with the file that it reads.

Replicas that are on live brokers stay where they are, their order too; only those that are missing, or all on one rack
of several, are put elsewhere: on racks that have none yet, and not all on the same broker.
"""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING

from conformance.audit.mends import SERVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.audit.cluster import BrokerSeen, PartitionSeen, TopicSeen


def reassign(topic: TopicSeen, wanted: int, brokers: Sequence[BrokerSeen]) -> str | None:
    """Return the command that gives each partition so many replicas; None if there are not so many live brokers.

    Args:
        topic: as it was read.
        wanted: replicas of a partition; one that has more keeps them.
        brokers: the live ones.
    """
    placed = [(one.number, placement(one, max(wanted, len(one.replicas)), brokers)) for one in topic.partitions]
    if any(len(replicas) < wanted for _, replicas in placed):
        return None
    partitions = [{"topic": topic.name, "partition": number, "replicas": replicas} for number, replicas in placed]
    content = json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))
    file = f"{topic.name}.json"
    command = f"kafka-reassign-partitions.sh {SERVER} --execute --reassignment-json-file {file}"
    return f"echo {quote(content)} > {file} && {command}"


def placement(partition: PartitionSeen, wanted: int, brokers: Sequence[BrokerSeen]) -> list[int]:
    """Return the brokers of a partition's replicas, as many as wanted if there are so many."""
    racks = {one.id: one.rack for one in brokers}
    placed = [one for one in partition.replicas if one in racks]
    if len(placed) == wanted > 1 and len({racks[one] for one in placed}) == 1 < len(set(racks.values())):
        placed = placed[:-1]
    turn = partition.number % len(brokers)
    free = [one.id for one in (*brokers[turn:], *brokers[:turn]) if one.id not in placed]
    while free and len(placed) < wanted:
        used = [racks[one] for one in placed]
        placed.append(min(free, key=lambda one: used.count(racks[one])))
        free.remove(placed[-1])
    return placed
