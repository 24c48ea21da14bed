"""What does a soak come to whose records are all as predicted, given its replicas and what was predicted of them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.record.soak_counted import ClassCounted, Compared, ReplicasCounted, SoakCounted, SoakPartition
from conformance.record.soak_prediction import REPLICAS_FILE, ReplicasRow, SoakPrediction, replicas_schema, write_rows
from conformance.soak.judging import judge_soak
from tests.conformance.soak.soaks import SOAK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.soak_verdict import SoakVerdict

PREDICTION = SoakPrediction("4.4.0 kraft", "d", {"present": 1_000, "lost": 0, "either": 0}, 500, 9, 1.0)
ALIKE = ReplicasCounted(90, 0, {}, (), (), logs=3, log_bytes=9_000)
KEPT = {"kept": ClassCounted(predicted=1_000)}
PARTITION = SoakPartition(0, 1_000, {"acknowledged": 1_000}, 1_000, 1_000, 0, KEPT, KEPT)


def replicas_row(
    partition: int, broker_a: int, broker_b: int, first: int, last: int, fate: str = "different"
) -> ReplicasRow:
    return ReplicasRow(partition, broker_a, broker_b, first, last, fate, "cut", f"{broker_a} and {broker_b}")


def judged_with(
    run: RunDirectory,
    replicas: ReplicasCounted | None,
    rows: Sequence[ReplicasRow] = (),
    prediction: SoakPrediction = PREDICTION,
    **counted: Any,  # noqa: ANN401 - fields of SoakCounted
) -> SoakVerdict:
    """Return the verdict on a soak, all of whose 1,000 records are there."""
    write_rows(run.path / REPLICAS_FILE, rows, replicas_schema())
    found = SoakCounted((PARTITION,), (), Compared(9, 0, 0), identity_holds=True, replicas=replicas, **counted)
    return judge_soak(run, SOAK, prediction, found)
