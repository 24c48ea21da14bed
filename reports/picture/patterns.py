"""How are areas told apart without colour? Patterns: hatched, crossed, dotted, striped; defined once a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.svg import element

if TYPE_CHECKING:
    from markupsafe import Markup


def patterns() -> Markup:
    """Return the ``<defs>`` that every picture of a page fills its areas with."""
    return element(
        "defs",
        _pattern("uncommitted", 7, "M-1 8 L8 -1"),
        _pattern("down", 8, "M-1 -1 L9 9"),
        _pattern("held", 6, "M-1 7 L7 -1"),
        _pattern("lost", 8, "M-1 9 L9 -1 M-1 -1 L9 9"),
        _pattern("diverged", 6, "M0 3 L6 3"),
        _arrow(),
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


def _arrow() -> Markup:
    return element(
        "marker",
        element("path", d="M0 0 L8 4 L0 8 Z", class_="arrow"),
        id="area-arrow",
        viewBox="0 0 8 8",
        refX=7,
        refY=4,
        markerWidth=7,
        markerHeight=7,
        orient="auto-start-reverse",
    )
