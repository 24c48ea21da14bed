"""How does the page of a ledger beside somebody's cluster come about? From its directory, one file without script."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.attached import (
    VERDICT_FILE,
    AttachVerdict,
    Promised,
    read_attached,
    read_settings,
    read_watched,
)
from conformance.record.attached_counted import COUNTED_FILE, Counted
from conformance.record.fault_commands import read_commands
from reports.html import style_sheet, template_environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.record.attached import Attached, PartitionWatched
    from conformance.record.directory import RunDirectory

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
WIDTH, ROW, LEFT, TOP = 1000, 26, 92, 30
NS = 1_000_000_000
PARTITIONS_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which looks saw one leader of a partition and one ISR, as a bar of the picture.

    Attributes:
        x, width: in the picture's units.
        leader: None if there was none.
        is_in_sync: whether every replica was in the ISR.
    """

    x: float
    width: float
    leader: int | None
    leader_epoch: int | None
    isr: tuple[int, ...]
    is_in_sync: bool

    @property
    def words(self) -> str:
        """Return what the bar says, in words."""
        if self.leader is None:
            return "no leader"
        epoch = "" if self.leader_epoch is None else f", leader epoch {self.leader_epoch}"
        return f"broker {self.leader} leads{epoch}; in sync: {', '.join(map(str, self.isr))}"


@dataclass(frozen=True, slots=True)
class Scale:
    """From time to the picture's units."""

    begins_ns: int
    ends_ns: int

    def x(self, at_ns: int) -> float:
        """Return where a moment is."""
        share = (at_ns - self.begins_ns) / max(self.ends_ns - self.begins_ns, 1)
        return LEFT + (WIDTH - LEFT) * min(max(share, 0.0), 1.0)

    def seconds(self, at_ns: int) -> float:
        """Return a moment in seconds since the beginning."""
        return (at_ns - self.begins_ns) / NS


def write_attach_page(run: RunDirectory) -> Path:
    """Write the page of a ledger that was judged.

    Raises:
        RunDirectoryError: a file of it cannot be read.
    """
    attached, counted = read_attached(run), run.read(COUNTED_FILE, Counted)
    verdict, watched, commands = run.read(VERDICT_FILE, AttachVerdict), read_watched(run), read_commands(run)
    scale = Scale(
        attached.began_ns, max([attached.ended_ns or 0, *(one.at_ns for one in watched), attached.began_ns + NS])
    )
    page = (
        template_environment()
        .get_template("attach.html.j2")
        .render(
            attached=attached,
            counted=counted,
            verdict=verdict,
            settings=read_settings(run),
            commands=[(one, scale.x(one.began_ns), scale.seconds(one.began_ns)) for one in commands],
            rows=_rows(watched, attached, scale),
            ticks=_ticks(scale),
            scale=scale,
            seconds=f"{((attached.ended_ns or scale.ends_ns) - attached.began_ns) / NS:,.0f}",
            look=LOOKS,
            answer=ANSWERS[verdict.promise],
            picture={"width": WIDTH, "row": ROW, "left": LEFT, "top": TOP},
            css=style_sheet("report.css", "attach.css"),
        )
    )
    path = run.path / PAGE
    path.write_text(page, encoding="utf-8")
    return path


def _rows(watched: Sequence[PartitionWatched], attached: Attached, scale: Scale) -> list[tuple[int, list[Span]]]:
    looks: dict[int, list[PartitionWatched]] = defaultdict(list)
    for one in watched:
        looks[one.partition].append(one)
    return [(number, _spans(looks[number], attached, scale)) for number in sorted(looks)[:PARTITIONS_SHOWN]]


def _spans(looks: Sequence[PartitionWatched], attached: Attached, scale: Scale) -> list[Span]:
    """Put looks in a row together that saw the same; each lasts until the next one that saw something else."""
    changes = [one for before, one in zip([None, *looks], looks, strict=False) if _state(before) != _state(one)]
    ends = [*(scale.x(one.at_ns) for one in changes[1:]), float(WIDTH)]
    return [_span(one, end, attached, scale) for one, end in zip(changes, ends, strict=True)]


def _span(one: PartitionWatched, end: float, attached: Attached, scale: Scale) -> Span:
    x = scale.x(one.at_ns)
    return Span(x, max(end - x, 1.0), one.leader, one.leader_epoch, one.isr, one.is_whole(attached.replicas))


def _state(one: PartitionWatched | None) -> tuple[object, ...]:
    return () if one is None else (one.leader, one.leader_epoch, one.isr, one.assigned)


def _ticks(scale: Scale) -> list[tuple[float, str]]:
    """Return some moments with their words, at round seconds."""
    whole = scale.seconds(scale.ends_ns)
    step = next((one for one in (1, 5, 10, 30, 60, 300, 600, 1800, 3600) if whole / one <= 10), 7200)
    return [(scale.x(scale.begins_ns + at * NS), f"{at} s") for at in range(0, int(whole) + 1, step)]
