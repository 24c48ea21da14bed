"""Are a seed's scripts the same anywhere, and is a script that shows a difference made as short as it can be?"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.examining import transaction_scripts
from conformance.examining.transaction_scripts import TransactionScript
from conformance.hunting.script_findings import possible, predicted_or_none, shrunk
from conformance.hunting.transactional import drawn_scripts, rules_held
from conformance.line import held_against, line_named
from oracle.rules.transactions import one_transaction_rule_apart, transaction_rules
from oracle.transactions.courses import check_possible
from oracle.transactions.script import Deliver, End, Initialise, MarkAgain, ReadPartitions, Send, predict

if TYPE_CHECKING:
    from oracle.transactions.script import TransactionAct

    Acts = tuple[TransactionAct, ...]

RULES = transaction_rules("3.9.2")
ROOT = Path(__file__).parents[3]
SWAPPED = "3.9.2~transaction-is-verified"
END = ReadPartitions("at the end", is_last=True)
LONG: Acts = (
    Initialise(),
    Send("m1"),
    ReadPartitions("now"),
    Send("m2", 1, late="x"),
    Send("m3"),
    End(commits=False),
    Send("m4"),
    End(commits=True),
    Deliver("x"),
    Initialise(1),
    END,
)
CATALOGUE = [one for one in vars(transaction_scripts).values() if isinstance(one, TransactionScript)]


def tells(acts: Acts) -> bool:
    return predict(acts, RULES) != predict(acts, transaction_rules(SWAPPED))


def test_a_seed_has_the_same_scripts_and_another_one_has_others() -> None:
    def first(seed: int) -> list[Acts]:
        return [one.acts for one in islice(drawn_scripts([RULES], seed), 5)]

    assert first(7) == first(7)
    assert set(first(7)).isdisjoint(first(8))
    assert [one.number for one in islice(drawn_scripts([RULES], 7), 5)] == list(range(5))


def test_a_seed_has_the_same_scripts_in_every_process() -> None:
    code = (
        "from itertools import islice; from conformance.hunting.transactional import drawn_scripts;"
        "from oracle.rules.transactions import transaction_rules;"
        "print([one.acts for one in islice(drawn_scripts([transaction_rules('3.9.2')], 7), 15)])"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert told == {f"{[one.acts for one in islice(drawn_scripts([RULES], 7), 15)]}\n".encode()}


def test_scripts_are_possible_by_the_rules_of_the_brokers_too() -> None:
    line = held_against(line_named("3.9.2/kraft"), SWAPPED)
    assert [one.version for one in rules_held(line)] == [SWAPPED, "3.9.2"]
    assert [one.version for one in rules_held(line_named("3.9.2/kraft"))] == ["3.9.2"]
    with pytest.raises(ValueError, match="has no transactions"):
        rules_held(line_named("0.10.2.2"))


def test_what_shows_a_difference_is_shortened_to_what_it_needs() -> None:
    assert tells(LONG)
    shortest = shrunk(LONG, [RULES], tells)
    assert shortest == (Initialise(), Send("m2", 1, late="x"), End(commits=False), Deliver("x"), END)
    assert shrunk(shortest, [RULES], tells) == shortest


def test_what_nobody_confirms_stays_as_it_is() -> None:
    tried: list[Acts] = []

    def note(acts: Acts) -> bool:
        tried.append(acts)
        return False

    assert shrunk(LONG, [RULES], note) == LONG
    assert len(tried) > 10
    assert all(len(one) < len(LONG) and one[-1] == END for one in tried)
    for one in tried:
        check_possible(one, RULES)


def test_what_needs_an_act_that_is_gone_goes_too() -> None:
    assert possible((Initialise(), Deliver("x"), Send("m4"), END), [RULES]) == (Initialise(), Send("m4"), END)


def test_each_other_rule_set_is_one_rule_apart() -> None:
    others = one_transaction_rule_apart(transaction_rules(SWAPPED))
    assert others["transaction-is-verified"].version == "3.9.2"
    assert others["produce-adds-its-partition"].version == f"{SWAPPED}+produce-adds-its-partition"
    assert "leader-remembers-five-batches" not in others, "it changes nothing"


def test_what_is_impossible_by_other_rules_is_not_predicted_by_them() -> None:
    acts = (Initialise(), Send("m1"), End(commits=True), MarkAgain(), END)
    assert predicted_or_none(acts, RULES) == predict(acts, RULES)
    assert predicted_or_none((*acts[:2], MarkAgain(), END), RULES) is None


NO_SCRIPT_NOTICES = {
    "marker-of-former-coordinator-is-refused",  # no script has a coordinator fail over
    "next-transaction-waits-for-markers",  # a script has markers written before its next act
    "batch-of-next-epoch-waits",  # likewise
    "fenced-producer-has-an-invalid-epoch",  # what all do that have no rule of it
    "leader-remembers-five-batches",
    "unknown-producer-is-taken",
}


@pytest.mark.parametrize(
    ("version", "but"),
    [("0.11.0.3", {"leader-remembers-one-batch"}), ("3.9.2", set()), ("4.4.0", {"unverified-batch-is-abortable"})],
)
def test_a_hunt_holds_brokers_to_every_rule_that_a_script_can_notice(version: str, but: set[str]) -> None:
    rules = transaction_rules(version)
    drawn = [one.acts for one in islice(drawn_scripts([rules], 1), 200)]
    apart = one_transaction_rule_apart(rules)
    own = {rule.name for rule in rules.rules} - NO_SCRIPT_NOTICES - but
    predicted = {acts: predict(acts, rules) for acts in drawn}
    noticed = {name for name in own if any(predicted_or_none(one, apart[name]) != predicted[one] for one in drawn)}
    assert noticed == own


@pytest.mark.parametrize("script", CATALOGUE)
def test_every_script_of_the_catalogue_is_possible(script: TransactionScript) -> None:
    for version in ("4.4.0",) if script.level else ("0.11.0.3", "2.8.2", "3.9.2", "4.0.0", "4.4.0"):
        check_possible(script.acts, transaction_rules(version, script.level))
    assert len(CATALOGUE) > 10
