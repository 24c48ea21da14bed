"""How is a checkpoint drawn? As the papers do: a cell a record, log end offset above, high watermark below.

What is committed, what is not and what was cut differ in border and word, never in colour alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.svg import clipped, element, group, label, text_width, titled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from markupsafe import Markup

    from reports.site.model import CheckpointAt, ReplicaAt


_LEFT = 86.0
_CELL = (44.0, 30.0)
_TOP = 18.0
_ROW = 70.0
_RIGHT = 46.0
_LABEL_LETTERS = 5


def draw_checkpoint(checkpoint: CheckpointAt, prefix: str) -> Markup:
    """Return one checkpoint as an SVG element, drawn at its own size.

    Args:
        checkpoint: what stands at it.
        prefix: of the ids in it, unique on the page.
    """
    split = _diverged(checkpoint)
    columns = max((_columns(replica) for replica in checkpoint.replicas), default=0)
    width = _LEFT + _CELL[0] * columns + _RIGHT
    height = _ROW * len(checkpoint.replicas) + 2
    rows = (
        group(*_row(replica, split), transform=f"translate(0 {_ROW * place:.0f})")
        for place, replica in enumerate(checkpoint.replicas)
    )
    return element(
        "svg",
        element("title", f"Logs at {checkpoint.name}", id=f"{prefix}-title"),
        element("desc", described(checkpoint), id=f"{prefix}-desc"),
        *rows,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
        class_="logs",
    )


def described(checkpoint: CheckpointAt) -> str:
    """Return a checkpoint in words."""
    return " ".join(_sentence(replica) for replica in checkpoint.replicas)


def _sentence(replica: ReplicaAt) -> str:
    held = ", ".join(f"{one} at {offset}" for offset, one in enumerate(replica.labels) if _is_left(replica, offset))
    lost = (*replica.ghosts, *replica.replaced)
    gone = "".join(f" {one.label}, once at {one.offset}, is gone." for one in lost)
    numbers = f"log end offset {replica.log_end_offset}, high watermark {replica.high_watermark}"
    return f"Broker {replica.broker} ({replica.role}): {held or 'no record'}; {numbers}.{gone}"


def _is_left(replica: ReplicaAt, offset: int) -> bool:
    return offset >= replica.log_start_offset


def _columns(replica: ReplicaAt) -> int:
    return max(1, replica.log_end_offset, *(ghost.offset + 1 for ghost in replica.ghosts))


def _row(replica: ReplicaAt, split: Collection[int]) -> Iterator[Markup]:
    faded = "" if replica.is_alive else " faded"
    yield label(0, _TOP + 14, f"broker {replica.broker}", f"broker{faded}")
    yield label(0, _TOP + 29, replica.role, f"role{' leads' if replica.is_leader and replica.is_alive else ''}")
    for offset, record in enumerate(replica.labels):
        differs = offset in split and offset < replica.high_watermark
        yield _cell(offset, record, "diverged" if differs else _look(replica, offset), faded)
    yield _open_end(replica.log_end_offset)
    for ghost in replica.ghosts:
        yield _cell(ghost.offset, ghost.label, "cut", faded)
    yield from _markers(replica)


def _diverged(checkpoint: CheckpointAt) -> frozenset[int]:
    """Return the offsets below the high watermarks of replicas that hold different records there."""
    held: dict[int, set[str]] = {}
    for replica in checkpoint.replicas:
        for offset, record in enumerate(replica.labels[: replica.high_watermark]):
            held.setdefault(offset, set()).add(record)
    return frozenset(offset for offset, records in held.items() if len(records) > 1)


def _look(replica: ReplicaAt, offset: int) -> str:
    if not _is_left(replica, offset):
        return "deleted"
    return "committed" if offset < replica.high_watermark else "uncommitted"


_SAYS = {
    "committed": "below the high watermark",
    "uncommitted": "not known here to be committed",
    "diverged": "below the high watermark, and another replica has another record here",
    "deleted": "deleted on request",
    "cut": "no longer in this log",
}


def _cell(offset: int, record: str, look: str, faded: str) -> Markup:
    x = _at(offset)
    box = element("rect", x=x + 1, y=_TOP, width=_CELL[0] - 3, height=_CELL[1], rx=4, class_=f"log-cell {look}{faded}")
    words = clipped(record, _LABEL_LETTERS)
    parts = [titled(f"offset {offset}: {record}, {_SAYS[look]}"), box]
    parts.append(label(x + _CELL[0] / 2, _TOP + 20, words, f"record on-{look}", text_anchor="middle"))
    if look in {"cut", "deleted"}:
        half = text_width(words, 13) / 2 + 3
        middle, height = x + _CELL[0] / 2, _TOP + 15.5
        parts.append(element("path", d=f"M{middle - half:.1f} {height}H{middle + half:.1f}", class_="strike"))
    return group(*parts)


def _at(offset: int) -> float:
    return _LEFT + _CELL[0] * offset


def _open_end(end: int) -> Markup:
    """Draw where the next record goes."""
    x = _at(end)
    return element("path", d=f"M{x + 14:.0f} {_TOP}H{x + 2:.0f}V{_TOP + _CELL[1]:.0f}H{x + 14:.0f}", class_="open-end")


def _markers(replica: ReplicaAt) -> Iterator[Markup]:
    """Draw both numbers at their offsets: the log end offset comes from above, the high watermark from below."""
    end, high = _at(replica.log_end_offset), _at(replica.high_watermark)
    yield element("path", d=f"M{end:.0f} 2V{_TOP + _CELL[1]:.0f}", class_="end-line")
    yield label(end + 4, 12, f"LEO {replica.log_end_offset}", "end-words")
    yield element("path", d=f"M{high:.0f} {_TOP - 3:.0f}V{_TOP + _CELL[1] + 16:.0f}", class_="high-line")
    yield label(high + 4, _TOP + _CELL[1] + 14, f"HW {replica.high_watermark}", "high-words")
