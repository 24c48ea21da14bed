"""What does each lane have, and from when on? Epochs of producers, states of the coordinator, logs, what is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from conformance.record.transaction_course import COORDINATOR
from reports.answer_parts import tree_of
from reports.svg import clipped, element, group, label, titled
from reports.transaction_picture.course import AGREES, DIFFERS, GIVEN_WHAT, MISSING, UNASKED
from reports.transaction_picture.layout import CELL, CONSUMERS, EXTRA, TOP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.transaction_course import CourseBatch, CourseLog, CourseLook, CourseMoment
    from reports.transaction_picture.course import CourseView
    from reports.transaction_picture.layout import Band, CourseLayout, CourseRow

_SUBTITLES = {COORDINATOR: "state, epoch", CONSUMERS: "what is given"}
PHASE_STYLES = {"Empty": "empty", "Ongoing": "open", "CompleteCommit": "committed", "CompleteAbort": "aborted"}
"""The style of a state; those that are prepared look as what they are about to become, framed otherwise."""
_SIGNS = {"COMMIT": "C", "ABORT": "A"}


def draw_ground(layout: CourseLayout) -> Markup:
    """Return the lanes' names and grounds, and the lines between acts."""
    lines = (
        element("line", x1=0, x2=layout.width, y1=top, y2=top, class_="act-line") for _, top, _ in layout.blocks[1:]
    )
    return group(*(_band(name, band, layout.bottom) for name, band in layout.bands.items()), *lines)


def _band(name: str, band: Band, bottom: float) -> Markup:
    says = _SUBTITLES.get(name, "its epoch" if name.startswith("producer") else "the log")
    box = {"x": band.left, "y": TOP, "width": band.right - band.left, "height": bottom - TOP}
    return group(
        element("rect", **box, class_="lane-ground"),
        label(band.middle, 18, name, "lane-name", text_anchor="middle"),
        label(band.middle, 36, says, "tick", text_anchor="middle"),
    )


# Which epoch does a producer have, and what is the state of the transactional id? Strips from top to bottom.


def draw_producers(view: CourseView, layout: CourseLayout) -> Markup:
    """Return every producer's epochs."""
    return group(*(_strips(layout, name, list(_epochs(layout, name))) for name in view.producers))


def _epochs(layout: CourseLayout, name: str) -> Iterator[tuple[float, tuple[str, ...], str]]:
    """Yield where an epoch begins, in words, with its style."""
    had: int | None = None
    for act, _, _ in layout.blocks:
        epoch = next((one.epoch for one in act.producers if one.at == name), None)
        if epoch != had:
            own = [row for row in layout.rows if row.act is act]
            sent = [row for row in own if row.request is not None and row.request.sender == name]
            yield (sent or own)[-1].arrow, (f"epoch {epoch}",), "producer-epoch"
        had = epoch


def draw_coordinator(layout: CourseLayout) -> Markup:
    """Return the coordinator's states."""
    return _strips(layout, COORDINATOR, list(_phases(layout)))


def _phases(layout: CourseLayout) -> Iterator[tuple[float, tuple[str, ...], str]]:
    yield TOP, ("Empty",), "phase empty"
    had: tuple[str, int | None] = ("Empty", None)
    for row in layout.rows:
        has = (row.after.phase, row.after.epoch)
        if has != had:
            words = (has[0],) if has[1] is None else (has[0], f"epoch {has[1]}")
            yield row.arrow, words, f"phase {phase_style(has[0])}"
        had = has


def phase_style(phase: str) -> str:
    """Return the style of a state."""
    kind = PHASE_STYLES.get(phase)
    return kind or ("committed prepared" if phase.endswith("Commit") else "aborted prepared")


def _strips(layout: CourseLayout, name: str, changes: list[tuple[float, tuple[str, ...], str]]) -> Markup:
    band, drawn = layout.bands[name], []
    for place, (top, words, style) in enumerate(changes):
        bottom = changes[place + 1][0] if place + 1 < len(changes) else layout.bottom
        box = {"x": band.left, "y": top, "width": band.right - band.left, "height": bottom - top}
        drawn.append(element("rect", **box, class_=f"strip {style}"))
        if "open" in style:
            drawn.append(element("rect", **box, fill="url(#area-uncommitted)", opacity=0.35))
        drawn += [
            label(band.left + 7, top + 15 + 14 * line, text, f"strip-words {style}{'' if line else ' first'}")
            for line, text in enumerate(words)
        ]
    return group(titled(f"{name}: {', then '.join(' '.join(words) for _, words, _ in changes)}"), *drawn)


# What is in a log? A cell a batch, wherever something has changed, and the last stable offset below.


