"""How do versions compare? Scenarios down, Kafka versions across, both verdicts in every cell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.model import RunView


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One scenario (and variant) with its runs, one list a version, in the order of the columns."""

    scenario: str
    cells: tuple[tuple[RunView, ...], ...]


@dataclass(frozen=True, slots=True)
class VersionMatrix:
    """Columns are version and metadata mode, oldest first; a user's own Kafka has its own."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def version_matrix(runs: Sequence[RunView]) -> VersionMatrix | None:
    """Return the matrix, or None if all runs are of one version and mode."""
    ordered = sorted((run for run in runs if run.kafka != "?"), key=age)
    columns = list(dict.fromkeys(line_words(run) for run in ordered))
    if len(columns) < 2:
        return None
    cells: dict[str, dict[str, list[RunView]]] = {}
    for run in runs:
        if run.kafka != "?":
            cells.setdefault(_row_name(run), {}).setdefault(line_words(run), []).append(run)
    rows = tuple(
        MatrixRow(name, tuple(tuple(by_line.get(column, ())) for column in columns)) for name, by_line in cells.items()
    )
    return VersionMatrix(tuple(columns), rows)


def line_words(run: RunView) -> str:
    """Return release and metadata mode, and whose rules judged the run if they are not its own."""
    line = column_words(run.kafka, run.metadata, run.own)
    return f"{line}, by the rules of {run.rules}" if run.rules else line


def metadata_words(metadata: str) -> str:
    """Return a metadata mode as people write it."""
    return {"kraft": "KRaft", "zookeeper": "ZooKeeper"}.get(metadata, metadata)


def column_words(kafka: str, metadata: str, own: str = "") -> str:
    """Return a release in a metadata mode as people write it, and which Kafka of a user's was run as it."""
    return ", ".join(part for part in (f"{kafka} {metadata_words(metadata)}".strip(), own) if part)


def own_words(label: str, build: str) -> str:
    """Return what a user's own Kafka is called, and the version that its jar has."""
    return " ".join(part for part in (label, f"(jar {build})" if build else "") if part)


def age(run: RunView) -> tuple[list[int], str, str]:
    """Return a key that puts older releases first, ZooKeeper before KRaft within one, a user's own Kafka last."""
    return *release_age(run.kafka, run.metadata), run.own


def release_age(kafka: str, metadata: str) -> tuple[list[int], str]:
    """Return the same of a release in a metadata mode."""
    numbers = [int(part) for part in re.findall(r"\d+", kafka)]
    return numbers, "" if metadata == "zookeeper" else metadata


def _row_name(run: RunView) -> str:
    return f"{run.scenario} ({run.variant})" if run.variant else run.scenario
