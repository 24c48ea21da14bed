"""Who sends what to whom, and what is answered? An arrow a request; one that is late comes from where it waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from conformance.record.transaction_course import COORDINATOR
from reports.svg import element, group, label, titled
from reports.transaction_picture.layout import EXTRA

if TYPE_CHECKING:
    from conformance.record.transaction_course import CourseRequest
    from reports.transaction_picture.course import CourseView
    from reports.transaction_picture.layout import Band, CourseLayout, CourseRow, LateBar

_THICK = 8.0


def draw_requests(view: CourseView, layout: CourseLayout) -> Markup:
    """Return every request that was delivered at once, in its row."""
    drawn = []
    for row in layout.rows:
        if row.request is not None and row.request.answer is not None:
            late = next((bar for bar in layout.bars if bar.end is row), None)
            drawn.append(_delivered(view, layout, row, row.request, late))
    return group(*drawn, class_="requests")


def _delivered(
    view: CourseView, layout: CourseLayout, row: CourseRow, request: CourseRequest, late: LateBar | None
) -> Markup:
    sender, receiver = layout.bands[request.sender], layout.bands[request.receiver]
    css = "request late" if late else "request marker" if request.sender == COORDINATOR else "request"
    start = late.x if late else sender.right
    return group(
        titled(request_words(request)),
        _line(start, receiver.left - 2, row.arrow, css),
        label(_words_at(layout, request), row.top + 14, _bold(request), _words_css(request, late)),
        _answer(view, layout, row, request),
        _nothing_new(layout, row, request),
        _asks(layout, row, request),
    )


def _line(x1: float, x2: float, y: float, css: str) -> Markup:
    marker = "url(#area-late)" if css == "request late" else "url(#area-sent)"
    return element("line", x1=x1, x2=x2, y1=y, y2=y, class_=css, marker_end=marker)


def _words_at(layout: CourseLayout, request: CourseRequest) -> float:
    """Return where the words of a request begin: behind the last producer, or behind the coordinator."""
    if request.sender == COORDINATOR:
        return layout.bands[COORDINATOR].right + 22
    return layout.bands[COORDINATOR].left - SAID_FROM


SAID_FROM = 203.0
"""How far before the coordinator the words of producers begin."""


def _words_css(request: CourseRequest, late: LateBar | None) -> str:
    return (
        "request-words late" if late else "request-words marker" if request.sender == COORDINATOR else "request-words"
    )


def _bold(request: CourseRequest) -> Markup:
    """Return a request's name and content; of a marker its content alone says all."""
    kind, says = (request.says, "") if request.sender == COORDINATOR else (request.kind, f" {request.says}".rstrip())
    return Markup("{}{}").format(element("tspan", kind, class_="kind"), says)


def _answer(view: CourseView, layout: CourseLayout, row: CourseRow, request: CourseRequest) -> Markup:
    """Return what is answered, with the sign of what brokers answered."""
    x, y = _words_at(layout, request), row.arrow + 14
    instead = view.measured_instead(request.asked)
    sign = element("tspan", f" {view.sign(request.asked)}", class_="instead" if instead else "good-sign")
    late = "late " if request.late else "again " if request.is_again else ""
    how = element("tspan", late, class_="how-late") if late else Markup()
    words = element("text", how, f"← {request.answer}", sign, x=x, y=y, class_=_answer_css(request))
    return group(words, label(x, y + EXTRA, instead, "instead")) if instead else words


def _answer_css(request: CourseRequest) -> str:
    return "answer-words refused" if request.is_refused else "answer-words"


def _nothing_new(layout: CourseLayout, row: CourseRow, request: CourseRequest) -> Markup:
    """Say of a batch that is answered as appended, and is not: the leader takes another one for it."""
    is_unchanged = row.before is not None and row.before.logs == row.after.logs
    if request.is_refused or request.receiver == COORDINATOR or not is_unchanged:
        return Markup()
    return label(layout.bands[request.receiver].left + 7, row.arrow + 4, "not appended", "tick")


def _asks(layout: CourseLayout, row: CourseRow, request: CourseRequest) -> Markup:
    """Return the arrow by which a leader has the coordinator add its partition, seen from what that changes there."""
    had = () if row.before is None else row.before.partitions
    if COORDINATOR in {request.sender, request.receiver} or had == row.after.partitions:
        return Markup()
    coordinator, leader, y = layout.bands[COORDINATOR], layout.bands[request.receiver], row.arrow + 16
    return group(
        titled(f"the leader of {request.receiver} has the coordinator add it to the transaction"),
        _line(leader.left, coordinator.right + 2, y, "request asks"),
        label(coordinator.right + 22, y - 4.5, "adds its partition", "asks-words"),
    )


def request_words(request: CourseRequest) -> str:
    """Return a request and what becomes of it as words."""
    said = f"{request.sender} to {request.receiver}: {request.kind} {request.says}".rstrip()
    if request.answer is None:
        return f"{said}, kept back as “{request.late}”"
    late = f", late, kept back as “{request.late}”" if request.late else ", a second time" if request.is_again else ""
    return f"{said}{late}; answered {request.answer}"


# Which request waits, and how long? A hatched bar from the row in which it is kept back to the one where it arrives.


def draw_late(layout: CourseLayout) -> Markup:
    """Return the bars of requests that are kept back, or sent again."""
    return group(*(_bar(layout, bar) for bar in layout.bars), class_="late-requests")


def _bar(layout: CourseLayout, bar: LateBar) -> Markup:
    request = bar.begin.request
    assert request is not None, "only requests wait"
    top, bottom = bar.begin.arrow, bar.end.arrow if bar.end else layout.bottom - 6
    box = {"x": bar.x - _THICK / 2, "y": top - 4, "width": _THICK, "height": bottom - top + 8, "rx": 3}
    return group(
        titled(request_words(bar.end.request) if bar.end and bar.end.request else request_words(request)),
        _kept(layout, bar, request) if request.answer is None else Markup(),
        element("rect", **box, class_="bar"),
        element("rect", **box, fill="url(#area-held)"),
    )


def _kept(layout: CourseLayout, bar: LateBar, request: CourseRequest) -> Markup:
    sender: Band = layout.bands[request.sender]
    x, y = layout.bands[COORDINATOR].left - SAID_FROM, bar.begin.arrow
    return group(
        element("line", x1=sender.left, x2=bar.x + 7, y1=y, y2=y, class_="request kept", marker_end="url(#area-late)"),
        label(x, y - 3, _bold(request), "request-words late"),
        label(x, y + 12, f"kept back as “{request.late}”", "kept-words"),
    )