def draw_logs(view: CourseView, layout: CourseLayout) -> Markup:
    """Return every log in each row that changes it, or looks at it."""
    wrong = {**dict.fromkeys(view.broken_by(UNASKED), "wrong"), **dict.fromkeys(view.broken_by(MISSING), "lost")}
    drawn = []
    for row in layout.rows:
        looked = {look.at for look in row.act.looks} if row.request is None else set()
        for log in row.after.logs:
            if log.at in layout.bands and (log.at in looked or log != _log(row.before, log.at, log)):
                drawn.append(_draw_log(log, layout.bands[log.at], row, wrong))
                drawn += _looks(view, row, log.at, layout.bands[log.at])
    return group(*drawn, class_="logs-in-time")


def _log(moment: CourseMoment | None, at: str, log: CourseLog) -> CourseLog:
    """Return a log as it was before; before the first row it was empty."""
    if moment is None:
        return type(log)(at, (), 0)
    return next(one for one in moment.logs if one.at == at)


def _draw_log(log: CourseLog, band: Band, row: CourseRow, wrong: dict[str, str]) -> Markup:
    left, top = band.left + 9, row.arrow - CELL[1] / 2 - 2
    cells = (_cell(batch, left + CELL[0] * place, top, wrong) for place, batch in enumerate(log.batches))
    return group(
        titled(f"{log.at} holds {log_words(log)}"),
        *(cells if log.batches else [label(left + 7, row.arrow + 3, "empty", "tick")]),
        _stable(log, left, top, band),
    )


def log_words(log: CourseLog) -> str:
    """Return a log in words."""
    held = ", ".join(f"{one.holds} ({one.end})" if one.end else one.holds for one in log.batches)
    return f"{held or 'nothing'}; last stable offset {log.last_stable_offset}"


def _cell(batch: CourseBatch, x: float, top: float, wrong: dict[str, str]) -> Markup:
    marker = _SIGNS.get(batch.holds) if batch.end is None else None
    style = f"marker-{batch.holds.lower()}" if marker else batch.end or ""
    box = {"x": x + 1, "y": top, "width": CELL[0] - 2, "height": CELL[1], "rx": 3}
    is_wrong = batch.end is not None and batch.end != "open" and batch.holds in wrong
    css = f"batch {style}{f' {wrong[batch.holds]}' if is_wrong else ''}"
    says = f"{batch.holds}: {batch.end or 'marker'}, epoch {batch.epoch}"
    return group(
        titled(says if batch.sequence is None else f"{says}, sequence {batch.sequence}"),
        element("rect", **box, class_=css),
        element("rect", **box, fill="url(#area-uncommitted)") if style == "open" else Markup(),
        label(x + CELL[0] / 2, top + 15.5, marker or clipped(batch.holds, 3), f"{css} holds", text_anchor="middle"),
    )


def _stable(log: CourseLog, left: float, top: float, band: Band) -> Markup:
    x = left + CELL[0] * log.last_stable_offset
    words = f"LSO {log.last_stable_offset}"
    return group(
        element("line", x1=x, x2=x, y1=top - 3, y2=top + CELL[1] + 4, class_="stable-offset"),
        label(
            min(max(x, band.left + 24), band.right - 24),
            top + CELL[1] + 15,
            words,
            "stable-words",
            text_anchor="middle",
        ),
    )


def _looks(view: CourseView, row: CourseRow, at: str, band: Band) -> Iterator[Markup]:
    """Yield what brokers answered to a look, below the log."""
    if row.request is not None:
        return
    own = [look for look in row.act.looks if look.at == at and look.what != GIVEN_WHAT]
    signs = {view.sign(look.asked) for look in own}
    y = row.arrow + CELL[1] / 2 + 28
    if [look.what for look in own] == ["answer"]:
        sign = element(
            "tspan", f" {view.sign(own[0].asked)}".rstrip(), class_="good-sign" if signs == {AGREES} else "instead"
        )
        yield element("text", own[0].predicted, sign, x=band.left + 9, y=y, class_="look-answer")
        y += EXTRA
    elif signs == {AGREES}:
        yield label(band.left + 9, y, "✓ measured", "measured-so")
    for look in own:
        if instead := view.measured_instead(look.asked):
            yield group(titled(f"{look.what}: {instead}"), label(band.left + 9, y, _short(view, look), "instead"))
            y += EXTRA


def _short(view: CourseView, look: CourseLook) -> str:
    """Return what was measured otherwise, in as few letters as there is room for."""
    measured = view.asked[look.asked].measured or "no answer"
    listed = tree_of(measured) if look.what == "log" else None
    if isinstance(listed, list):
        return f"{DIFFERS} {' '.join(_SIGNS.get(str(one), str(one)) for one in listed) or 'empty'}"
    return f"{DIFFERS} LSO {measured}" if look.what == "last stable offset" else f"{DIFFERS} {measured}"
