"""Does the explorer find schedules that hold brokers to rules, the same in any process, and does its process end?"""

from __future__ import annotations

import pytest

from conformance.hunting import aiming
from conformance.hunting.aiming import Aimed, AimedInBackground, aimed
from conformance.hunting.rules_at_work import predicted_or_none, told_apart
from oracle.brokers.questions import SearchBounds
from oracle.predict import predict
from oracle.schedule_format import decode, encode
from tests.conformance.hunting.rule_sets import NEWEST, OTHERS

SMALL = ((SearchBounds(2, 1, 2), 400), (SearchBounds(3, 1, 2, power_failure=True), 3000))
FOUND = {"eligible-caught-up-replica-holds-high-watermark", "eligible-leader-replicas", "join-isr-at-epoch-start"}


@pytest.fixture(scope="module")
def found() -> tuple[Aimed, ...]:
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(aiming, "SEARCHED", SMALL)
        return aimed(NEWEST, "1")


def test_each_schedule_tells_its_rule(found: tuple[Aimed, ...]) -> None:
    assert {one.rule for one in found} >= FOUND
    for one in found:
        other = predicted_or_none(one.schedule, OTHERS[one.rule])
        assert other is not None
        assert told_apart(predict(one.schedule, NEWEST), other)
        assert one.rule in one.held


def test_each_can_be_written_down(found: tuple[Aimed, ...]) -> None:
    assert all(decode(encode(one.schedule)) == one.schedule for one in found)


def test_those_that_come_first_hold_all_that_was_found(found: tuple[Aimed, ...]) -> None:
    held: set[str] = set()
    news = []
    for one in found:
        news.append(one.rule not in held)
        held |= one.held
    assert news == sorted(news, reverse=True)
    assert held >= {one.rule for one in found}


def test_a_seed_decides_the_order_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aiming, "SEARCHED", SMALL[:1])
    one, again, other = (aimed(NEWEST, seed) for seed in ("1", "1", "3"))
    assert again == one
    assert {each.rule: each.schedule for each in other} == {each.rule: each.schedule for each in one}
    assert [each.rule for each in other] != [each.rule for each in one]


def test_a_search_ends_with_its_block() -> None:
    with AimedInBackground(NEWEST, "1") as searching:
        process = searching._process
        assert process.is_alive()
    assert not process.is_alive()


def test_none_is_searched_unless_it_is_wanted() -> None:
    with AimedInBackground(NEWEST, "1", is_wanted=False) as searching:
        assert searching.found() == ()
        assert searching._process.pid is None


def test_a_search_that_was_ended_by_others_has_found_nothing() -> None:
    with AimedInBackground(NEWEST, "1") as searching:
        searching._process.kill()
        assert searching.found() == ()
