"""How does the page of a ledger beside somebody's cluster come about? From its directory, one file without script."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from conformance.record.attached import (
    VERDICT_FILE,
    AttachVerdict,
    Promised,
    read_attached,
    read_watched,
)
from conformance.record.attached_counted import CLASS_MEANS, COUNTED_FILE, Counted, lost_ranges
from conformance.record.fault_commands import read_commands, read_given_commands
from conformance.record.ledger_course import course_of
from reports.course_picture import LEFT, NS, WIDTH, Scale, fitting, led_words, state_words, ticks
from reports.html import style_sheet, template_environment

if TYPE_CHECKING:
    from collections.abc import Sequence, Set
    from pathlib import Path

    from conformance.record.attached import Attached, PartitionWatched
    from conformance.record.attached_counted import LostRange, RecordOfNote
    from conformance.record.directory import RunDirectory
    from conformance.record.fault_commands import CommandRun
    from conformance.record.ledger_course import LedgerCourse

PAGE = "report.html"
LOOKS = {
    Promised.KEPT: "good",
    Promised.ALLOWED_BY_SETTINGS: "caution",
    Promised.BROKEN: "bad",
    Promised.NONE: "quiet",
    Promised.UNSEEN: "quiet",
    Promised.INCONCLUSIVE: "caution",
}
ANSWERS = {
    Promised.KEPT: "Every acknowledged record was kept",
    Promised.ALLOWED_BY_SETTINGS: "Records are lost or changed, as the settings allow",
    Promised.BROKEN: "The cluster broke a promise of its settings",
    Promised.NONE: "The settings promise nothing",
    Promised.INCONCLUSIVE: "This decides nothing",
}
ROW, FLOW_TOP, FLOW, TOP = 26, 28, 34, 74
PARTITIONS_SHOWN, RANGES_SHOWN, BARS_MAX, SAMPLES_SHOWN = 40, 24, 300, 5
SILENCE_S = 2
"""From so many seconds on that no record was acknowledged in, it is told."""
LATE_S = 0.5


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which looks saw one leader of a partition and one ISR, as a bar of the picture.

    Attributes:
        x, width: in the picture's units.
        leader: None if there was none.
        out: replicas that were in the ISR at another time.
        is_in_sync: whether every replica was in the ISR.
    """

    x: float
    width: float
    leader: int | None
    leader_epoch: int | None
    isr: tuple[int, ...]
    out: tuple[int, ...]
    is_in_sync: bool

    @property
    def label(self) -> str:
        """Return as much of it as there is room for: the leader, and who is out of sync."""
        return "" if self.leader is None else fitting(led_words(self.leader, self.out), self.width)

    @property
    def words(self) -> str:
        """Return what the bar says, in words."""
        return state_words(self.leader, self.leader_epoch, self.isr)


@dataclass(frozen=True, slots=True)
class RunMark:
    """A command that was run: where it began and ended in the picture, and how late it was, in words."""

    run: CommandRun
    x: float
    x_end: float
    at_s: float
    lateness: str


def write_attach_page(run: RunDirectory) -> Path:
    """Write the page of a ledger that was judged.

    Raises:
        RunDirectoryError: a file of it cannot be read.
    """
    attached = read_attached(run)
    page = (
        template_environment()
        .get_template("attach.html.j2")
        .render(
            attached=attached,
            answer=ANSWERS,
            look=LOOKS,
            means=CLASS_MEANS,
            picture={"width": WIDTH, "row": ROW, "left": LEFT, "top": TOP, "flow_top": FLOW_TOP, "flow": FLOW},
            css=style_sheet("report.css", "picture.css", "attach.css"),
            **_judged(run),
            **_lost(run),
            **_seen(run, attached),
        )
    )
    path = run.path / PAGE
    path.write_text(page, encoding="utf-8")
    return path


def _judged(run: RunDirectory) -> dict[str, object]:
    """Return the verdict, and its classes: what was found or cannot be seen, and what was looked for and not found."""
    verdict = run.read(VERDICT_FILE, AttachVerdict)
    clear = [one for one in verdict.judged if not one.count and one.verdict == Promised.KEPT]
    return {"verdict": verdict, "clear": clear, "found": [one for one in verdict.judged if one not in clear]}


def _lost(run: RunDirectory) -> dict[str, object]:
    """Return what was counted, where acknowledged records are lost, and some records of the other classes."""
    counted = run.read(COUNTED_FILE, Counted)
    ranges = lost_ranges(run) if counted.total("lost") else []
    more = len(ranges[RANGES_SHOWN:])
    samples = _samples(counted, ranges)
    return {"counted": counted, "ranges": ranges[:RANGES_SHOWN], "more_ranges": more, "samples": samples}


