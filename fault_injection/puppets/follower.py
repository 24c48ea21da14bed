"""How does the tester play a follower of a real leader?

A FETCH with a replica id counts as replication: the leader takes its offset for the follower's log end offset. Offset,
epochs and waiting time are chosen freely, so the puppet can be behind, in another epoch, or have a diverging log.

Sources: ``ReplicaManager.fetchMessages``, ``Partition.updateFollowerFetchState``; KIP-101, KIP-320, KIP-595, KIP-903.
"""

from fault_injection.cluster.relay import Address
from fault_injection.puppets.client import ConsumedFetch, fetched
from fault_injection.puppets.connection import OFFSETS_FOR_LEADER_EPOCH, PuppetConnection
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.wire.codec import epoch_response
from fault_injection.wire.views import NONE, EpochEndOffset, FetchedPartition


class FollowerPuppet:
    """A replica that fetches when and what it is told.

    Args:
        broker: its broker id.
        leader_address: of a listener of the real broker.
    """

    def __init__(self, broker: int, leader_address: Address) -> None:
        self.broker = broker
        self._connection = PuppetConnection(leader_address, f"broker-{broker}-fetcher-0")

    def fetch(
        self,
        topic: PuppetTopic,
        offset: int,
        *,
        leader_epoch: int = NONE,
        last_fetched_epoch: int = NONE,
        max_wait_ms: int = 0,
        version: int | None = None,
    ) -> FetchedPartition:
        """Fetch from the leader once.

        Args:
            topic: whose partition.
            offset: the fetch offset: what the leader takes for this replica's log end offset.
            leader_epoch: the current leader epoch that it claims (v9+); -1 is not checked.
            last_fetched_epoch: the epoch of its last record (v12+); -1 is not checked.
            max_wait_ms: how long the leader may park a fetch that gets no records.
            version: of the request; the newest common one if none is chosen.

        Returns:
            What the leader gave: error, high watermark, epochs of the records, diverging epoch.

        Raises:
            PuppetError: the broker does not answer.
        """
        fetch = ConsumedFetch(
            offset,
            replica_id=self.broker,
            leader_epoch=leader_epoch,
            last_fetched_epoch=last_fetched_epoch,
            max_wait_ms=max_wait_ms,
        )
        return fetched(self._connection, topic, fetch, version)

    def end_of_epoch(
        self, topic: PuppetTopic, leader_epoch: int, *, current_leader_epoch: int = NONE, version: int | None = None
    ) -> EpochEndOffset:
        """Ask the leader where an epoch ends (OffsetsForLeaderEpoch, 0.11+).

        Args:
            topic: whose partition.
            leader_epoch: the epoch asked about.
            current_leader_epoch: the leader epoch that it claims (v2+); -1 is not checked.
            version: of the request; the newest common one if none is chosen.

        Raises:
            PuppetError: the broker does not answer, or has no such request.
        """
        asked = {"partition": 0, "leader_epoch": leader_epoch, "current_leader_epoch": current_leader_epoch}
        values = {"replica_id": self.broker, "topics": [{"topic": topic.name, "partitions": [asked]}]}
        return epoch_response(self._connection.ask(OFFSETS_FOR_LEADER_EPOCH, values, version)).partitions[0]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
