"""Can one rule of a release be swapped, and nothing else, and is every name that swaps none refused?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from oracle.rules.by_version import one_rule_apart, rules_for, with_eligible_leader_replicas
from oracle.rules.release import plain_version, swapped_rules
from oracle.vocabulary import MetadataMode

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT


@pytest.mark.parametrize(
    ("swapped", "like", "field"),
    [
        ("2.0.0+join-isr-at-epoch-start", "2.0.1", "joins_isr"),
        ("2.0.1~join-isr-at-epoch-start", "2.0.0", "joins_isr"),
        ("2.0.0+epoch-entry-on-election", "2.0.1", "writes_epoch_on_election"),
    ],
)
def test_a_swapped_rule_is_that_of_the_other_release(swapped: str, like: str, field: str) -> None:
    rules, other = rules_for(swapped, ZOOKEEPER), rules_for(like, ZOOKEEPER)
    assert rules.version == swapped
    assert getattr(rules, field) == getattr(other, field)
    assert rules != rules_for(plain_version(swapped), ZOOKEEPER)


def test_nothing_but_the_rule_is_swapped() -> None:
    plain, swapped = rules_for("2.0.0", ZOOKEEPER), rules_for("2.0.0+join-isr-at-epoch-start", ZOOKEEPER)
    assert set(swapped.names()) - set(plain.names()) == {"join-isr-at-epoch-start"}
    assert set(plain.names()) <= set(swapped.names())


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("2.0.0+join-isr-at-epoch-stat", "no rule 'join-isr-at-epoch-stat'; did you mean join-isr-at-epoch-start"),
        ("2.0.0+xyz", "no rule 'xyz'$"),
        ("2.0.0~join-isr-at-epoch-start", r"has no join-isr-at-epoch-start: give it with \+join"),
        ("2.0.1+join-isr-at-epoch-start", r"has join-isr-at-epoch-start: take it away with ~join"),
    ],
)
def test_a_rule_that_cannot_be_swapped_is_refused(version: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        rules_for(version, ZOOKEEPER)


def test_a_name_says_which_rules_are_swapped() -> None:
    assert swapped_rules("4.4.0~maximal-isr+high-watermark-is-pushed") == {
        "maximal-isr": False,
        "high-watermark-is-pushed": True,
    }
    assert (plain_version("4.4.0~maximal-isr"), swapped_rules("4.4.0")) == ("4.4.0", {})


def test_one_rule_apart_are_the_rules_that_change_something() -> None:
    rules = rules_for("4.4.0", KRAFT)
    others = one_rule_apart(rules)
    assert others["maximal-isr"].version == "4.4.0~maximal-isr"
    assert others["high-watermark-is-pushed"].version == "4.4.0+high-watermark-is-pushed"
    assert not [name for name in others if name.startswith(("sends-", "answers-"))]
    assert all(other.names() != rules.names() for other in others.values())


def test_swapped_twice_is_not_swapped() -> None:
    swapped = rules_for("4.4.0~maximal-isr+high-watermark-is-pushed", KRAFT)
    others = one_rule_apart(swapped)
    assert others["maximal-isr"] == rules_for("4.4.0+high-watermark-is-pushed", KRAFT)
    assert others["truncate-on-fetch"].version == "4.4.0~maximal-isr+high-watermark-is-pushed~truncate-on-fetch"


@pytest.mark.parametrize("version", ["3.9.2", "4.0.1", "4.1.2", "4.4.0"])
@pytest.mark.parametrize("are_on", [True, False])
def test_a_cluster_that_is_formatted_otherwise_has_a_name_by_which_its_rules_are_found(
    version: str, are_on: bool
) -> None:
    name = with_eligible_leader_replicas(version, KRAFT, are_on=are_on)
    wanted = rules_for(version, KRAFT, eligible_leader_replicas=are_on)
    assert replace(rules_for(name, KRAFT), version=version) == wanted
    assert (name == version) is (wanted == rules_for(version, KRAFT))