def _seen(run: RunDirectory, attached: Attached) -> dict[str, object]:
    """Return what the cluster went through, in the picture's units."""
    watched, course = read_watched(run), course_of(run, attached.began_ns)
    last_ns = max([attached.ended_ns or 0, *(one.at_ns for one in watched), attached.began_ns + NS])
    scale = Scale(attached.began_ns, last_ns)
    return {
        "course": course,
        "bars": _bars(course, scale),
        "silence": course.longest_silence if course.longest_silence[1] >= SILENCE_S else None,
        "commands": _marks(run, scale),
        "rows": _rows(watched, attached, scale),
        "ticks": ticks(scale),
        "seconds": f"{scale.seconds(attached.ended_ns or last_ns):,.0f}",
    }


def _bars(course: LedgerCourse, scale: Scale) -> tuple[int, list[tuple[float, float, float]]]:
    """Return the usual rate, records a second, and a bar of x, width and height for so many seconds each.

    The usual rate is half as high as there is room for; what is sent at once after an outage may be more than is shown.
    """
    each = -(-len(course.acknowledged) // BARS_MAX) or 1
    starts = range(0, len(course.acknowledged), each)
    rates = [sum(course.acknowledged[at : at + each]) / each for at in starts]
    usual = median([rate for rate in rates if rate] or [1])
    places = [scale.x(scale.begins_ns + at * NS) for at in (*starts, len(course.acknowledged))]
    bars = [
        (x, max(end - x - 0.5, 0.5), min(FLOW, FLOW / 2 * rate / usual))
        for x, end, rate in zip(places, places[1:], rates, strict=False)
    ]
    return round(usual), bars


def _marks(run: RunDirectory, scale: Scale) -> list[RunMark]:
    """Return the commands in the order in which they ran; they were given in that of their times."""
    given, ran = read_given_commands(run), read_commands(run)
    late_s = [scale.seconds(one.began_ns) - due.at_s for one, due in zip(ran, given, strict=False)]
    marks = []
    for number, one in enumerate(ran):
        at_s = scale.seconds(one.began_ns)
        is_late = number < len(given) and late_s[number] - min(late_s) > LATE_S
        lateness = f", due at {given[number].at_s:g} s and late: another one ran, or it had to wait" if is_late else ""
        marks.append(RunMark(one, scale.x(one.began_ns), scale.x(one.ended_ns or scale.ends_ns), at_s, lateness))
    return marks


def _samples(counted: Counted, ranges: Sequence[LostRange]) -> list[RecordOfNote]:
    """Return the first few of each class; what is lost is told by its offsets."""
    taken: Counter[str] = Counter()
    chosen = []
    for one in counted.samples:
        taken[one.classification] += 1
        is_told = one.classification == "lost" and one.acknowledged_offset is not None and ranges
        if taken[one.classification] <= SAMPLES_SHOWN and not is_told:
            chosen.append(one)
    return chosen


def _rows(watched: Sequence[PartitionWatched], attached: Attached, scale: Scale) -> list[tuple[int, list[Span]]]:
    looks: dict[int, list[PartitionWatched]] = defaultdict(list)
    for one in watched:
        looks[one.partition].append(one)
    return [(number, _spans(looks[number], attached, scale)) for number in sorted(looks)[:PARTITIONS_SHOWN]]


def _spans(looks: Sequence[PartitionWatched], attached: Attached, scale: Scale) -> list[Span]:
    """Put looks in a row together that saw the same; each lasts until the next one that saw something else."""
    changes = [one for before, one in zip([None, *looks], looks, strict=False) if _state(before) != _state(one)]
    ends = [*(scale.x(one.at_ns) for one in changes[1:]), float(WIDTH)]
    replicas = {replica for one in looks for replica in one.isr}
    return [_span(one, end, replicas, attached, scale) for one, end in zip(changes, ends, strict=True)]


def _span(one: PartitionWatched, end: float, replicas: Set[int], attached: Attached, scale: Scale) -> Span:
    x, out = scale.x(one.at_ns), tuple(sorted(replicas - set(one.isr)))
    return Span(x, max(end - x, 1.0), one.leader, one.leader_epoch, one.isr, out, one.is_whole(attached.replicas))


def _state(one: PartitionWatched | None) -> tuple[object, ...]:
    return () if one is None else (one.leader, one.leader_epoch, one.isr, one.assigned)
