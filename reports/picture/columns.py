"""In which columns did only time pass, and in which was a race decided? A band and a sign over the lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.svg import element, group, label, titled

if TYPE_CHECKING:
    from markupsafe import Markup

    from reports.picture.layout import PictureLayout
    from reports.picture.scale import TimeScale
    from reports.story import StepView, Story


def draw_columns(story: Story, layout: PictureLayout, scale: TimeScale) -> Markup:
    """Return the bands of lag time and the signs of races."""
    lags = [step for step in story.steps if step.taken.word == "await_lag"]
    return group(
        *(_lag(step, layout, scale) for step in lags),
        *(_race(step, layout, scale) for step in story.raced_steps if step < len(story.steps)),
        class_="columns-of-time",
    )


def _lag(step: StepView, layout: PictureLayout, scale: TimeScale) -> Markup:
    left, top = scale.left_of(step.index), layout.top
    end = layout.lanes[-1].bottom
    middle = scale.middle_of(step.index)
    return group(
        titled(f"The lag time passes: {step.seconds or step.sentence}"),
        element("rect", x=left, y=top, width=scale.column, height=end - top, class_="lag"),
        element("line", x1=left, x2=left, y1=top, y2=end, class_="lag-edge"),
        element("line", x1=left + scale.column, x2=left + scale.column, y1=top, y2=end, class_="lag-edge"),
        label(middle, top - 5, f"◷ {step.seconds}".strip(), "lag-words", text_anchor="middle"),
    )


def _race(step: int, layout: PictureLayout, scale: TimeScale) -> Markup:
    return group(
        titled(f"Here a race was open: what step {step + 1} ends with depends on which frame came first"),
        label(scale.middle_of(step), layout.top - 5, "⇄ race", "race-words", text_anchor="middle"),
    )
