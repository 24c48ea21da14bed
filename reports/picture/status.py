"""Who led, who was in sync, who was down? A strip of words over every lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from conformance.record.verdict import StaleLeader
from reports.picture.layout import STRIP
from reports.picture.scale import LEFT, TimeScale, change_at
from reports.svg import element, group, label, text_width, titled

if TYPE_CHECKING:
    from reports.picture.layout import Lane
    from reports.story import MomentView, Story


class Status(NamedTuple):
    """What a replica was, in words and in shorter forms for narrow places; the style follows ``css``."""

    css: str
    words: str
    shorter: tuple[str, ...] = ()


_BELIEVES = Status("believes", "★ believes it leads", ("★ believes", "★ ?"))


def draw_status(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    """Return the strip of a lane and the veil over the time its broker was down."""
    spans = _spans(story, lane.broker, scale)
    return group(*(_veil(lane, span) for span in spans), *(_segment(lane, span) for span in spans))


def status_of(story: Story, moment: MomentView, broker: int) -> Status:
    """Return what a replica was at rest after a step: in its own eyes, if it has not heard of its successor."""
    status = _decided_status(moment, broker)
    is_up_and_follows = status.css in {"in-sync", "out-of-sync"}
    return _BELIEVES if is_up_and_follows and StaleLeader(moment.step, broker) in story.stale_leaders else status


def _decided_status(moment: MomentView, broker: int) -> Status:
    numbers = moment.replicas.get(broker)
    if numbers is not None and not numbers.alive:
        suffix = ", still in ISR" if broker in moment.isr else ""
        return Status("down", f"down{suffix}", ("down",))
    if moment.leader == broker:
        epoch = "" if moment.leader_epoch is None else f", epoch {moment.leader_epoch}"
        return Status("leads", f"★ leader{epoch}", ("★ leader", "★"))
    if broker in moment.isr:
        return Status("in-sync", "follower, in ISR", ("in ISR",))
    return Status("out-of-sync", "follower, not in ISR", ("not in ISR", "no ISR"))


class _Span(NamedTuple):
    left: float
    right: float
    status: Status


_STARTING = Status("out-of-sync", "starting")


def _spans(story: Story, broker: int, scale: TimeScale) -> list[_Span]:
    spans: list[_Span] = []
    for moment in story.measured:
        status = status_of(story, moment, broker)
        if spans and spans[-1].status == status:
            continue
        for x, taken in _changes(story, broker, moment, scale) if spans else [(LEFT, status)]:
            if spans:
                spans[-1] = spans[-1]._replace(right=x)
            spans.append(_Span(x, scale.right, taken))
    return spans


def _changes(story: Story, broker: int, moment: MomentView, scale: TimeScale) -> list[tuple[float, Status]]:
    """Return where in its step a status changes; a broker elected as it starts first only starts."""
    if status_of(story, moment, broker) is _BELIEVES:
        others = [scale.at(mark.at) for mark in story.marks if mark.kind == "elected" and mark.at.step == moment.step]
        return [(others[-1] if others else scale.middle_of(moment.step), _BELIEVES)]
    own = [mark for mark in story.marks if mark.broker == broker and mark.at.step == moment.step]
    change = change_at(scale, story.marks, broker, moment.step)
    elected = [scale.at(mark.at) for mark in own if mark.kind == "elected" and moment.leader == broker]
    status = status_of(story, moment, broker)
    if not elected:
        return [(change, status)]
    if any(mark.kind == "started" for mark in own) and elected[-1] > change:
        return [(change, _STARTING), (elected[-1], status)]
    return [(elected[-1], status)]


def _segment(lane: Lane, span: _Span) -> Markup:
    width = span.right - span.left
    fitting = (w for w in (span.status.words, *span.status.shorter) if text_width(w) + 8 <= width)
    words = next(fitting, "")
    return group(
        titled(f"broker {lane.broker}: {span.status.words}"),
        element("rect", x=span.left, y=lane.top, width=width, height=STRIP, class_=f"strip {span.status.css}"),
        label(span.left + 6, lane.top + 13, words, f"strip-words {span.status.css}"),
    )


def _veil(lane: Lane, span: _Span) -> Markup:
    if span.status.css != "down":
        return Markup()
    box = {"x": span.left, "y": lane.top + STRIP, "width": span.right - span.left}
    height = lane.bottom - lane.top - STRIP
    return group(
        element("rect", **box, height=height, class_="veil"),
        element("rect", **box, height=height, fill="url(#area-down)"),
    )
