"""Which steps create and delete what is beside the partition? None of them may change anything of it."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.step_fields import described


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """Give the topic more partitions, on the same brokers (kafka-topics --alter); they stay empty."""

    count: int = described("how many partitions the topic has then, 2 or more")


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """Create another topic with one partition on the same brokers."""

    name: str = described("a name for it, of letters, digits, dots and hyphens")


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    """Delete another topic that the schedule has created."""

    name: str = described("its name")
