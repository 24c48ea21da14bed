"""Into which class does every record fall?

Anomalies are found and counted separately: a record may be both moved and duplicated. Besides, every record
has one primary class, the gravest that applies, so that the primary classes add up to what was produced.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.absent import absent
from conformance.reconcile.anomalies.deleted import deleted
from conformance.reconcile.anomalies.duplicated import duplicated
from conformance.reconcile.anomalies.facts import is_true
from conformance.reconcile.anomalies.kept import kept
from conformance.reconcile.anomalies.lost import lost
from conformance.reconcile.anomalies.moved import moved
from conformance.reconcile.anomalies.phantom import phantom
from conformance.reconcile.anomalies.reordered import reordered, reordered_by_blocks
from conformance.reconcile.anomalies.resurrected import resurrected
from conformance.reconcile.anomalies.value_changed import value_changed
from conformance.reconcile.records import PREDICTED

#: The classes of records, gravest first: the order in which the primary class is chosen.
CLASSES = (
    "lost",
    "phantom",
    "value_changed",
    "duplicated",
    "resurrected",
    "moved",
    "reordered",
    "absent",
    "deleted",
    "kept",
)

#: The primary class of a record in a prediction that accepts both presence and absence.
UNDETERMINED = "undetermined"

#: A record that was predicted, but neither attempted nor found: no class of the ledger.
UNATTEMPTED = "unattempted"

_STEPS: tuple[Callable[[DataFrame], DataFrame], ...] = (
    deleted,
    lost,
    absent,
    phantom,
    value_changed,
    duplicated,
    resurrected,
    moved,
)


def classified(records: DataFrame, *, many_records: bool = False) -> DataFrame:
    """Add a boolean column per class, and ``classification``, the primary class, to ``records.joined`` rows.

    ``classification`` has no default: a record that fits no class keeps a null, which breaks the identity.
    """
    for step in _STEPS:
        records = records.transform(step)
    records = records.transform(reordered_by_blocks if many_records else reordered).transform(kept)
    return records.withColumns({**_open_where_undetermined(), "classification": _primary()})


def _open_where_undetermined() -> dict[str, Column]:
    """Give the class columns with nothing marked where the prediction itself leaves the class open."""
    return {name: F.col(name) & ~_is_undetermined() for name in CLASSES}


def _primary() -> Column:
    primary = F.when(_is_undetermined(), UNDETERMINED)
    for name in CLASSES:
        primary = primary.when(F.col(name), name)
    return primary.when(F.col("attempts") + F.col("copies") == 0, UNATTEMPTED)


def _is_undetermined() -> Column:
    return (F.col("side") == PREDICTED) & is_true(F.col("fate") == UNDETERMINED)
