"""What does a controller puppet answer a leader that wishes to change its in-sync replicas?

The request is AlterPartition, or AlterIsr, which is its version 0. The puppet
commits the wish, as a controller does that agrees, unless it was told to refuse with an error of choice.
"""

import threading
from collections.abc import Callable
from typing import Any

from fault_injection.puppets.schema import Values
from fault_injection.puppets.server import Asked
from fault_injection.wire.codec_controller import alter_partition
from fault_injection.wire.controller_views import PartitionLeadership, ProposedIsr

Commit = Callable[[PartitionLeadership], int]
"""Writes a partition's state down and gives its partition epoch."""


class IsrRequests:
    """Answers AlterPartition and keeps what was asked for.

    Args:
        commit: called for every change that is granted.
    """

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self._lock = threading.Lock()
        self._proposed: list[ProposedIsr] = []
        self._error = 0

    def refuse(self, error: int) -> None:
        """Answer every later request with an error code; 0 grants again."""
        with self._lock:
            self._error = error

    @property
    def proposed(self) -> tuple[ProposedIsr, ...]:
        """What leaders asked for so far, granted or not, oldest first."""
        with self._lock:
            return tuple(self._proposed)

    def answer(self, asked: Asked) -> Values:
        """Give the answer to one request."""
        view = alter_partition(asked.message)
        with self._lock:
            self._proposed += view.partitions
            error = self._error
        topics = [
            {
                "topic_name": wish.topic or "",
                "topic_id": wish.topic_id,
                "partitions": [self._decided(view.broker_id, wish, error)],
            }
            for wish in view.partitions
        ]
        return {"error_code": 0, "topics": topics}

    def _decided(self, leader: int, wish: ProposedIsr, error: int) -> dict[str, Any]:
        if error:
            return {"partition_index": wish.partition, "error_code": error}
        return {
            "partition_index": wish.partition,
            "error_code": 0,
            "leader_id": leader,
            "leader_epoch": wish.leader_epoch,
            "isr": list(wish.new_isr),
            "leader_recovery_state": wish.leader_recovery_state,
            "partition_epoch": self._commit(_committed(leader, wish)),
        }


def _committed(leader: int, wish: ProposedIsr) -> PartitionLeadership:
    return PartitionLeadership(
        topic=wish.topic,
        topic_id=wish.topic_id,
        partition=wish.partition,
        leader=leader,
        leader_epoch=wish.leader_epoch,
        isr=wish.new_isr,
        replicas=(),
        partition_epoch=wish.partition_epoch,
        controller_epoch=0,
    )
