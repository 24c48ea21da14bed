"""On which brokers should a topic's replicas be? The command that moves them, with the file that it reads.

Replicas that are on registered brokers stay where they are, their order too, also while a broker is down; only those
that are missing, or all on one rack of several, are put elsewhere: on racks that have none yet, and not all on the same
broker. What may be the only copy is never moved away from: there is no command before its broker is back.
"""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING

from conformance.audit.audited import is_led
from conformance.audit.mends import SERVER

if TYPE_CHECKING:
    from conformance.audit.audited import Audited
    from conformance.audit.cluster import PartitionSeen, TopicSeen


def reassigned(mend: str, topic: TopicSeen, wanted: int, audited: Audited) -> tuple[str, str | None]:
    """Return a mend that moves replicas, in words and as a command: what has to be back before, there is none.

    Args:
        mend: in words.
        topic: as it was read.
        wanted: replicas of a partition; one that has more keeps them.
        audited: the brokers.
    """
    awaited = sorted({one for partition in topic.partitions for one in _awaited(partition, audited)})
    if awaited:
        brokers = f"broker{'s' if len(awaited) > 1 else ''} {', '.join(map(str, awaited))}"
        return f"bring {brokers} back first: nobody else may have all records; then {mend}", None
    leaderless = f"{mend}, once every partition has a leader"
    if staying := _staying_down(topic, audited):
        mend = f"{mend}, once {' and '.join(f'broker {one}' for one in staying)} is back, or unregistered"
    return (mend if all(map(is_led, topic.partitions)) else leaderless), reassign(topic, wanted, audited)


def _staying_down(topic: TopicSeen, audited: Audited) -> list[int]:
    """Return brokers of replicas that are down, and may come back: Kafka's tool takes none that is not up."""
    placed = {one for partition in topic.partitions for one in partition.replicas if not audited.is_nowhere(one)}
    return sorted(placed - audited.live)


def _awaited(partition: PartitionSeen, audited: Audited) -> frozenset[int]:
    """Return the brokers that are down and may have what nobody else has."""
    last = partition.isr or partition.eligible or partition.last_known or partition.replicas
    return frozenset(partition.isr if is_led(partition) else last) - audited.live


def reassign(topic: TopicSeen, wanted: int, audited: Audited) -> str | None:
    """Return the command that gives each partition so many replicas.

    None if there are not so many brokers, or a partition has no leader, or a broker of a replica is down.
    """
    if _staying_down(topic, audited) or any(not is_led(one) or _awaited(one, audited) for one in topic.partitions):
        return None
    placed = [(one.number, placement(one, max(wanted, len(one.replicas)), audited)) for one in topic.partitions]
    if any(len(replicas) < wanted for _, replicas in placed):
        return None
    partitions = [{"topic": topic.name, "partition": number, "replicas": replicas} for number, replicas in placed]
    content = json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))
    file = f"{topic.name}.json"
    command = f"kafka-reassign-partitions.sh {SERVER} --execute --reassignment-json-file {file}"
    return f"echo {quote(content)} > {file} && {command}"


def placement(partition: PartitionSeen, wanted: int, audited: Audited) -> list[int]:
    """Return the brokers of a partition's replicas, as many as wanted if there are so many."""
    brokers = audited.cluster.brokers
    racks = {one.id: one.rack for one in brokers}
    placed = [one for one in partition.replicas if not audited.is_nowhere(one)]
    told = [racks[one] for one in placed if one in racks]
    if len(told) == wanted > 1 and len(set(told)) == 1 < len(set(racks.values())):
        placed = placed[:-1]
    turn = partition.number % len(brokers)
    free = [one.id for one in (*brokers[turn:], *brokers[:turn]) if one.id not in placed]
    while free and len(placed) < wanted:
        used = [racks.get(one) for one in placed]
        placed.append(min(free, key=lambda one: used.count(racks[one])))
        free.remove(placed[-1])
    return placed
