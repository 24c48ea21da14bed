"""How are areas told apart without colour? Patterns: hatched, crossed, dotted, striped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.svg import element

if TYPE_CHECKING:
    from markupsafe import Markup


def patterns(prefix: str) -> Markup:
    """Return the ``<defs>`` of one SVG; ids carry the prefix so that several fit on one page."""
    return element(
        "defs",
        _pattern(prefix, "uncommitted", 7, "M-1 8 L8 -1"),
        _pattern(prefix, "down", 8, "M-1 -1 L9 9"),
        _pattern(prefix, "held", 6, "M-1 7 L7 -1"),
        _pattern(prefix, "lost", 8, "M-1 9 L9 -1 M-1 -1 L9 9"),
        _pattern(prefix, "diverged", 6, "M0 3 L6 3"),
        _arrow(prefix),
    )


def _pattern(prefix: str, name: str, size: int, strokes: str) -> Markup:
    return element(
        "pattern",
        element("path", d=strokes, class_=f"stroke-{name}"),
        id=f"{prefix}-{name}",
        width=size,
        height=size,
        patternUnits="userSpaceOnUse",
    )


def _arrow(prefix: str) -> Markup:
    return element(
        "marker",
        element("path", d="M0 0 L8 4 L0 8 Z", class_="arrow"),
        id=f"{prefix}-arrow",
        viewBox="0 0 8 8",
        refX=7,
        refY=4,
        markerWidth=7,
        markerHeight=7,
        orient="auto-start-reverse",
    )
