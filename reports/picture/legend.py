"""What does each line, pattern and sign mean? One row under the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.svg import element, group, label, text_width

if TYPE_CHECKING:
    from markupsafe import Markup

_ITEMS = (
    ("log-end-offset", "log end offset (LEO)"),
    ("high-watermark", "high watermark (HW)"),
    ("committed", "known committed"),
    ("uncommitted", "in the log, not known committed"),
    ("held", "frame held between brokers"),
    ("down", "broker down"),
    ("checkpoint", "checkpoint"),
)
LEGEND_HEIGHT = 26.0


def draw_legend(top: float, prefix: str) -> Markup:
    """Return the legend as one row of samples."""
    x, items = 4.0, []
    for name, words in _ITEMS:
        items.append(
            group(_sample(name, prefix), label(31, 4, words, "tick"), transform=f"translate({x:.0f} {top + 14:.0f})")
        )
        x += 31 + text_width(words, 10.6) + 16
    return group(*items, class_="legend")


def _sample(name: str, prefix: str) -> Markup:
    if name in {"log-end-offset", "high-watermark", "checkpoint"}:
        return element("line", x1=0, x2=25, y1=0, y2=0, class_=name)
    box = {"x": 0, "y": -6, "width": 25, "height": 12}
    if name == "committed":
        return element("rect", **box, class_="committed")
    return group(
        element("rect", **box, class_="bar" if name == "held" else "lane-ground"),
        element("rect", **box, fill=f"url(#{prefix}-{name})"),
    )
