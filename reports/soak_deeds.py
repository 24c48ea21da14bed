"""What was done to the brokers of a soak, from when until when? Marks of its timeline, as one deed each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.directory import cleaned
from conformance.record.timeline import HOLD_ENDS, Event, read_timeline
from reports.course_picture import CHARACTER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.timeline import TimelineMark
    from reports.course_picture import Scale

DOWN, APART, HELD, ASKED = "down", "apart", "held", "asked"
BEGINS = {
    Event.BROKER_KILLED: DOWN,
    Event.BROKER_STOPPED: DOWN,
    Event.BROKER_ENDED: DOWN,
    Event.BROKER_PAUSED: APART,
    Event.BROKER_ISOLATED: APART,
    Event.LINK_CUT: APART,
    Event.HOLD_CAUGHT: HELD,
    Event.ELECTION_REQUESTED: ASKED,
    Event.FAULT_HEAL_FAILED: ASKED,
}
"""What each is, as the picture shows it: a broker is down, or does not hear others, a frame is held, or it is short."""
ENDS: dict[Event, frozenset[Event]] = {
    Event.BROKER_STARTED: frozenset({Event.BROKER_KILLED, Event.BROKER_STOPPED, Event.BROKER_ENDED}),
    Event.BROKER_RESUMED: frozenset({Event.BROKER_PAUSED}),
    Event.BROKER_REJOINED: frozenset({Event.BROKER_ISOLATED}),
    Event.LINK_HEALED: frozenset({Event.LINK_CUT}),
    **dict.fromkeys(HOLD_ENDS, frozenset({Event.HOLD_CAUGHT})),
}
PADDING = 7.0


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that was done.

    Attributes:
        number: from 1, in the order of time.
        look: what it is to the picture.
        at_s: when, in seconds since load began.
        until_s: when it was taken back; None if it is momentary, or was not by the end.
        is_momentary: whether nothing stands after it.
        x, x_end: where it is in the picture.
        is_numbered: whether the picture has room for its number.
    """

    number: int
    look: str
    words: str
    at_s: float
    until_s: float | None
    is_momentary: bool
    x: float
    x_end: float
    is_numbered: bool

    @property
    def lasted(self) -> str:
        """Return how long it stood, in words."""
        if self.is_momentary:
            return ""
        return "to the end" if self.until_s is None else f"{self.until_s - self.at_s:,.1f} s"


def deeds_of(run: RunDirectory, scale: Scale) -> list[Deed]:
    """Return what was done, in the order of time.

    Raises:
        RunDirectoryError: the timeline cannot be read.
    """
    deeds: list[Deed] = []
    numbered_x = float("-inf")
    for number, (mark, end) in enumerate(_paired(read_timeline(run, may_be_cut=True)), 1):
        x = scale.x(_at(mark))
        is_numbered = x - numbered_x >= PADDING + CHARACTER * len(str(number))
        numbered_x = x if is_numbered else numbered_x
        deeds.append(_deed(number, mark, end, scale, is_numbered=is_numbered))
    return deeds


def _deed(number: int, mark: TimelineMark, end: TimelineMark | None, scale: Scale, *, is_numbered: bool) -> Deed:
    look = BEGINS[mark.event]
    ends_ns = scale.ends_ns if end is None else _at(end)
    x = scale.x(_at(mark))
    return Deed(
        number=number,
        look=look,
        words=cleaned(_words(mark)),
        at_s=scale.seconds(_at(mark)),
        until_s=None if end is None else scale.seconds(ends_ns),
        is_momentary=look == ASKED,
        x=x,
        x_end=x if look == ASKED else max(scale.x(ends_ns), x),
        is_numbered=is_numbered,
    )


def _paired(marks: Sequence[TimelineMark]) -> Iterator[tuple[TimelineMark, TimelineMark | None]]:
    """Yield what begins with what ends it; what is there already does not begin again."""
    begun: list[TimelineMark] = []
    ended: dict[int, TimelineMark] = {}
    standing: dict[tuple[Event, str], int] = {}
    for mark in marks:
        if mark.event in BEGINS and (mark.event, _whom(mark)) not in standing:
            if BEGINS[mark.event] != ASKED:
                standing[mark.event, _whom(mark)] = len(begun)
            begun.append(mark)
        for event in ENDS.get(mark.event, ()):
            if (place := standing.pop((event, _whom(mark)), None)) is not None:
                ended[place] = mark
    for place, mark in sorted(enumerate(begun), key=lambda one: _at(one[1])):
        yield mark, ended.get(place)


def _at(mark: TimelineMark) -> int:
    return mark.t_ns if mark.at_ns is None else mark.at_ns


def _whom(mark: TimelineMark) -> str:
    """Return to whom it happens: of a link both ends, in either direction."""
    if mark.event in {Event.LINK_CUT, Event.LINK_HEALED}:
        return " ".join(sorted((str(mark.follower), str(mark.leader))))
    return mark.subject


def _words(mark: TimelineMark) -> str:
    if mark.event is not Event.HOLD_CAUGHT:
        return mark.text
    asked = "answer" if mark.point == "fetch_response" else "request"
    at = "" if mark.offset is None else f", at fetch offset {mark.offset:,}"
    return f"a fetch of broker {mark.follower} from broker {mark.leader} is held: its {asked}{at}"
