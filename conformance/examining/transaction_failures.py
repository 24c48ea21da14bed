"""Which brokers die while a script of transactions is performed, and who takes over?

The topics of coordinators have three replicas here, so that another broker has the transaction log. Each broker that
was killed runs again when the script is over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.clients.topics import TopicError, create_spread_topic
from fault_injection.waiting import until
from oracle.transactions.play import PARTITIONS
from oracle.transactions.script import ALONE, TAKEN_OVER
from oracle.vocabulary import CONSUMER_OFFSETS, TRANSACTION_STATE

if TYPE_CHECKING:
    from conformance.clients.transactional_requests import TransactionalRequests
    from conformance.examining.examination_cluster import ExaminationCluster

DEADLINE_S = 40.0
BROKERS = (1, 2, 3)
THERE_ALREADY = "TOPIC_ALREADY_EXISTS"


def have_coordinators_replicated(place: ExaminationCluster) -> None:
    """Have the topics of coordinators with a replica on each broker: a broker would create them with one.

    Raises:
        TopicError: they were not created.
    """
    for topic in (TRANSACTION_STATE, CONSUMER_OFFSETS):
        try:
            create_spread_topic(place.addresses, topic, [BROKERS[::-1]], {"cleanup.policy": "compact"})
        except TopicError as refused:
            if refused.error != THERE_ALREADY:
                raise


@dataclass(slots=True)
class BrokerFailures:
    """The brokers that one script kills.

    Attributes:
        place: their cluster.
        requests: of the script, which are to go to whoever takes over.
        topic: the script's.
        killed: those that do not run.
    """

    place: ExaminationCluster
    requests: TransactionalRequests
    topic: str
    killed: list[int] = field(default_factory=list)

    def fail_over(self) -> str:
        """Kill the coordinator, and wait until another broker is it.

        Raises:
            DeadlineExceededError: none is.
        """
        former = self.requests.coordinator()
        self._await_in_sync(TRANSACTION_STATE, 0, former)
        self._kill(former)
        self._follow(former)

        def another() -> bool:
            self.requests.forget_coordinators()
            return self.requests.coordinator() != former

        until(another, deadline_s=DEADLINE_S, what="another broker to coordinate")
        return TAKEN_OVER

    def kill_leader(self, partition: int) -> str:
        """Kill the leader of a partition, and wait until another broker leads it.

        Raises:
            DeadlineExceededError: none does.
        """
        former = self.requests.leader_of(partition)
        self._await_in_sync(self.topic, partition, former)
        self._kill(former)
        self._follow(former)
        return TAKEN_OVER

    def lose_follower(self, partition: int) -> str:
        """Kill the follower of a partition with two replicas, and wait until its leader has left it out of the ISR.

        Raises:
            DeadlineExceededError: it has not.
        """
        leader = self.requests.leader_of(partition)
        (follower,) = set(self.place.metadata(leader, self.topic, partition).replicas) - {leader}
        self._kill(follower)
        self._follow(follower)
        until(
            lambda: self.place.metadata(leader, self.topic, partition).isr == (leader,),
            deadline_s=DEADLINE_S,
            what=f"broker {leader} to be alone in the ISR of partition {partition}",
        )
        return ALONE

    def elect_uncleanly(self, partition: int) -> str:
        """Kill the leader that is alone in the ISR, start the follower that was killed, and wait until it leads.

        Raises:
            DeadlineExceededError: it does not.
        """
        follower, leader = self.killed[-1], self.requests.leader_of(partition)
        self._kill(leader)
        self.place.start(follower)
        self.killed.remove(follower)
        self._follow(leader)
        return TAKEN_OVER

    def close(self) -> None:
        """Start every broker that was killed, and wait until it is registered."""
        if self.killed:
            self.place.start(*self.killed)

    def _await_in_sync(self, topic: str, partition: int, leader: int) -> None:
        """Wait until every replica has what the leader has: the one that is elected lacks nothing."""
        until(
            lambda: set(self.place.metadata(leader, topic, partition).isr) == set(BROKERS),
            deadline_s=DEADLINE_S,
            what=f"every replica of {topic}-{partition} to be in sync",
        )

    def _kill(self, broker: int) -> None:
        self.killed.append(broker)
        self.place.kill(broker)

    def _follow(self, broker: int) -> None:
        """Have requests go to whoever leads what a broker led."""
        for partition in range(PARTITIONS):
            if self.requests.leader_of(partition) == broker:
                self.requests.moved(partition, self._next_leader(partition, broker))

    def _next_leader(self, partition: int, former: int) -> int:
        asked = next(broker for broker in BROKERS if broker not in self.killed)

        def leader() -> int | None:
            found = self.place.metadata(asked, self.topic, partition).leader
            return found if found not in (None, former) and found in BROKERS else None

        return until(leader, deadline_s=DEADLINE_S, what=f"another broker to lead partition {partition}")
