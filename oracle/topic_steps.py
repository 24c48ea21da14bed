"""Which steps change what there is of topics? Records of the partition are deleted; what is beside it is made."""

# ruff: noqa: RUF009 - described() declares a field, as dataclasses.field does

from __future__ import annotations

from dataclasses import dataclass

from oracle.step_fields import described
from oracle.vocabulary import Offset  # noqa: TC001 - schedule files are decoded by these types


@dataclass(frozen=True, slots=True)
class DeleteRecords:
    """Delete the records before an offset, as kafka-delete-records does (0.11 on); kill -9 may bring them back."""

    offset: Offset = described("the first offset that stays; at most the leader's high watermark")


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
