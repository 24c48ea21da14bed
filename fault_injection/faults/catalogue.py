"""Which faults are there, what does each do, where can it be injected, and how is it healed?

What a single cluster lacks, ``available`` of the fault says in words. The releases of single protocol points are in
``point_releases``.
"""

from dataclasses import dataclass
from typing import Literal

from fault_injection.cluster.spec import ClusterSpec
from fault_injection.wire.codec import api_name
from fault_injection.wire.points import POINTS

Family = Literal["process", "disk", "network", "frame"]
BOTH = ("process", "docker")


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One fault, for people.

    Attributes:
        name: the fault's name.
        family: what it is done to.
        does: what it does, in one sentence.
        heals: how it is taken back, in one sentence.
        proof: what shows that it fired.
        backends: where it can be injected.
        since: the oldest release line that can meet it.
        needs: what a cluster must have for it, beside the release; empty if nothing.
    """

    name: str
    family: Family
    does: str
    heals: str
    proof: str
    backends: tuple[str, ...] = BOTH
    since: str = "0.10.2"
    needs: str = ""


_STARTS = "The broker is started again with the data that it has."
_GATE = "the relay between the nodes"
_PASSES = "Traffic passes again; what a blackhole stopped goes on, or its connections are reset."
_DISARMS = "It is disarmed, and frames that are held go on, are dropped or end with their connections."
_FRAME = "the frame that it caught"
_DOWN = "a broker that is down"

CATALOGUE: tuple[CatalogueEntry, ...] = (
    CatalogueEntry(
        "stop", "process", "A broker shuts down in order (SIGTERM) and hands its leaderships over.", _STARTS,
        "the exit code of the process",
    ),
    CatalogueEntry(
        "kill", "process", "A broker ends without a warning (SIGKILL).", _STARTS, "that SIGKILL ended the process",
    ),
    CatalogueEntry(
        "pause", "process", "A broker stands still: its connections stay and nothing answers.",
        "The broker goes on.", "that every thread of the process stands still",
    ),
    CatalogueEntry(
        "kill_together", "process", "Several brokers end without a warning, before anybody notices the first.",
        "They are started, in an order of choice.", "that SIGKILL ended each of the processes",
    ),
    CatalogueEntry(
        "lose_tail", "disk", "The end of a replica's log is lost, as what was not flushed is in a power cut.",
        "Nothing brings it back but replication.", "where the log ends", needs=_DOWN,
    ),
    CatalogueEntry(
        "lose_high_watermark_checkpoint", "disk", "The high watermark of a replica is lost on disk.",
        "The broker writes a new one.", "that the file has no line for the replica", needs=_DOWN,
    ),
    CatalogueEntry(
        "cut", "network", "A node does not hear another one, or neither hears the other.", _PASSES,
        "the frame or connection that it stopped", needs=_GATE,
    ),
    CatalogueEntry(
        "isolate", "network", "A broker hears nobody and nobody hears it.", _PASSES,
        "the frame or connection that it stopped", needs=_GATE,
    ),
    CatalogueEntry(
        "delay", "network", "What a node sends to another one arrives later.", "It arrives at once again.",
        "the frame that it delayed", needs=_GATE,
    ),
    CatalogueEntry(
        "hold_frame", "frame", "A frame at a protocol point waits, and what comes behind it with it.", _DISARMS,
        _FRAME, needs=_GATE,
    ),
    CatalogueEntry(
        "late_frame", "frame", "A request waits, and reaches its destination after its sender's connection has ended.",
        "It is disarmed, and what it held is thrown away.", _FRAME, needs=_GATE,
    ),
    CatalogueEntry(
        "drop_frame", "frame", "A frame at a protocol point is thrown away; its connection stays.",
        "It is disarmed, and connections on which an answer is still awaited are reset.", _FRAME, needs=_GATE,
    ),
    CatalogueEntry(
        "delay_frame", "frame", "A frame at a protocol point goes on later.", _DISARMS, _FRAME, needs=_GATE,
    ),
    CatalogueEntry(
        "close_frame", "frame", "A frame at a protocol point is thrown away and its connection reset.", _DISARMS,
        _FRAME, needs=_GATE,
    ),
    CatalogueEntry(
        "answer_frame", "frame", "A request is answered with an error of Kafka's in place of its destination.",
        _DISARMS, _FRAME, needs=_GATE,
    ),
)  # fmt: skip
"""Every fault, by family."""


# Which protocol points does a cluster have? Not every release sends every request.
#
# | request | who has it |
# |---|---|
# | FETCH of followers and consumers, Produce | every release |
# | OffsetsForLeaderEpoch of followers | 0.11 to 2.7: before, they need none; later, FETCH tells them (KIP-595) |
# | LeaderAndIsr, UpdateMetadata, StopReplica, ControlledShutdown | ZooKeeper mode |
# | AlterPartition, called AlterIsr up to 3.1 (KIP-497) | 2.7 and newer |
# | InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, TxnOffsetCommit of clients | 0.11 and newer (KIP-98) |
# | WriteTxnMarkers of coordinators | 0.11 and newer (KIP-98) |
# | AddPartitionsToTxn of leaders that verify | 3.6 and newer (KIP-890) |
# | BrokerRegistration, BrokerHeartbeat, FETCH of the metadata log (KIP-631, KIP-595) | KRaft mode |
#
# Sources: the rows of ``oracle.rules.by_version`` say the same of what the model needs; ``BrokerLifecycleManager``,
# ``ControllerChannelManager`` and ``AlterPartitionManager`` of Kafka 3.9.


_EPOCH_LOOKUP, _ALTER_PARTITION = 23, 56
_OF_ZOOKEEPER_MODE = frozenset({4, 5, 6, 7})
_OF_KRAFT_MODE = frozenset({62, 63})
_OF_CLIENTS = frozenset({"produce_request", "produce_response", "client_fetch_request", "client_fetch_response"})
_ADD_PARTITIONS, _WRITE_MARKERS = 24, 27
_OF_PRODUCERS = frozenset({22, _ADD_PARTITIONS, 25, 26, 28})
_OF_TRANSACTIONS = _OF_PRODUCERS | {_WRITE_MARKERS}


def why_no_point(name: str, spec: ClusterSpec) -> str:
    """Return why no frame at a point can pass the relay of a cluster; empty if one can."""
    kind, release = POINTS[name], spec.release
    api = api_name(kind.api_key)
    if kind.api_key in _OF_ZOOKEEPER_MODE and spec.is_kraft:
        return f"no {api} is sent in KRaft mode: brokers read the metadata log"
    if (kind.api_key in _OF_KRAFT_MODE or kind.fetches == "metadata") and not spec.is_kraft:
        return f"no {'fetch of the metadata log' if kind.fetches else api} is sent in ZooKeeper mode"
    if kind.api_key == _ALTER_PARTITION and not release.is_at_least(2, 7):
        return f"leaders of Kafka {release.version} write the in-sync replicas to ZooKeeper themselves"
    if kind.api_key == _EPOCH_LOOKUP and not (release.is_at_least(0, 11) and not release.is_at_least(2, 8)):
        return f"followers of Kafka {release.version} send no {api}"
    if kind.api_key in _OF_TRANSACTIONS and not release.is_at_least(0, 11):
        return f"Kafka {release.version} has no transactions"
    is_asked_by_leaders = kind.api_key == _ADD_PARTITIONS and release.is_at_least(3, 6)
    if (name in _OF_CLIENTS or kind.api_key in _OF_PRODUCERS) and not spec.client_links and not is_asked_by_leaders:
        return "clients reach the brokers directly (client_links)"
    return ""


def points_of(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the names of the points that a cluster has."""
    return tuple(name for name in POINTS if not why_no_point(name, spec))
