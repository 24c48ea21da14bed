"""What did each combination of settings come to? EL-03's runs of one release as a table, one cell a combination."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from reports.operators import lost_records
from reports.version_matrix import metadata_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reports.model import RunView

NAME = re.compile(
    r"^EL-03/acks=(?P<acks>all|1|0),min=(?P<min>[123]),unclean=(?P<unclean>on|off),replicas=(?P<replicas>[23])$"
)
COLUMNS = tuple(product(("2", "3"), ("off", "on")))
ROWS = tuple(product(("all", "1", "0"), ("1", "2", "3")))


@dataclass(frozen=True, slots=True)
class SettingsCell:
    """What one combination of settings came to.

    Attributes:
        sends: how many records were accepted, refused and so on, in words.
        lost: labels of the records sent with the cell's acks that were committed and are gone.
        diverged: whether the replicas' logs ended with different records at one offset.
    """

    run: RunView
    sends: str
    lost: tuple[str, ...]
    diverged: bool


@dataclass(frozen=True, slots=True)
class SettingsRow:
    """One acks and min.insync.replicas; a cell for each column, None where there was no run."""

    name: str
    cells: tuple[SettingsCell | None, ...]


@dataclass(frozen=True, slots=True)
class SettingsTable:
    """The matrix of one release."""

    kafka: str
    columns: tuple[str, ...]
    rows: tuple[SettingsRow, ...]


def settings_tables(runs: Sequence[RunView]) -> tuple[SettingsTable, ...]:
    """Return a table for each release that has runs of the settings matrix, in the order of the runs."""
    of_release: dict[str, dict[tuple[str, ...], RunView]] = {}
    for run in runs:
        named = NAME.match(run.name)
        if named is not None:
            cells = of_release.setdefault(f"{run.kafka} {metadata_words(run.metadata)}", {})
            cells[named.group("acks", "min", "replicas", "unclean")] = run
    return tuple(_table(kafka, cells) for kafka, cells in of_release.items())


def _table(kafka: str, runs: dict[tuple[str, ...], RunView]) -> SettingsTable:
    columns = tuple(f"{replicas} replicas, unclean election {unclean}" for replicas, unclean in COLUMNS)
    rows = tuple(
        SettingsRow(f"acks={acks}, min.insync.replicas={minimum}", tuple(_cells(runs, acks, minimum)))
        for acks, minimum in ROWS
        if any(key[:2] == (acks, minimum) for key in runs)
    )
    return SettingsTable(kafka, columns, rows)


def _cells(runs: dict[tuple[str, ...], RunView], acks: str, minimum: str) -> Iterable[SettingsCell | None]:
    for column in COLUMNS:
        run = runs.get((acks, minimum, *column))
        if run is None:
            yield None
            continue
        sent = {row.label for row in run.records.rows if row.acks == acks}
        lost = tuple(label for label in lost_records(run) if label in sent)
        yield SettingsCell(run, _sends(run, sent), lost, bool(run.final_logs.diverged_offsets))


def _sends(run: RunView, sent: set[str]) -> str:
    outcomes = (row.measured_outcome for row in run.records.rows if row.label in sent)
    counted = Counter(outcome.split(":")[0] for outcome in outcomes if outcome)
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counted.items()))
