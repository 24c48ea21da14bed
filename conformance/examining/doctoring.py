"""What can be doctored in a faultless run? One change per function; each names what a verdict must name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.record.prediction import read_prediction
from conformance.record.run import read_run
from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")

Rows = list[dict[str, Any]]
FOREIGN_ID = 424_242


def ids(run: RunDirectory) -> dict[str, int]:
    """Return the record id of every label."""
    base = read_run(run).record_id_base
    return {record.label: base + record.id for record in read_prediction(run).records}


def topic_repeats_m0(run: RunDirectory) -> None:
    """Have the first record twice."""
    _append(run, ids(run)["m0"])


def topic_has_the_refused_record(run: RunDirectory) -> None:
    """Have the record that its producer was told is refused."""
    _append(run, ids(run)["refused"])


def topic_swaps_m0_and_m1(run: RunDirectory) -> None:
    """Have two records in the other order."""
    swapped = {ids(run)["m0"]: ids(run)["m1"], ids(run)["m1"]: ids(run)["m0"]}
    change_rows(
        run.path / "topic",
        lambda rows: [row | {"record_id": swapped.get(row["record_id"], row["record_id"])} for row in rows],
    )


def topic_moves_m2(run: RunDirectory) -> None:
    """Have the last record at another offset than the one it was acknowledged at."""
    m2 = ids(run)["m2"]
    change_rows(
        run.path / "topic",
        lambda rows: [r | {"offset": r["offset"] + 5} if r["record_id"] == m2 else r for r in rows],
    )


def replica_log_of_2_has_m2_for_m1(run: RunDirectory) -> None:
    """Let broker 2 have another record than broker 1 at the offset of m1."""
    m1, m2 = ids(run)["m1"], ids(run)["m2"]
    change_rows(
        run.path / "replica_logs",
        lambda rows: [r | {"record_id": m2} if (r["broker"], r["record_id"]) == (2, m1) else r for r in rows],
    )


def _append(run: RunDirectory, record_id: int) -> None:
    """Add a record at the end of the topic."""

    def change(rows: Rows) -> Rows:
        end = max(row["offset"] for row in rows) + 1
        return [*rows, {"partition": 0, "offset": end, "record_id": record_id, "value_matches": True}]

    change_rows(run.path / "topic", change)


def change_rows(folder: Path, change: Callable[[Rows], Rows]) -> None:
    """Rewrite a folder's Parquet files as one, with changed rows and without Spark's checksums."""
    paths = sorted(folder.glob("*.parquet"))
    schema = pq.read_schema(paths[0])
    rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
    for path in (*paths, *folder.glob(".*.crc")):
        path.unlink()
    pq.write_table(pa.Table.from_pylist(change(rows), schema=schema), paths[0])


def topic_loses_m2(run: RunDirectory) -> None:
    """Cut the last record off the topic."""
    change_rows(run.path / "topic", lambda rows: [row for row in rows if row["record_id"] != ids(run)["m2"]])


def topic_gains_a_foreign_record(run: RunDirectory) -> None:
    """Add a record that nobody attempted."""
    _append(run, FOREIGN_ID)


def topic_changes_a_value(run: RunDirectory) -> None:
    """Let the value of m0 be another than the one that was sent."""
    m0 = ids(run)["m0"]
    change_rows(
        run.path / "topic",
        lambda rows: [r | {"value_matches": False} if r["record_id"] == m0 else r for r in rows],
    )


def ledger_forgets_m2(run: RunDirectory) -> None:
    """Remove the attempt and the outcome of m2."""
    forget(run, "*.parquet", ids(run)["m2"])


def forget(run: RunDirectory, pattern: str, record_id: int) -> None:
    """Remove a record's files from the ledger."""
    for path in sorted((run.path / "ledger").glob(pattern)):
        if record_id in pq.read_table(path)["record_id"].to_pylist():
            path.unlink()


def ledger_flips_the_outcome_of_m2(run: RunDirectory) -> None:
    """Write that m2 was refused, although it was acknowledged."""
    m2 = ids(run)["m2"]
    for path in sorted((run.path / "ledger").glob("outcomes-*.parquet")):
        table = pq.read_table(path)
        flipped = {"outcome": "refused", "offset": None, "error": "NOT_ENOUGH_REPLICAS"}
        rows = [row | flipped if row["record_id"] == m2 else row for row in table.to_pylist()]
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def prediction_changes_one_letter(run: RunDirectory) -> None:
    """Change one letter of the frozen prediction: the label of the last record."""
    path = run.path / "prediction" / "prediction.json"
    path.write_bytes(path.read_bytes().replace(b'"m2"', b'"m3"', 1))
