"""How do checkpoints fit one table? A column a number, a pair of rows a checkpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.model import CheckpointView, ComparisonView

_SHORT = (
    (re.compile(r"^broker (\d+) (.+)$"), r"broker \1"),
    (re.compile(r"^remote log end offset of (?:broker )?(\d+)(?: \(derived\))?$"), r"remote LEO (derived)"),
)
_NAMES = {"log end offset": "LEO", "high watermark": "HW", "isr": "ISR", "elr": "ELR"}
_ELR, _NOBODY = "elr", "{}"


@dataclass(frozen=True, slots=True)
class Head:
    """A group of columns (``broker 1``) and the names under it (``LEO``, ``HW``)."""

    title: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One checkpoint with its comparisons in column order; None where it says nothing."""

    view: CheckpointView
    cells: tuple[ComparisonView | None, ...]

    @property
    def differs(self) -> int:
        """Return how many numbers differ."""
        return sum(1 for cell in self.view.rows if not cell.agrees)


@dataclass(frozen=True, slots=True)
class CheckpointTable:
    """Heads over rows."""

    heads: tuple[Head, ...]
    rows: tuple[CheckpointRow, ...]


def checkpoint_table(checkpoints: Sequence[CheckpointView], *, has_elr: bool = True) -> CheckpointTable:
    """Return all checkpoints of a run as one table; without a column for what its cluster does not have."""
    whats = list(dict.fromkeys(row.what for checkpoint in checkpoints for row in checkpoint.rows))
    whats = [what for what in whats if what != _ELR or has_elr or _is_anybody_eligible(checkpoints)]
    heads: dict[str, list[str]] = {}
    for what in whats:
        heads.setdefault(_split(what)[0], []).append(what)
    ordered = [what for members in heads.values() for what in members]
    rows = []
    for checkpoint in checkpoints:
        by_what = {row.what: row for row in checkpoint.rows}
        rows.append(CheckpointRow(checkpoint, tuple(by_what.get(what) for what in ordered)))
    return CheckpointTable(
        tuple(Head(title, tuple(_split(what)[1] for what in members)) for title, members in heads.items()),
        tuple(rows),
    )


def _is_anybody_eligible(checkpoints: Sequence[CheckpointView]) -> bool:
    """Return whether there are eligible leader replicas at some checkpoint, predicted or measured."""
    values = [(row.predicted, row.measured) for each in checkpoints for row in each.rows if row.what == _ELR]
    return any(value != _NOBODY for pair in values for value in pair)


def _split(what: str) -> tuple[str, str]:
    """Return the group and the name of a number: (``broker 1``, ``LEO``)."""
    for pattern, title in _SHORT:
        found = pattern.match(what)
        if found:
            rest = found.group(2) if pattern.groups == 2 else f"of {found.group(1)}"
            return found.expand(title), _NAMES.get(rest, rest)
    return "partition", _NAMES.get(what, what)
