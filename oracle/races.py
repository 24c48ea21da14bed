"""Does a schedule leave a race open? Then its end depends on which follower fetches first.

The model runs once for every order in which followers may take their turns. Where the predictions
disagree the race is named, and a record whose end it decides is undetermined.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.vocabulary import Fate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.prediction import Prediction, RecordPrediction


def merged(predictions: Sequence[Prediction]) -> Prediction:
    """Merge the predictions of all orders: where they differ, name the race."""
    first = predictions[0]
    numbers = [
        f"{moment.name}: numbers depend on which follower fetches first"
        for index, moment in enumerate(first.checkpoints)
        if any(other.checkpoints[index] != moment for other in predictions)
    ]
    logs = [
        f"log of broker {broker}: its records depend on which follower fetches first"
        for broker, log in first.logs.items()
        if any(other.logs[broker] != log for other in predictions)
    ]
    records = tuple(
        record if all(_same_end(other.records[index], record) for other in predictions) else _open(record)
        for index, record in enumerate(first.records)
    )
    return replace(first, records=records, races=(*numbers, *logs))


def _same_end(one: RecordPrediction, other: RecordPrediction) -> bool:
    return (one.fate, one.offset, one.outcome) == (other.fate, other.offset, other.outcome)


def _open(record: RecordPrediction) -> RecordPrediction:
    why = "depends on which follower fetches first"
    return replace(record, fate=Fate.UNDETERMINED, offset=None, decided_by=why)
