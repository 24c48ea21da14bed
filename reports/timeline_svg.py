"""What does a run look like? One sheet: a lane a replica over time, the frames held between them.

Choices: every step has the same width; numbers are measured at rest after each step and their change
is drawn where the broker was killed or started, otherwise midway through the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.picture.contents import draw_contents, draw_vanished
from reports.picture.lanes import draw_controller, draw_differences, draw_lane, lane_name, name_base
from reports.picture.layout import AXIS, SLANT_DEGREES, heading_words, lay_out
from reports.picture.legend import draw_legend, legend_height
from reports.picture.marks import draw_checkpoints, draw_held_frames, draw_marks, mark_words, proof_words
from reports.picture.scale import LEFT, TimeScale
from reports.picture.status import draw_status, status_of
from reports.svg import element, group, label, titled

if TYPE_CHECKING:
    from reports.picture.layout import Lane, PictureLayout
    from reports.story import Instant, MomentView, StepView, Story


def draw_timeline(story: Story, prefix: str) -> Markup:
    """Return the picture as an SVG element, or nothing if no steps or replicas are known.

    Args:
        story: what happened.
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
        *(_lane(story, lane, scale) for lane in layout.lanes),
        draw_controller(story, layout.controller, scale),
        draw_columns(story, layout, scale),
        draw_held_frames(story, layout),
        draw_checkpoints(story, layout, scale),
        *(draw_marks(story, lane, scale) for lane in layout.marked_lanes),
        draw_axis(scale, layout.bottom),
        draw_legend(story, scale, layout.bottom + AXIS),
        viewBox=f"0 0 {scale.sheet_width:.0f} {height:.0f}",
        width=scale.sheet_width,
        height=height,
        role="img",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
        class_="timeline",
    )


def lane_names(story: Story) -> list[tuple[str, float]]:
    """Return what stays at the left of the picture while it is scrolled: each lane's name, and its base line."""
    layout = lay_out(story, TimeScale.of(story))
    return [(lane_name(lane), name_base(lane)) for lane in layout.marked_lanes]


def describe_story(story: Story) -> str:
    """Return the run in a few sentences, for whoever cannot see the picture."""
    marks = [f"Step {mark.at.step + 1}: {mark_words(mark)}{proof_words(mark, story)}." for mark in story.marks]
    held = [
        f"Step {frame.caught.step + 1}: {frame.label} {frame.between}, {frame.ending}{story.said_of(frame.armed_in)}."
        for frame in story.held_frames
    ]
    last = story.measured[-1] if story.measured else None
    ends = [
        f"Broker {broker} ends with log end offset {numbers.log_end_offset} and high watermark"
        f" {numbers.high_watermark}."
        for broker, numbers in (last.replicas.items() if last else ())
    ]
    return " ".join([f"{len(story.steps)} steps.", *marks, *held, *ends])


def _lane(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    return group(
        draw_lane(story, lane, scale),
        draw_contents(story, lane, scale),
        draw_status(story, lane, scale),
        draw_vanished(story, lane, scale),
        draw_differences(story, lane, scale),
    )


# Which column is which step, and how long did it take? Slanted words above, numbers and seconds below.


def draw_header(scale: TimeScale, top: float) -> Markup:
    """Return the steps' words, slanted over their columns; the lanes begin at ``top``."""
    return group(*(_heading(scale, step, top) for step in scale.steps), class_="headings")


def draw_axis(scale: TimeScale, top: float) -> Markup:
    """Return step numbers and the seconds at which every step began."""
    rows = [
        label(LEFT - 8, top + 16, "step", "tick", text_anchor="end"),
        label(LEFT - 8, top + 32, "begins at", "tick", text_anchor="end"),
    ]
    for step in scale.steps:
        x = scale.middle_of(step.index)
        rows.append(label(x, top + 16, str(step.index + 1), "tick", text_anchor="middle"))
        rows.append(label(x, top + 32, seconds_words(scale, step), "tick", text_anchor="middle"))
    return group(*rows)


def seconds_words(scale: TimeScale, step: StepView) -> str:
    """Return when a step began, in seconds since the first; empty if nobody wrote it down."""
    begun = [other.started_ns for other in scale.steps if other.started_ns is not None]
    if step.started_ns is None or not begun:
        return ""
    seconds = (step.started_ns - min(begun)) / 1e9
    return f"{seconds:.1f} s" if scale.column >= 38 else f"{seconds:.0f}"


def _heading(scale: TimeScale, step: StepView, top: float) -> Markup:
    x, left = scale.middle_of(step.index) - 2, scale.left_of(step.index)
    words = label(0, 0, heading_words(step), f"heading heading-{step.taken.word.replace('_', '-')}")
    return group(
        titled(step.sentence),
        element("line", x1=left, x2=left, y1=top - 4, y2=top),
        group(words, transform=f"translate({x:.1f} {top - 24:.1f}) rotate({-SLANT_DEGREES:.0f})"),
    )


# In which columns did only time pass, and in which was a race decided? A band and a sign over the lanes.


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


# What does the picture say, as a table? One row a step, for screen readers and for copying.


@dataclass(frozen=True, slots=True)
class PictureRow:
    """One step: what was done, what every replica was and held afterwards, what stood still."""

    number: int
    step: str
    begins: str
    replicas: tuple[str, ...]
    events: str


def picture_table(story: Story) -> tuple[PictureRow, ...]:
    """Return the picture's content, step by step."""
    moments = {moment.step: moment for moment in story.measured}
    begun = [step.started_ns for step in story.steps if step.started_ns is not None]
    return tuple(
        PictureRow(
            number=step.index + 1,
            step=step.taken.short,
            begins="" if step.started_ns is None else f"{(step.started_ns - min(begun)) / 1e9:.1f} s",
            replicas=tuple(_replica_words(story, moments.get(step.index), broker) for broker in story.replicas),
            events="; ".join(_events(story, step.index)),
        )
        for step in story.steps
    )


def _replica_words(story: Story, moment: MomentView | None, broker: int) -> str:
    numbers = moment.replicas.get(broker) if moment else None
    if moment is None or numbers is None:
        return "not measured"
    status = status_of(story, moment, broker).words.removeprefix("★ ")
    return f"LEO {_known(numbers.log_end_offset)}, HW {_known(numbers.high_watermark)}; {status}"


def _known(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def _events(story: Story, step: int) -> list[str]:
    words = [
        f"{mark_words(mark)}{_in_brackets(proof_words(mark, story))}" for mark in story.marks if mark.at.step == step
    ]
    if step in story.raced_steps:
        words.append("open race")
    for frame in story.held_frames:
        if frame.caught.step == step:
            words.append(f"{frame.label} {frame.between}{_in_brackets(story.said_of(frame.armed_in))}")
        if _is_at(frame.ended, step):
            words.append(f"{frame.label.removesuffix(' held')} {frame.ending}")
    return words


def _in_brackets(proof: str) -> str:
    return f" ({proof.removeprefix('; ')})" if proof else ""


def _is_at(instant: Instant | None, step: int) -> bool:
    return instant is not None and instant.step == step
