"""What does a prediction show: is a record lost, or refused? In words that are a run's too, once it conforms."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.clients.outcomes import LEADER_NOT_AVAILABLE
from oracle.vocabulary import Acks, Fate, ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.prediction import Prediction, RecordPrediction


class Harm(StrEnum):
    """What a finding warns of."""

    LOSS = "loss"
    """A record that was acknowledged is gone, or one about which its producer hears nothing."""
    BLOCK = "block"
    """A record is not taken, or that and more is lost."""


def is_lost(record: RecordPrediction) -> bool:
    """Return whether a record is gone, although its producer was told that it is kept, or is never told anything."""
    is_trusted = record.outcome is ProduceOutcome.ACKNOWLEDGED or record.acks == Acks.NONE
    return is_trusted and record.fate is not Fate.PRESENT


def is_blocked(record: RecordPrediction) -> bool:
    """Return whether a record was not taken, or its producer does not know."""
    return record.outcome is not ProduceOutcome.ACKNOWLEDGED and record.acks != Acks.NONE


def harmed(prediction: Prediction, harm: Harm) -> tuple[RecordPrediction, ...]:
    """Return the records that are harmed so, whatever is open; where nothing may stop, nothing may be lost either."""
    every = [prediction, *(one.prediction for one in prediction.alternatives)]
    looks = (is_lost,) if harm is Harm.LOSS else (is_lost, is_blocked)
    found = (record for one in every for record in one.records if any(look(record) for look in looks))
    return tuple({record.label: record for record in found}.values())


def told(prediction: Prediction) -> str:
    """Return what becomes of the records, in words: what is lost first, then what is not taken."""
    lost = [record for record in prediction.records if is_lost(record)]
    blocked = [record for record in prediction.records if is_blocked(record)]
    kept = [record for record in prediction.records if record not in (*lost, *blocked)]
    parts = [*map(_lost_words, lost), *map(_blocked_words, blocked)]
    parts += [f"{_labels(kept)} {'is' if len(kept) == 1 else 'are'} acknowledged and kept"] if kept else []
    return "; ".join(parts)


def _lost_words(record: RecordPrediction) -> str:
    if record.acks == Acks.NONE:
        return f"{record.label} is sent and gone, and its producer hears nothing"
    why = f" ({record.promise.reason})" if record.promise.reason else ""
    return f"{record.label} is acknowledged and lost{why}"


def _blocked_words(record: RecordPrediction) -> str:
    if record.outcome is ProduceOutcome.INDETERMINATE:
        return f"{record.label} is not acknowledged: its producer knows that it may be gone"
    if record.error == LEADER_NOT_AVAILABLE:
        return f"{record.label} finds no leader"
    return f"{record.label} is refused ({record.error})"


def _labels(records: Iterable[RecordPrediction]) -> str:
    return " and ".join(record.label for record in records)
