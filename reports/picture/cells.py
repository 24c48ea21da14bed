"""What is left in every replica's log? One cell an offset, ghosts above for what is gone.

Kept, diverged, uncommitted, absent and lost differ in word, sign, border and pattern.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reports.picture.scale import shown_offsets
from reports.svg import clipped, element, group, label, titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from reports.model import EntryView, FinalLogs, Ghost, ReplicaLogView


_LEFT = 128.0
_COLUMN = 104.0
_SKIP = 54.0
_CELL = (96.0, 46.0)
_ROW = 78.0
_TOP = 24.0


class _Cell(NamedTuple):
    css: str
    words: str
    says: str


def draw_cells(final: FinalLogs, prefix: str) -> Markup:
    """Return the final logs as an SVG element."""
    columns = _columns(final)
    width = _right_of(columns) + 110
    rows = ([_ghost_row(final, columns)] if final.ghosts else []) + [
        _replica_row(final, log, columns) for log in final.logs
    ]
    height = _TOP + _ROW * len(rows) + 2
    return element(
        "svg",
        element("title", "Final logs of the replicas", id=f"{prefix}-title"),
        element("desc", describe_logs(final), id=f"{prefix}-desc"),
        _heads(columns),
        *(group(row, transform=f"translate(0 {_TOP + _ROW * i:.0f})") for i, row in enumerate(rows)),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
        class_="cells",
    )


def describe_logs(final: FinalLogs) -> str:
    """Return the final logs in words."""
    logs = [
        f"Broker {log.broker} holds "
        + (", ".join(f"{entry.label} at {entry.offset}" for entry in log.entries[:40]) or "nothing")
        + ("." if len(log.entries) <= 40 else f" and {len(log.entries) - 40} more.")
        for log in final.logs
    ]
    gone = [f"{ghost.label}, once at {ghost.offset}, is {ghost.fate}." for ghost in final.ghosts[:40]]
    return " ".join([*logs, *gone])


def log_sentences(final: FinalLogs) -> tuple[str, ...]:
    """Return what is remarkable about the final logs: lost records and offsets that differ."""
    lost = [
        f"{ghost.label} was acknowledged at offset {ghost.offset} and is gone from the topic."
        for ghost in final.ghosts[:8]
        if ghost.fate == "lost"
    ]
    split = []
    for offset in sorted(final.diverged_offsets)[:8]:
        held = [
            f"{entry.label} on broker {log.broker}"
            for log in final.logs
            for entry in log.entries
            if entry.offset == offset
        ]
        split.append(f"Offset {offset} holds {', '.join(held)}.")
    return tuple(lost + split)


def cell_of(final: FinalLogs, log: ReplicaLogView, entry: EntryView | None) -> tuple[str, str]:
    """Return the style and the word of one cell: kept, diverged, not committed, unknown, deleted or absent."""
    if entry is None:
        return "absent", "○ absent"
    if entry.label in final.deleted:
        return "absent", "⌫ deleted"
    if not entry.is_known:
        return "unknown", "? unknown"
    if entry.offset in final.diverged_offsets:
        return "diverged", "≠ diverged"
    if log.high_watermark is not None and entry.offset >= log.high_watermark:
        return "uncommitted", "… above HW"
    return "kept", "✓ kept"


Column = tuple[int | None, float, int]
"""An offset and its x, or None and the number of offsets left out there."""


def _columns(final: FinalLogs) -> list[Column]:
    x, columns = _LEFT, []
    for offset, left_out in shown_offsets(final):
        columns.append((offset, x, left_out))
        x += _COLUMN if offset is not None else _SKIP
    return columns


def _right_of(columns: Sequence[Column]) -> float:
    return columns[-1][1] + _COLUMN if columns else _LEFT


def _heads(columns: Sequence[Column]) -> Markup:
    return group(
        *(
            label(x + _CELL[0] / 2, 14, f"offset {offset}", "tick", text_anchor="middle")
            if offset is not None
            else label(x + _SKIP / 2 - 4, 14, f"⋯ {left_out}", "tick", text_anchor="middle")
            for offset, x, left_out in columns
        )
    )


def _replica_row(final: FinalLogs, log: ReplicaLogView, columns: Sequence[Column]) -> Markup:
    entries = {entry.offset: entry for entry in log.entries}
    end, has_epochs = max(entries, default=-1) + 1, have_epochs(final)
    cells = [
        _draw(x, _look(final, log, entries.get(offset)), entries.get(offset), has_epochs=has_epochs)
        for offset, x, _ in columns
        if offset is not None
    ]
    right = _right_of(columns)
    words = [
        label(4, 28, f"broker {log.broker}", "lane-name"),
        label(right + 6, 21, f"LEO {end}", "end-log-end-offset"),
    ]
    if log.high_watermark is not None:
        words.append(label(right + 6, 36, f"HW {log.high_watermark}", "end-high-watermark"))
    return group(*words, *cells)


def _look(final: FinalLogs, log: ReplicaLogView, entry: EntryView | None) -> _Cell:
    css, words = cell_of(final, log, entry)
    return _Cell(css, words, f"broker {log.broker}: {entry.label if entry else 'no record'}, {words[2:]}")


def _draw(x: float, cell: _Cell, entry: EntryView | None, *, has_epochs: bool) -> Markup:
    epoch = _epoch_words(entry) if entry is not None and has_epochs else ""
    return group(
        titled(cell.says),
        _box(x, cell.css),
        label(
            x + _CELL[0] / 2,
            20,
            clipped(entry.label, 11) if entry else "",
            f"cell-label on-{cell.css}",
            text_anchor="middle",
        ),
        label(x + _CELL[0] / 2, 37 if entry else 28, cell.words, f"cell-words {cell.css}", text_anchor="middle"),
        label(x + _CELL[0] / 2, 60, epoch, "tick", text_anchor="middle"),
    )


def _box(x: float, css: str) -> Markup:
    box = {"x": x, "y": 1.0, "width": _CELL[0], "height": _CELL[1] - 2}
    ground = element("rect", **box, rx=5, class_=f"cell {css}")
    if css in {"lost", "diverged", "uncommitted"}:
        return group(ground, element("rect", **box, rx=5, fill=f"url(#area-{css})"))
    return ground


def _epoch_words(entry: EntryView) -> str:
    return "no epoch" if entry.leader_epoch is None else f"epoch {entry.leader_epoch}"


def _ghost_row(final: FinalLogs, columns: Sequence[Column]) -> Markup:
    at = {offset: x for offset, x, _ in columns if offset is not None}
    by_offset: dict[int, list[Ghost]] = {}
    for ghost in final.ghosts:
        by_offset.setdefault(ghost.offset, []).append(ghost)
    drawn = [_ghost(at[offset], ghosts) for offset, ghosts in by_offset.items() if offset in at]
    return group(label(4, 22, "gone", "lane-name"), label(4, 37, "once in the topic here", "tick"), *drawn)


def _ghost(x: float, ghosts: Sequence[Ghost]) -> Markup:
    fate = "lost" if any(ghost.fate == "lost" for ghost in ghosts) else "absent"
    words = "✕ lost" if fate == "lost" else "○ never committed"
    names = clipped(", ".join(ghost.label for ghost in ghosts), 11)
    return group(
        titled("; ".join(f"{ghost.label}: {ghost.fate}" for ghost in ghosts)),
        _box(x, fate),
        label(x + _CELL[0] / 2, 20, names, "cell-label ghost", text_anchor="middle"),
        label(x + _CELL[0] / 2, 37, words, f"cell-words {fate}", text_anchor="middle"),
    )


# What stands below the picture of the final logs? Where they are from, and whether their records have epochs.


DECODED = "The replicas' logs as decoded from their segments after the run"
WITH_EPOCHS = f"{DECODED}, with the leader epoch of each record."
WITHOUT_EPOCHS = f"{DECODED}. This format has no epochs: no record says under which leader epoch it was written."


def have_epochs(final: FinalLogs) -> bool:
    """Return whether any record carries a leader epoch; up to message format 1 none does."""
    return any(entry.leader_epoch is not None for log in final.logs for entry in log.entries)


def log_caption(final: FinalLogs) -> str:
    """Return the caption; what was not measured says so itself."""
    is_without = any(log.entries for log in final.logs) and not have_epochs(final)
    return final.note or (WITHOUT_EPOCHS if is_without else WITH_EPOCHS)
