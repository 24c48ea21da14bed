"""Are schedules found that hold brokers to rules, the same in any process, and does what looks for them end?"""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.hunting import aiming, rule_search
from conformance.hunting.aiming import HELD_ENOUGH, Aimed, AimedInBackground, aims
from conformance.hunting.growing import BLOCK, has_steps
from conformance.hunting.rule_search import telling
from conformance.hunting.rules_at_work import predicted_or_none, rules_held, told_apart
from oracle.brokers.questions import SearchBounds
from oracle.predict import predict
from oracle.schedule_format import decode, encode
from tests.conformance.hunting.rule_sets import NEWEST, OTHERS

SMALL = ((SearchBounds(2, 1, 2), 400), (SearchBounds(3, 1, 2, power_failure=True), 3000))
FOUND = {"eligible-caught-up-replica-holds-high-watermark", "eligible-leader-replicas", "join-isr-at-epoch-start"}


@pytest.fixture(scope="module")
def found() -> tuple[Aimed, ...]:
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(rule_search, "SEARCHED", SMALL)
        patching.setattr(aiming, "DRAWN_IN_TURN", 5)
        patching.setattr(aiming, "DRAWN_MAX", 20)
        return tuple(aims(NEWEST, "1"))


def test_a_search_finds_a_schedule_that_tells_its_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_search, "SEARCHED", SMALL)
    searched = telling(NEWEST, OTHERS)
    assert set(searched) >= FOUND
    for rule, schedule in searched.items():
        other = predicted_or_none(schedule, OTHERS[rule])
        assert other is not None
        assert told_apart(predict(schedule, NEWEST), other)


def test_each_holds_brokers_to_its_rules(found: tuple[Aimed, ...]) -> None:
    assert all(one.held and one.held <= set(rules_held(one.schedule, NEWEST, OTHERS)) for one in found)


def test_each_can_be_written_down(found: tuple[Aimed, ...]) -> None:
    assert all(decode(encode(one.schedule)) == one.schedule for one in found)


def test_some_are_searched_and_some_are_drawn_by_turns(found: tuple[Aimed, ...]) -> None:
    is_drawn = ["/aims-" in one.schedule.id for one in found]
    assert not is_drawn[0]
    assert is_drawn[-1]
    assert is_drawn != sorted(is_drawn)


def test_a_rule_is_wanted_until_enough_schedules_hold_brokers_to_it(found: tuple[Aimed, ...]) -> None:
    counted = Counter(rule for one in found for rule in one.held)
    assert set(counted) > FOUND
    assert max(counted.values()) == HELD_ENOUGH


def test_a_seed_decides_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_search, "SEARCHED", SMALL[:1])
    monkeypatch.setattr(aiming, "DRAWN_MAX", 5)
    one, again, other = (list(aims(NEWEST, seed)) for seed in ("1", "1", "3"))
    assert again == one
    assert [each.schedule for each in other] != [each.schedule for each in one]


def test_what_is_looked_for_comes_a_block_after_the_other_and_ends_with_its_block() -> None:
    with AimedInBackground(NEWEST, "1", ("kill*",)) as looking:
        process = looking._process
        first = looking.at(0)
        assert first is not None
        assert has_steps(first.schedule.steps, ("kill*",))
        assert looking.are_known(BLOCK)
        assert not looking.are_known(1000)
        assert process.is_alive()
    assert not process.is_alive()


def test_none_is_looked_for_unless_it_is_wanted() -> None:
    with AimedInBackground(NEWEST, "1", is_wanted=False) as looking:
        assert looking.are_known(1)
        assert looking.at(0) is None
        assert looking._process.pid is None


def test_a_search_that_was_ended_by_others_has_found_nothing() -> None:
    with AimedInBackground(NEWEST, "1") as looking:
        looking._process.kill()
        assert looking.at(0) is None
        assert looking.are_known(1000)
