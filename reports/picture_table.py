"""What does the picture say, as a table? One row a step, for screen readers and for copying."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.picture.marks import mark_words, proof_words
from reports.picture.status import status_of

if TYPE_CHECKING:
    from reports.story import Instant, MomentView, Story


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
