"""Which offsets of long logs are worth a cell? Ends, and the neighbourhood of everything remarkable."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.model import FinalLogs

CELLS_MAX = 14
_AROUND = 1


def shown_offsets(final: FinalLogs) -> list[tuple[int | None, int]]:
    """Return (offset, 0) for every cell and (None, how many) for every stretch left out."""
    everything = {entry.offset for log in final.logs for entry in log.entries}
    everything |= {ghost.offset for ghost in final.ghosts}
    if not everything:
        return []
    chosen = everything if len(everything) <= CELLS_MAX else _chosen(final, everything)
    return _with_gaps(sorted(chosen), everything)


def _chosen(final: FinalLogs, everything: set[int]) -> set[int]:
    first, last = min(everything), max(everything)
    ends = {first, first + 1, last - 1, last} & everything
    remarkable = sorted(final.diverged_offsets | {ghost.offset for ghost in final.ghosts})
    chosen = set(ends)
    for offset in remarkable:
        near = {offset + step for step in range(-_AROUND, _AROUND + 1)} & everything
        if len(chosen | near) > CELLS_MAX:
            break
        chosen |= near
    return chosen


def _with_gaps(chosen: list[int], everything: set[int]) -> list[tuple[int | None, int]]:
    shown: list[tuple[int | None, int]] = []
    for position, offset in enumerate(chosen):
        previous = chosen[position - 1] if position else None
        if previous is not None:
            left_out = sum(1 for other in range(previous + 1, offset) if other in everything)
            if left_out:
                shown.append((None, left_out))
        shown.append((offset, 0))
    return shown
