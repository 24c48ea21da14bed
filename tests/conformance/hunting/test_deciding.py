"""Does a rule decide a step only where it, swapped, leads elsewhere? And does a hunt prefer what nobody has met?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.hunting.blocks import DrawnDecisions, HuntRequest
from conformance.hunting.deciding import NOTHING_HELD, DecisionSearch, RuleDecision, decisions_of
from conformance.hunting.growing import BLOCK, Grown, grow
from conformance.hunting.journal import HuntedSchedule
from conformance.hunting.legal_steps import LegalSteps
from conformance.record.verdict import Conformance
from oracle.steps.brokers import Kill, Pause, Resume, Start
from oracle.steps.frames import AwaitHold, Hold
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import PointName
from tests.conformance.hunting.rule_sets import LONG, NEEDS_MIN_ISR, NEWEST, ONE, OTHERS, TWO, schedule, sent

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.schedule import Schedule

JOINS_AT_EPOCH_START = "join-isr-at-epoch-start"


def decided(of: Schedule) -> list[frozenset[RuleDecision]]:
    return list(decisions_of(of, NEWEST, OTHERS))


def test_a_rule_decides_the_step_that_would_lead_elsewhere_and_no_other() -> None:
    steps = [index for index, found in enumerate(decided(LONG)) if NEEDS_MIN_ISR in {one.rule for one in found}]

    assert steps == [4], "a record that is sent to a lone leader with two in-sync replicas needed"
    assert RuleDecision("produce", NEEDS_MIN_ISR, NOTHING_HELD) in decided(LONG)[4]


def test_a_step_that_only_looks_is_decided_by_no_rule() -> None:
    found = dict(zip(LONG.steps, decided(LONG), strict=True))

    assert not any(found[step] for step in found if isinstance(step, Checkpoint))


def test_the_point_is_that_of_a_frame_that_is_held() -> None:
    held = schedule(
        sent("m0"),
        Hold("f", PointName.FETCH_REQUEST, TWO, ONE),
        AwaitHold("f"),
        Kill(ONE),
        Start(ONE),
        minimum=1,
    )
    points = {one.point for found in decided(held)[3:4] for one in found}

    assert points == {"fetch_request"}
    assert {one.point for found in decided(LONG) for one in found} == {NOTHING_HELD}


def test_what_is_known_is_not_asked_for() -> None:
    known = frozenset().union(*decided(LONG))
    taken = LegalSteps(NEWEST, replace(LONG, steps=()), LONG.replicas)
    assert taken.take(*LONG.steps) is None
    search = DecisionSearch(NEWEST, OTHERS, LONG)
    steps = [(index, *standing) for index, standing in enumerate(taken.standing.taken)]

    assert known
    assert frozenset().union(*(search.decisions(ways, index, step) for index, ways, step in steps)) == known
    assert not frozenset().union(*(search.decisions(ways, index, step, known) for index, ways, step in steps))


def test_a_decision_survives_being_written_down() -> None:
    for one in frozenset().union(*decided(LONG)):
        assert RuleDecision.named(str(one)) == one
    with pytest.raises(ValueError, match="not enough values"):
        RuleDecision.named("kill|maximal-isr")


def drawn(*, is_guided: bool, numbers: range = range(12)) -> list[Grown]:
    """Return what grows, each schedule guided by those before."""
    found: list[Grown] = []
    met: set[RuleDecision] = set()
    for number in numbers:
        found.append(grow(NEWEST, "6", number, met=met if is_guided else None))
        met |= found[-1].brings
    return found


def test_what_is_guided_meets_more_and_tells_what_is_new() -> None:
    guided, free = drawn(is_guided=True), drawn(is_guided=False)
    met = [frozenset().union(*(frozenset().union(*decided(one.schedule)) for one in some)) for some in (guided, free)]

    assert len(met[0]) > 1.1 * len(met[1])
    assert frozenset().union(*(one.brings for one in guided)) >= met[0]
    assert sum(len(one.brings) for one in guided) == len(frozenset().union(*(one.brings for one in guided)))
    assert not any(one.brings for one in free)
    assert [one.schedule for one in guided] == [one.schedule for one in drawn(is_guided=True)]


def hunted(one: Grown) -> HuntedSchedule:
    brings = tuple(map(str, one.brings))
    return HuntedSchedule("4.4.0/kraft", 6, one.number, Conformance.CONFORMS, None, "", (), 1.0, "run", brings=brings)


def test_a_hunt_that_goes_on_grows_what_it_would_have_grown(tmp_path: Path) -> None:
    first = drawn(is_guided=True, numbers=range(2))
    guide = DrawnDecisions(HuntRequest("4.4.0", tmp_path), {one.number: hunted(one) for one in first})

    assert guide.before(0) == frozenset()
    assert guide.before(1) == first[0].brings
    assert guide.before(2) == first[0].brings | first[1].brings
    met = guide.before(2)
    assert grow(NEWEST, "6", 2, met=met).schedule == drawn(is_guided=True, numbers=range(3))[2].schedule


def test_only_drawn_blocks_guide_and_what_was_met_before_counts(tmp_path: Path) -> None:
    known = RuleDecision("kill", JOINS_AT_EPOCH_START, NOTHING_HELD)
    brought = frozenset({RuleDecision("start", JOINS_AT_EPOCH_START, NOTHING_HELD)})
    guide = DrawnDecisions(HuntRequest("4.4.0", tmp_path, met=frozenset({known})), {})
    guide.add(BLOCK, brought)
    assert guide.before(9 * BLOCK) == {known}
    guide.add(3 * BLOCK, brought)
    assert guide.before(9 * BLOCK) == {known} | brought
    assert guide.before(3 * BLOCK) == {known}

    free = DrawnDecisions(replace(HuntRequest("4.4.0", tmp_path), is_guided=False), {})
    assert free.before(1) is None


def test_a_broker_that_stands_still_is_decided_too() -> None:
    paused = schedule(sent("m0"), Pause(TWO), sent("m1"), Resume(TWO), minimum=1)

    assert any(one.step == "pause" for found in decided(paused) for one in found)
