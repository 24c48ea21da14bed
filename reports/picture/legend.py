"""What does each line, pattern and sign mean? One row under the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.svg import element, group, label, text_width

if TYPE_CHECKING:
    from markupsafe import Markup

    from reports.picture.scale import TimeScale
    from reports.story import Story


_ITEMS = (
    ("log-end-offset", "log end offset (LEO)"),
    ("high-watermark", "high watermark (HW)"),
    ("predicted", "predicted, and not measured"),
    ("committed", "known committed"),
    ("uncommitted", "in the log, not known committed"),
    ("held", "frame held on its way"),
    ("down", "broker down"),
    ("vanished", "lost by the disk"),
    ("lag", "lag time passes"),
    ("checkpoint", "checkpoint"),
)
_ROW = 20.0


def legend_height(story: Story, scale: TimeScale) -> float:
    """Return the room that the legend needs."""
    return 6 + _ROW * len(_rows(story, scale))


def draw_legend(story: Story, scale: TimeScale, top: float) -> Markup:
    """Return the legend as rows of samples: of what this picture has."""
    items = []
    for row, placed in enumerate(_rows(story, scale)):
        for x, name, words in placed:
            place = f"translate({x:.0f} {top + 14 + _ROW * row:.0f})"
            items.append(group(_sample(name), label(31, 4, words, "tick"), transform=place))
    return group(*items, class_="legend")


def _rows(story: Story, scale: TimeScale) -> list[list[tuple[float, str, str]]]:
    """Return place, name and words of every sample, row by row."""
    rows: list[list[tuple[float, str, str]]] = [[]]
    x = 4.0
    for name, words in _used(story):
        width = 31 + text_width(words)
        if x + width > scale.sheet_width and rows[-1]:
            rows.append([])
            x = 4.0
        rows[-1].append((x, name, words))
        x += width + 14
    return rows


def _used(story: Story) -> list[tuple[str, str]]:
    unused = set() if story.held_frames else {"held"}
    if all(numbers.alive for moment in story.measured for numbers in moment.replicas.values()):
        unused.add("down")
    if not any(step.taken.word == "checkpoint" for step in story.steps):
        unused.add("checkpoint")
    if all(mark.kind != "tail_lost" for mark in story.marks):
        unused.add("vanished")
    if not story.differences:
        unused.add("predicted")
    if not any(step.taken.word == "await_lag" for step in story.steps):
        unused.add("lag")
    return [item for item in _ITEMS if item[0] not in unused]


def _sample(name: str) -> Markup:
    if name in {"log-end-offset", "high-watermark", "predicted", "checkpoint"}:
        return element("line", x1=0, x2=25, y1=0, y2=0, class_=name)
    box = {"x": 0, "y": -6, "width": 25, "height": 12}
    if name in {"committed", "lag"}:
        return element("rect", **box, class_=name)
    grounds = {"held": "bar", "vanished": "vanished"}
    return group(
        element("rect", **box, class_=grounds.get(name, "lane-ground")),
        element("rect", **box, fill=f"url(#area-{'lost' if name == 'vanished' else name})"),
    )


# How are areas told apart without colour? Patterns: hatched, crossed, dotted, striped; defined once a page.


def patterns() -> Markup:
    """Return the ``<defs>`` that every picture of a page fills its areas with."""
    return element(
        "defs",
        _pattern("uncommitted", 7, "M-1 8 L8 -1"),
        _pattern("down", 8, "M-1 -1 L9 9"),
        _pattern("held", 6, "M-1 7 L7 -1"),
        _pattern("lost", 8, "M-1 9 L9 -1 M-1 -1 L9 9"),
        _pattern("diverged", 6, "M0 3 L6 3"),
        *(_arrow(name) for name in ("arrow", "sent", "late")),
    )


def _pattern(name: str, size: int, strokes: str) -> Markup:
    return element(
        "pattern",
        element("path", d=strokes, class_=f"stroke-{name}"),
        id=f"area-{name}",
        width=size,
        height=size,
        patternUnits="userSpaceOnUse",
    )


def _arrow(name: str) -> Markup:
    """Return the head of an arrow; those between transactions are as large whatever their line is."""
    size = {"arrow": 7, "sent": 10, "late": 14}[name]
    return element(
        "marker",
        element("path", d="M0 0 L8 4 L0 8 Z", class_="arrow" if name == "arrow" else f"arrow {name}"),
        id=f"area-{name}",
        viewBox="0 0 8 8",
        refX=7,
        refY=4,
        markerWidth=size,
        markerHeight=size,
        markerUnits=None if name == "arrow" else "userSpaceOnUse",
        orient="auto-start-reverse",
    )
