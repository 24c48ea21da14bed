"""What does a soak look like over time? Throughput, watermark lag, partitions out of sync, who led, what was done."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.record.soak_course import LedState, read_course
from reports.course_picture import NS, WIDTH, Scale, fitting, led_words, state_words, ticks
from reports.soak_deeds import Deed, deeds_of

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
    from conformance.record.soak_course import PartitionCourse, SoakCourse

LANES_MAX = 40
LOOKS = 7
"""So many brokers have a colour of their own."""
USUAL_MAX = 1.4
"""Throughput is cut off at so many times what it is in nearly every bucket."""
NEARLY = 0.96
SILENCE_S = 2.0
STRIP, TOP, ROW = 38, 62, 22
FLOW, LAG, OUT, GAP = 72, 52, 36, 20
LAG_TOP = TOP + FLOW + GAP
OUT_TOP = LAG_TOP + LAG + GAP
LANES_TOP = OUT_TOP + OUT + GAP
DENSE = 60
"""From so many deeds on they would cover what they are to explain: no lines, and nothing over the lanes."""


@dataclass(frozen=True, slots=True)
class Graph:
    """One series over time, as the outline of its bars.

    Attributes:
        top: its upper edge in the picture.
        height: of the room that it has.
        greatest: how much the whole height stands for.
        path: of the bars.
        other: of a second series as a line; empty if there is none.
    """

    top: float
    height: float
    greatest: float
    path: str
    other: str = ""

    @property
    def base(self) -> float:
        """Return where the bars stand."""
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class LedSpan:
    """A time in which a partition had one leader, leader epoch and ISR.

    Attributes:
        x, width: in the picture's units.
        look: which colour its leader has, from 0; None without a leader.
        is_out: whether a replica was not in sync.
    """

    x: float
    width: float
    look: int | None
    is_out: bool
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is drawn.

    Attributes:
        course: what it is of.
        is_cut: whether throughput is cut off.
        silence: from when on no record was acknowledged for longest while others were sent, and for how long, in
            seconds; None if that is not long.
        lanes: the spans of each partition that is shown.
        hidden: how many partitions are not.
        leaders: who led, with the colours.
    """

    course: SoakCourse
    ticks: list[tuple[float, str]]
    flow: Graph
    lag: Graph
    out: Graph
    is_cut: bool
    silence: tuple[float, float] | None
    lanes: list[tuple[int, float, list[LedSpan]]]
    hidden: int
    leaders: list[tuple[int, int]]
    deeds: list[Deed]

    @property
    def bottom(self) -> float:
        """Return where the lanes end."""
        return LANES_TOP + ROW * len(self.lanes)

    @property
    def is_dense(self) -> bool:
        """Return whether there are so many deeds that they are told apart in their own row only."""
        return len(self.deeds) > DENSE

    @property
    def deeds_end(self) -> float:
        """Return how far down deeds are drawn."""
        return OUT_TOP + OUT if self.is_dense else self.bottom


def soak_picture(run: RunDirectory, soak: Soak, of_note: Set[int]) -> Picture | None:
    """Return the picture of a soak; None if nothing is known of its course.

    Args:
        run: the soak's directory.
        soak: of it.
        of_note: partitions that are shown before others, where there are too many.

    Raises:
        RunDirectoryError: a file cannot be read.
    """
    course = read_course(run)
    if course is None:
        return None
    scale = Scale(soak.began_ns, soak.began_ns + int(course.seconds * NS))
    shown, (most, is_cut) = shown_partitions(course.partitions, of_note), _most(course)
    return Picture(
        course=course,
        ticks=ticks(scale),
        flow=_flow(course, most, scale),
        lag=_graph(course.lag, LAG_TOP, LAG, max(course.lag, default=0), course, scale),
        out=_graph(course.out_of_sync, OUT_TOP, OUT, soak.partitions, course, scale),
        is_cut=is_cut,
        silence=_silence(course),
        lanes=[(one.partition, LANES_TOP + ROW * place, _spans(one, soak, scale)) for place, one in enumerate(shown)],
        hidden=len(course.partitions) - len(shown),
        leaders=_leaders(course),
        deeds=deeds_of(run, scale),
    )


