"""Who commits an ISR change that a leader wants? From 2.7 the controller, on request.

While the request is under way the leader counts the maximal ISR (committed plus joining), so that
a replica the controller may already have added holds the high watermark back. Before, the leader
wrote the ISR to ZooKeeper itself, in one step.

The answer says what was committed, and its leader takes it if it is of the epoch in which it leads: whether it has
heard of it otherwise, by the metadata log, or has not heard yet who leads now, does not matter. An answer that comes
after a decision which its leader has heard is ignored: the wish that it answers is gone.

Source: KIP-497, Partition.PartitionState, Partition.handleAlterPartitionUpdate.

Mutant: writes-the-isr-itself, which a question between two steps notices.
Mutant: waits-for-the-metadata-log, likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.state import ControllerDecision, ReplicaState

RULE = Rule(
    name="maximal-isr",
    source="KIP-497, AlterIsr / AlterPartition",
    says="A leader asks the controller to change the ISR, and counts who may be in it until it is answered.",
)


def takes_answer(answer: ControllerDecision, leader: ReplicaState) -> bool:
    """Return whether a leader takes what the controller has decided on its request."""
    return answer.leader_epoch == leader.leader_epoch
