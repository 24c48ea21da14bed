"""Which steps ask one broker something in the middle of a schedule? Its answer is predicted, and measured.

Three only read; ``send_to`` may append. None waits for another broker's view: each goes to the broker it names.
"""

# ruff: noqa: RUF009 - described() declares a field, as dataclasses.field does

from __future__ import annotations

from dataclasses import dataclass

from oracle.step_fields import described
from oracle.vocabulary import BrokerId, Label, Leadership, Offset, OffsetSpec

VERSION_HELP = "version of the request; none: the newest that the release and this tester have"
LEADER_HELP = "the broker that is asked; none: the controller's leader"


@dataclass(frozen=True, slots=True)
class Consume:
    """Fetch as a read_uncommitted consumer: which records does this broker show, and which high watermark?"""

    broker: BrokerId | None = described(f"{LEADER_HELP}. Followers answer from 2.4 on (Fetch 11)", default=None)
    offset: Offset = described("the first offset wanted", default=Offset(0))
    version: int | None = described(VERSION_HELP, default=None)


@dataclass(frozen=True, slots=True)
class ListOffsets:
    """Ask for the earliest or the latest offset, or the first one that is as late as a record's timestamp."""

    spec: OffsetSpec = described("earliest, latest or timestamp")
    broker: BrokerId | None = described(LEADER_HELP, default=None)
    timestamp_of: Label | None = described("the record whose timestamp is asked for, with timestamp", default=None)
    version: int | None = described(VERSION_HELP, default=None)


@dataclass(frozen=True, slots=True)
class EndOffsetOfEpoch:
    """Ask where a leader epoch ends, as followers do (OffsetsForLeaderEpoch, 0.11 on)."""

    leadership: Leadership = described("ordinal of the leadership whose epoch is asked for, from 0; its last epoch")
    broker: BrokerId | None = described(LEADER_HELP, default=None)
    current: Leadership | None = described(
        "ordinal of the leadership that is claimed to be the current one (2.1 on, version 2 on); none: not claimed",
        default=None,
    )
    version: int | None = described(VERSION_HELP, default=None)


@dataclass(frozen=True, slots=True)
class SendTo:
    """Send one record to a broker, whether it leads or not, with any acks: what does it answer, what does it write?"""

    record: Label = described("label of the record")
    broker: BrokerId = described("the broker that gets the request")
    acks: int = described("all (-1), 0 or 1, or a number that is none of them", default=-1)
    timeout_ms: int = described("how long the broker waits for acks=-1", default=30_000)


Ask = Consume | ListOffsets | EndOffsetOfEpoch | SendTo
