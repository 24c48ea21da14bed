"""Which numbers can a request carry? Every field has a width; a schedule asks for nothing that does not fit in it.

Sources: the message schemas of Produce, Fetch, ListOffsets and OffsetsForLeaderEpoch.
"""

from __future__ import annotations

from dataclasses import dataclass

from oracle.schedule import ScheduleError

INT16_MAX, INT32_MAX, INT64_MAX = 2**15 - 1, 2**31 - 1, 2**63 - 1


@dataclass(frozen=True, slots=True)
class WireRange:
    """The least and the greatest number that a field takes, and of which type it is in the request."""

    least: int
    greatest: int
    wire_type: str

    def check(self, index: int, field: str, value: int) -> None:
        """Refuse a number that is out of range.

        Raises:
            ScheduleError: naming the step, the field and the range.
        """
        if not self.least <= value <= self.greatest:
            message = f"{field} must be from {self.least} to {self.greatest} ({self.wire_type}), not {value}"
            raise ScheduleError(message, step=index, field=field)


ACKS = WireRange(-INT16_MAX - 1, INT16_MAX, "int16")
REQUEST_VERSION = WireRange(0, INT16_MAX, "int16")
TIMEOUT_MS = WireRange(1, INT32_MAX, "int32")
OFFSET = WireRange(0, INT64_MAX, "int64")
LEADERSHIP = WireRange(0, INT32_MAX // 2, "half of an int32, which the epoch is")
"""An epoch may be ahead of the ordinal of its leadership: half of the range is left for that."""
