"""What did each combination of settings come to? EL-03's runs of one release as a table, one cell a combination."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from reports.promises import lost_records
from reports.version_matrix import line_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reports.model import RunView

    _Runs = dict[tuple[str, ...], dict[str, RunView]]
    """By the settings of a cell, its run by what crashed."""

NAME = re.compile(
    r"^EL-03/(?P<crash>power-failure,)?acks=(?P<acks>all|1|0),min=(?P<min>[123]),unclean=(?P<unclean>on|off),replicas=(?P<replicas>[23])$"
)
COLUMNS = tuple(product(("2", "3"), ("off", "on")))
ROWS = tuple(product(("all", "1", "0"), ("1", "2", "3")))
KILLS, POWER_FAILURE = "kills", "power failure"


@dataclass(frozen=True, slots=True)
class SettingsCell:
    """What one combination of settings came to.

    Attributes:
        crash: kills or power failure.
        sends: how many records were accepted, refused and so on, in words.
        lost: labels of the records sent with the cell's acks that were committed and are gone.
        diverged: whether the replicas' logs ended with different records at one offset.
    """

    run: RunView
    crash: str
    sends: str
    lost: tuple[str, ...]
    diverged: bool


@dataclass(frozen=True, slots=True)
class SettingsRow:
    """One acks and min.insync.replicas; for each column what each crash came to, kills first."""

    name: str
    cells: tuple[tuple[SettingsCell, ...], ...]


@dataclass(frozen=True, slots=True)
class SettingsTable:
    """The matrix of one release."""

    kafka: str
    columns: tuple[str, ...]
    rows: tuple[SettingsRow, ...]


def settings_tables(runs: Sequence[RunView]) -> tuple[SettingsTable, ...]:
    """Return a table for each release that has runs of the settings matrix, in the order of the runs."""
    of_release: dict[str, _Runs] = {}
    for run in runs:
        named = NAME.match(run.name)
        if named is not None:
            crashes = of_release.setdefault(line_words(run), {})
            of_cell = crashes.setdefault(named.group("acks", "min", "replicas", "unclean"), {})
            of_cell[POWER_FAILURE if named["crash"] else KILLS] = run
    return tuple(_table(kafka, cells) for kafka, cells in of_release.items())


def _table(kafka: str, runs: _Runs) -> SettingsTable:
    columns = tuple(f"{replicas} replicas, unclean election {unclean}" for replicas, unclean in COLUMNS)
    rows = tuple(
        SettingsRow(f"acks={acks}, min.insync.replicas={minimum}", tuple(_cells(runs, acks, minimum)))
        for acks, minimum in ROWS
        if any(key[:2] == (acks, minimum) for key in runs)
    )
    return SettingsTable(kafka, columns, rows)


def _cells(runs: _Runs, acks: str, minimum: str) -> Iterable[tuple[SettingsCell, ...]]:
    for column in COLUMNS:
        of_cell = runs.get((acks, minimum, *column), {})
        yield tuple(_cell(of_cell[crash], crash, acks) for crash in (KILLS, POWER_FAILURE) if crash in of_cell)


def _cell(run: RunView, crash: str, acks: str) -> SettingsCell:
    sent = {row.label for row in run.records.rows if row.acks == acks}
    lost = tuple(label for label in lost_records(run) if label in sent)
    return SettingsCell(run, crash, _sends(run, sent), lost, bool(run.final_logs.diverged_offsets))


def _sends(run: RunView, sent: set[str]) -> str:
    outcomes = (row.measured_outcome for row in run.records.rows if row.label in sent)
    counted = Counter(outcome.split(":")[0] for outcome in outcomes if outcome)
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counted.items()))
