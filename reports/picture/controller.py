"""What had the controller decided, and when? A low lane under the replicas, drawn where the controller takes part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from reports.picture.layout import STRIP
from reports.picture.scale import LEFT
from reports.svg import element, group, label, text_width, titled

if TYPE_CHECKING:
    from reports.picture.layout import Lane
    from reports.picture.scale import TimeScale
    from reports.story import MomentView, Story


class _Decision(NamedTuple):
    left: float
    right: float
    forms: tuple[str, ...]
    """From the longest to the shortest."""


def draw_controller(story: Story, lane: Lane | None, scale: TimeScale) -> Markup:
    """Return the controller's lane: the leader and ISR it has committed, without its marks."""
    if lane is None:
        return Markup()
    box = {"x": LEFT, "y": lane.top, "width": scale.right - LEFT, "height": lane.bottom - lane.top}
    return group(
        element("rect", **box, class_="lane-ground"),
        label(4, lane.top + 14, "controller", "lane-name"),
        label(4, lane.top + 29, "decided", "tick"),
        *(_segment(lane, decision) for decision in _decisions(story, scale)),
        class_="controller",
    )


def _decisions(story: Story, scale: TimeScale) -> list[_Decision]:
    found: list[_Decision] = []
    for moment in story.measured:
        forms = _forms(moment)
        if found and found[-1].forms == forms:
            continue
        left = _change(story, scale, moment) if found else LEFT
        if found:
            found[-1] = found[-1]._replace(right=left)
        found.append(_Decision(left, scale.right, forms))
    return found


def _change(story: Story, scale: TimeScale, moment: MomentView) -> float:
    """Return where in its step a decision fell: at the election or what brought it about, or midway."""
    at = [scale.at(mark.at) for mark in story.marks if mark.at.step == moment.step and mark.kind == "elected"]
    return at[-1] if at else scale.middle_of(moment.step)


def _forms(moment: MomentView) -> tuple[str, ...]:
    isr = "ISR {" + ", ".join(str(broker) for broker in moment.isr) + "}"
    if moment.leader is None:
        return f"no leader, {isr}", "no leader", "none"
    epoch = "" if moment.leader_epoch is None else f", epoch {moment.leader_epoch}"
    leader = f"leader {moment.leader}"
    return f"{leader}{epoch}, {isr}", f"{leader}, {isr}", f"{leader}{epoch}", leader, str(moment.leader)


def _segment(lane: Lane, decision: _Decision) -> Markup:
    width = decision.right - decision.left
    words = next((form for form in decision.forms if text_width(form, 11) + 8 <= width), "")
    return group(
        titled(f"the controller has decided: {decision.forms[0]}"),
        element("rect", x=decision.left, y=lane.top, width=width, height=STRIP, class_="strip decided"),
        label(decision.left + 6, lane.top + 13, words, "strip-words decided"),
    )
