"""What does a prediction say went wrong? The defect that a counterexample must keep while it is shortened."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from oracle.guarantees import PromiseVerdict
from oracle.vocabulary import Fate

if TYPE_CHECKING:
    from oracle.prediction import Prediction


class PartitionDefect(StrEnum):
    """What can be wrong with a partition that has come to rest."""

    PROMISE_BROKEN = "an acknowledged record is lost although the settings promise it"
    ACKNOWLEDGED_LOST = "an acknowledged record is lost"
    COMMITTED_LOST = "a committed record is lost"
    DIVERGED = "two replicas disagree below both their high watermarks"


def defects(prediction: Prediction) -> frozenset[PartitionDefect]:
    """Return everything that is wrong at the end of a predicted schedule."""
    promises = {record.promise.verdict for record in prediction.records}
    lost = {PromiseVerdict.BROKEN, PromiseVerdict.ALLOWED_BY_SETTINGS}
    found = {
        PartitionDefect.PROMISE_BROKEN: PromiseVerdict.BROKEN in promises,
        PartitionDefect.ACKNOWLEDGED_LOST: bool(promises & lost),
        PartitionDefect.COMMITTED_LOST: any(record.fate is Fate.LOST for record in prediction.records),
        PartitionDefect.DIVERGED: bool(prediction.diverged),
    }
    return frozenset(defect for defect, is_there in found.items() if is_there)


def is_determined(prediction: Prediction) -> bool:
    """Return whether the schedule leaves no race open."""
    return not prediction.races and all(record.fate is not Fate.UNDETERMINED for record in prediction.records)
