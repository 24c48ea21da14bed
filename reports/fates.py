"""By which word does a page call the end of a record that is in the topic no more: lost, or absent?

One word for prediction and measurement alike, the same that the reconciliation counts by. A prediction's file calls
lost what was committed; a record of acks=1 may be acknowledged and never committed, and whoever produced it lost it
all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

LOST, ABSENT = "lost", "absent"
GONE = frozenset({LOST, ABSENT})
ACKNOWLEDGED = "acknowledged"


def predicted_fate(record: Mapping[str, Any], measured_outcome: str = "") -> str:
    """Return a predicted record's fate; if its outcome was left open, the measured one says what it would be called."""
    fate = str(record.get("fate") or "")
    return gone_word(record, str(record.get("outcome") or measured_outcome)) if fate in GONE else fate


def gone_word(record: Mapping[str, Any], outcome: str) -> str:
    """Return what a record that is gone is called, given what its producer learned."""
    was_committed = bool(record.get("was_committed")) or record.get("fate") == LOST
    return LOST if was_committed or outcome == ACKNOWLEDGED else ABSENT
