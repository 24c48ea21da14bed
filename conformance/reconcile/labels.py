"""Which label does a record id in a sample have?

Labels are looked up for the few sampled ids only, so that they need not travel through the join.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow.parquet as pq

from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.run_files import ATTEMPTS, PREDICTED_RECORDS


def labels_of(run_directory: Path, record_ids: Iterable[int]) -> Mapping[int, str]:
    """Give the labels of records by id, as the prediction and the ledger name them.

    Raises:
        ReconcileError: a file with labels is unreadable.
    """
    wanted = sorted(set(record_ids))
    found: dict[int, str] = {}
    if not wanted:
        return found
    for path in (*PREDICTED_RECORDS.paths(run_directory), *ATTEMPTS.paths(run_directory)):
        found.update(_labels_in(path, wanted))
    return found


def name_of(record_id: int | None, labels: Mapping[int, str]) -> str:
    """Give the words for a record in a text: its label, else its id; without an id it is none of ours."""
    if record_id is None:
        return "a record that is none of ours"
    return labels.get(record_id, f"record {record_id}")


def _labels_in(path: Path, record_ids: list[int]) -> dict[int, str]:
    try:
        table = pq.read_table(path, columns=["record_id", "label"], filters=[("record_id", "in", record_ids)])
    except (OSError, ValueError) as error:
        raise ReconcileError(f"{path} is unreadable: {error}") from error
    rows = table.to_pylist()
    return {row["record_id"]: row["label"] for row in rows if row["label"] is not None}


def has_undetermined(run_directory: Path) -> bool:
    """Say whether the prediction leaves the fate of any record open."""
    for path in PREDICTED_RECORDS.paths(run_directory):
        if pq.read_table(path, columns=["fate"], filters=[("fate", "=", "undetermined")]).num_rows:
            return True
    return False
