"""What does a run look like? One sheet: a lane a replica over time, the frames held between them.

Choices: every step has the same width; numbers are measured at rest after each step and their change
is drawn where the broker was killed or started, otherwise midway through the step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.picture.axis import draw_axis, draw_header
from reports.picture.columns import draw_columns
from reports.picture.contents import draw_contents
from reports.picture.controller import draw_controller
from reports.picture.differences import draw_differences
from reports.picture.held_frames import draw_held_frames
from reports.picture.lanes import draw_lane
from reports.picture.layout import AXIS, lay_out
from reports.picture.legend import draw_legend, legend_height
from reports.picture.marks import draw_checkpoints, draw_marks, mark_words
from reports.picture.scale import SHEET_WIDTH, TimeScale
from reports.picture.status import draw_status
from reports.picture.vanished import draw_vanished
from reports.svg import element, group

if TYPE_CHECKING:
    from reports.model import FinalLogs
    from reports.picture.layout import Lane
    from reports.story import Story


def draw_timeline(story: Story, final: FinalLogs, prefix: str) -> Markup:
    """Return the picture as an SVG element, or nothing if no steps or replicas are known.

    Args:
        story: what happened.
        final: the logs after the run; they confirm the labels written into the lanes.
        prefix: begins every id inside the picture; unique on its page.
    """
    if not story.steps or not story.replicas:
        return Markup()
    scale = TimeScale.of(story)
    layout = lay_out(story, scale)
    height = layout.bottom + AXIS + legend_height(story, scale)
    return element(
        "svg",
        element("title", "The run over time, a lane for every replica", id=f"{prefix}-title"),
        element("desc", describe_story(story), id=f"{prefix}-desc"),
        draw_header(scale, layout.top),
        *(_lane(story, final, lane, scale) for lane in layout.lanes),
        draw_controller(story, layout.controller, scale),
        draw_columns(story, layout, scale),
        draw_held_frames(layout),
        draw_checkpoints(story, layout, scale),
        *(draw_marks(story, final, lane, scale) for lane in layout.marked_lanes),
        draw_axis(scale, layout.bottom),
        draw_legend(story, scale, layout.bottom + AXIS),
        viewBox=f"0 0 {scale.sheet_width:.0f} {height:.0f}",
        width=scale.sheet_width,
        height=height,
        role="img",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
        class_="timeline",
        style=f"min-width:{scale.sheet_width:.0f}px" if scale.sheet_width > SHEET_WIDTH else None,
    )


def describe_story(story: Story) -> str:
    """Return the run in a few sentences, for whoever cannot see the picture."""
    marks = [f"Step {mark.at.step + 1}: {mark_words(mark)}." for mark in story.marks]
    held = [
        f"Step {frame.caught.step + 1}: {frame.label} {frame.between}, {frame.ending}." for frame in story.held_frames
    ]
    last = story.measured[-1] if story.measured else None
    ends = [
        f"Broker {broker} ends with log end offset {numbers.log_end_offset} and high watermark"
        f" {numbers.high_watermark}."
        for broker, numbers in (last.replicas.items() if last else ())
    ]
    return " ".join([f"{len(story.steps)} steps.", *marks, *held, *ends])


def _lane(story: Story, final: FinalLogs, lane: Lane, scale: TimeScale) -> Markup:
    return group(
        draw_lane(story, lane, scale),
        draw_contents(story, final, lane, scale),
        draw_status(story, lane, scale),
        draw_vanished(story, final, lane, scale),
        draw_differences(story, lane, scale),
    )