def shown_partitions(partitions: Sequence[PartitionCourse], of_note: Set[int]) -> list[PartitionCourse]:
    """Return as many as a page has room for, in their order: those of note, then those with the most changes."""
    ranked = sorted(partitions, key=lambda one: (one.partition not in of_note, -_changes(one), one.partition))
    return sorted(ranked[:LANES_MAX], key=lambda one: one.partition)


def _changes(one: PartitionCourse) -> int:
    return sum(state.states for state in one.states)


def _most(course: SoakCourse) -> tuple[float, bool]:
    """Return how much the height of throughput stands for, and whether there is more."""
    rates = sorted(count / course.bucket_s for count in (*course.acknowledged, *course.sent) if count) or [1.0]
    most = min(rates[-1], USUAL_MAX * rates[int(NEARLY * (len(rates) - 1))])
    return most, most < rates[-1]


def _flow(course: SoakCourse, most: float, scale: Scale) -> Graph:
    rates, sent = ([count / course.bucket_s for count in counts] for counts in (course.acknowledged, course.sent))
    return _graph(rates, TOP, FLOW, most, course, scale, sent)


def _graph(
    numbers: Sequence[float],
    top: float,
    height: float,
    greatest: float,
    course: SoakCourse,
    scale: Scale,
    other: Sequence[float] = (),
) -> Graph:
    places = [scale.x_after(course.bucket_s * place) for place in range(len(numbers) + 1)]
    base = top + height
    heights = [height * min(number / max(greatest, 1), 1.0) for number in numbers]
    bars = (
        f"M{x:.1f} {base:.1f}V{base - tall:.1f}H{end:.1f}V{base:.1f}z"
        for x, end, tall in zip(places, places[1:], heights, strict=False)
        if tall
    )
    line = "".join(
        f"{'L' if place else 'M'}{x:.1f} {base - height * min(number / max(greatest, 1), 1.0):.1f}H{end:.1f}"
        for place, (x, end, number) in enumerate(zip(places, places[1:], other, strict=False))
    )
    return Graph(top, height, greatest, "".join(bars), line)


def _silence(course: SoakCourse) -> tuple[float, float] | None:
    """Return the longest time in which records were acknowledged before and after, and none in it."""
    flowing = [place for place, count in enumerate(course.acknowledged) if count]
    between = [(after - before - 1, before + 1) for before, after in pairwise(flowing)]
    longest, place = max(between, default=(0, 0))
    lasts_s = longest * course.bucket_s
    return (place * course.bucket_s, lasts_s) if lasts_s >= SILENCE_S else None


def _spans(one: PartitionCourse, soak: Soak, scale: Scale) -> list[LedSpan]:
    starts = [scale.x_after(state.at_s) for state in one.states]
    ends = [*starts[1:], float(WIDTH)]
    replicas = {broker for state in one.states for broker in state.isr}
    return [_span(state, x, end, replicas, soak) for state, x, end in zip(one.states, starts, ends, strict=False)]


def _span(state: LedState, x: float, end: float, replicas: Set[int], soak: Soak) -> LedSpan:
    out = sorted(replicas - set(state.isr))
    width = max(end - x, 0.8)
    many = f"{state.states} changes, at last: " if state.states > 1 else ""
    words = f"from {state.at_s:,.1f} s: {many}{state_words(state.leader, state.leader_epoch, state.isr)}"
    is_out = len(state.isr) < soak.replicas
    if state.leader is None:
        return LedSpan(x, width, None, is_out, "", words)
    label = fitting(led_words(state.leader, out), width)
    return LedSpan(x, width, look_of(state.leader), is_out, label, words)


def look_of(broker: int) -> int:
    """Return which colour a broker has."""
    return (broker - 1) % LOOKS


def _leaders(course: SoakCourse) -> list[tuple[int, int]]:
    leaders = {state.leader for one in course.partitions for state in one.states if state.leader is not None}
    return [(leader, look_of(leader)) for leader in sorted(leaders)]
