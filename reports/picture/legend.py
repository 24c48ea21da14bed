"""What does each line, pattern and sign mean? One row under the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.svg import element, group, label, text_width

if TYPE_CHECKING:
    from markupsafe import Markup

    from reports.model import Story

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


def draw_legend(story: Story, top: float, prefix: str) -> Markup:
    """Return the legend as one row of samples: of what this picture has."""
    x, items = 4.0, []
    for name, words in _used(story):
        items.append(
            group(_sample(name, prefix), label(31, 4, words, "tick"), transform=f"translate({x:.0f} {top + 14:.0f})")
        )
        x += 31 + text_width(words, 10.6) + 16
    return group(*items, class_="legend")


def _used(story: Story) -> list[tuple[str, str]]:
    unused = set() if story.held_frames else {"held"}
    if all(numbers.alive for moment in story.measured for numbers in moment.replicas.values()):
        unused.add("down")
    if all(step.verb != "checkpoint" for step in story.steps):
        unused.add("checkpoint")
    return [item for item in _ITEMS if item[0] not in unused]


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
