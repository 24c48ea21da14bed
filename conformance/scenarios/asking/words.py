"""Which short forms do these scenarios write their questions in?"""

from __future__ import annotations

from oracle.steps import Consume, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.vocabulary import BrokerId, Label, Leadership, Offset, OffsetSpec


def consume(broker: int | None = None, offset: int = 0) -> Consume:
    """Read as a read_uncommitted consumer, at the leader unless a broker is named."""
    return Consume(_broker(broker), Offset(offset))


def earliest(broker: int | None = None) -> ListOffsets:
    """Ask for the first offset."""
    return ListOffsets(OffsetSpec.EARLIEST, _broker(broker))


def latest(broker: int | None = None, version: int | None = None) -> ListOffsets:
    """Ask for the offset at which a consumer that starts now would wait."""
    return ListOffsets(OffsetSpec.LATEST, _broker(broker), version=version)


def not_older_than(label: str, broker: int | None = None) -> ListOffsets:
    """Ask for the first offset whose record is not older than another one."""
    return ListOffsets(OffsetSpec.TIMESTAMP, _broker(broker), Label(label))


def epoch_end(leadership: int, broker: int | None = None, claiming: int | None = None) -> EndOffsetOfEpoch:
    """Ask where the epoch of a leadership ends, claiming another one to be the current one."""
    current = None if claiming is None else Leadership(claiming)
    return EndOffsetOfEpoch(Leadership(leadership), _broker(broker), current)


def send_to(label: str, broker: int, acks: int) -> SendTo:
    """Send one record to a broker, whether it leads or not."""
    return SendTo(Label(label), BrokerId(broker), acks)


def _broker(broker: int | None) -> BrokerId | None:
    return None if broker is None else BrokerId(broker)
