"""How does a controller's decision reach the brokers? One request after the other, or by a log they read.

A ZooKeeper-era controller sends LeaderAndIsr to each registered broker, one request under way per broker; it says
nothing while nobody leads. In KRaft mode every broker that runs reads the metadata log: it sees that nobody leads,
reads on although it is fenced, and makes one change of all that it has missed.

Without it a decision would reach all brokers at one moment: there would be no zombie leaders.

UpdateMetadata takes the same way: behind the LeaderAndIsr that it tells of, since a batch of requests is sent in that
order. But when a broker registers, the controller first sends everybody what it knows, and only then decides: while
that UpdateMetadata stands still, the broker keeps the role that it had.

Sources: KafkaController.onBrokerStartup, ControllerChannelManager.RequestSendThread,
AbstractControllerBrokerRequestBatch; MetadataLoader, ReplicaManager.applyDelta.

Mutant: merges-decisions, which a question between two steps notices.
Mutant: tells-roles-before-metadata, likewise.
"""

from __future__ import annotations

from dataclasses import dataclass

from oracle.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class DecisionDelivery:
    """How decisions travel.

    Attributes:
        merges: a broker that has missed several hears only what they come to.
        tells_leaderless: brokers hear that nobody leads.
        reaches_unregistered: brokers that the controller has fenced, but that run, hear it too.
        tells_joins: the leader hears of a committed join apart from the answer to its request.
        tells_metadata_first: when a broker registers, UpdateMetadata goes before the decisions that follow.
    """

    rule: Rule
    merges: bool
    tells_leaderless: bool
    reaches_unregistered: bool
    tells_joins: bool
    tells_metadata_first: bool


LEADER_AND_ISR = DecisionDelivery(
    Rule(
        name="leader-and-isr-requests",
        source="ControllerChannelManager, ReplicaManager.becomeLeaderOrFollower",
        says="The controller tells each broker its decisions by LeaderAndIsr, one request after the other.",
    ),
    merges=False,
    tells_leaderless=False,
    reaches_unregistered=False,
    tells_joins=False,
    tells_metadata_first=True,
)
METADATA_LOG = DecisionDelivery(
    Rule(
        name="metadata-log",
        source="KIP-500, MetadataLoader, ReplicaManager.applyDelta",
        says="Brokers read the controller's decisions from the metadata log.",
    ),
    merges=True,
    tells_leaderless=True,
    reaches_unregistered=True,
    tells_joins=True,
    tells_metadata_first=False,
)
