"""Are scripts drawn that nobody wrote down, the same by each seed, and such that both interpreters can do them?"""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from oracle.rules.transactions import transaction_rules
from oracle.transactions.courses import check_possible
from oracle.transactions.drawing import ACTS_MAX, ACTS_MIN, Drawn, draw, scripts
from oracle.transactions.promised import PROMISED
from oracle.transactions.script import (
    Add,
    CommitOffset,
    Deliver,
    End,
    Initialise,
    MarkAgain,
    ReadOffset,
    ReadPartitions,
    Send,
    predict,
)

if TYPE_CHECKING:
    from oracle.rules.transactions import TransactionRules

RULES = [
    transaction_rules(version, level)
    for version, level in [("0.11.0.3", 0), ("3.9.2", 0), ("4.0.0", 2), ("4.4.0", 0), ("4.4.0", 1), ("4.4.0", 2)]
]
SEEDS = 2_000 // len(RULES) + 1


def drawn(rules: TransactionRules, seed: int) -> Drawn:
    return draw(random.Random(seed), [rules])


def breaks(one: Drawn, rules: TransactionRules) -> bool:
    return any(what.startswith(PROMISED) and told for what, told in predict(one.acts, rules))


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.version}-{rules.transaction_version}")
def test_every_script_can_be_played_to_its_end(rules: TransactionRules) -> None:
    kinds: set[type] = set()
    broken = 0
    for seed in range(SEEDS):
        one = drawn(rules, seed)
        check_possible(one.acts, rules)
        assert ACTS_MIN < len(one.acts) <= ACTS_MAX + 1
        kinds.update(map(type, one.acts))
        broken += breaks(one, rules)
    usual = {Deliver, End, Initialise, MarkAgain, ReadPartitions, Send}
    adding = set() if rules.adds_by_produce else {Add}
    of_group = {CommitOffset, ReadOffset} if rules.tells_unstable_offsets else set()
    assert kinds == usual | adding | of_group
    assert bool(broken) == (rules.version != "4.4.0" or rules.transaction_version < 2)


def test_a_seed_draws_the_same_script_again() -> None:
    assert drawn(RULES[1], 7) == drawn(RULES[1], 7)
    assert len({drawn(RULES[1], seed).acts for seed in range(50)}) == 50


def test_every_request_is_late_in_some_script() -> None:
    late = {type(act) for seed in range(300) for act in drawn(RULES[1], seed).acts if getattr(act, "late", "")}
    assert late == {Add, CommitOffset, End, Initialise, Send}


def test_of_some_scripts_that_is_taken_which_meets_most_that_is_new() -> None:
    def met(of: int) -> int:
        chances = ([random.Random(f"{number}-{one}") for one in range(of)] for number in range(60))
        return len({meeting for one in islice(scripts(chances, [RULES[1]]), 60) for meeting in one.meetings})

    assert met(of=5) > met(of=1)


def test_a_script_is_possible_by_all_rules_that_it_is_drawn_for() -> None:
    other = transaction_rules("3.9.2~request-of-another-epoch-is-refused")
    for seed in range(100):
        one = draw(random.Random(seed), [RULES[1], other])
        check_possible(one.acts, other)
