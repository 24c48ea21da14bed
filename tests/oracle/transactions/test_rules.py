"""Does each release get its rules of transactions, and is what it does not have refused?"""

from __future__ import annotations

import pytest

from oracle.rules.by_version import rules_for
from oracle.rules.transactions import TABLE, rules_of, swaps_of, transaction_rules
from oracle.vocabulary import MetadataMode


def names(version: str, level: int | None = None) -> set[str]:
    return {rule.name for rule in transaction_rules(version, level).rules}


@pytest.mark.parametrize(
    ("version", "level"),
    [("0.11.0.0", 0), ("3.9.2", 0), ("4.0.0", 2), ("4.4.0", 2), ("3.9.2~transaction-is-verified", 0)],
)
def test_new_clusters_have_the_newest_level_of_the_release(version: str, level: int) -> None:
    assert transaction_rules(version).transaction_version == level


@pytest.mark.parametrize(
    ("older", "newer", "what"),
    [
        ("0.11.0.3", "1.0.0", {"leader-remembers-five-batches", "unknown-producer-is-told"}),
        (
            "2.4.1",
            "2.5.0",
            {"unknown-producer-is-taken", "producer-may-go-on-in-the-next-epoch", "unstable-offset-is-told"},
        ),
        ("2.6.3", "2.7.0", {"fenced-producer-is-told-so"}),
        ("3.5.2", "3.6.0", {"transaction-is-verified"}),
        ("3.6.2", "3.7.0", {"offset-in-transaction-is-verified"}),
        ("3.7.2", "3.8.0", {"unverified-batch-is-abortable"}),
        ("4.0.2", "4.1.0", {"unknown-producer-begins-anew"}),
        ("4.1.2", "4.2.0", {"marker-begins-its-epoch", "marker-may-be-written-again"}),
    ],
)
def test_what_a_release_brought(older: str, newer: str, what: set[str]) -> None:
    assert names(newer) - names(older) == what


def test_what_version_2_brought() -> None:
    brought = {
        "produce-adds-its-partition",
        "every-transaction-ends-its-epoch",
        "batch-of-next-epoch-waits",
        "unknown-producer-begins-anew",
    }
    assert names("4.1.2", 2) - names("4.1.2", 1) == brought
    assert names("4.0.0") - names("4.0.1") == {"fencing-takes-two-epochs"}


@pytest.mark.parametrize(
    ("version", "level", "told"),
    [
        ("0.10.2.2", None, r"0\.10\.2\.2 has no transactions: 0\.11\.0\.0 is the first release"),
        ("3.9.2", 1, r"3\.9\.2 has no transaction\.version 1; it has 0 alone"),
        ("4.4.0", 3, r"4\.4\.0 has no transaction\.version 3; it has 0, 1 and 2"),
        ("3.9.2~marker-begins-its-epoch", None, "cannot be swapped: Kafka 3.9.2 does not have it"),
        ("4.4.0+marker-begins-its-epoch", None, "cannot be swapped: Kafka 4.4.0 has it already"),
        ("4.4.0~no-such-rule", None, "there is no rule 'no-such-rule' of transactions; there are batch-follows"),
    ],
)
def test_what_a_release_does_not_have_is_refused(version: str, level: int | None, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        transaction_rules(version, level)


def test_a_release_before_transactions_has_no_rules_of_them() -> None:
    assert rules_of("0.10.2.2") == ()
    assert (
        rules_of("4.4.0~maximal-isr~transaction-is-verified")
        == transaction_rules("4.4.0~transaction-is-verified").rules
    )


def test_a_name_swaps_rules_of_transactions_beside_those_of_replication() -> None:
    both = "3.9.2~maximal-isr~transaction-is-verified"
    assert swaps_of(both) == "3.9.2~transaction-is-verified"
    rules = rules_for(both, MetadataMode.KRAFT)
    assert (rules.version, "maximal-isr" in rules.names()) == (both, False)
    assert (
        rules_for("3.9.2~transaction-is-verified", MetadataMode.KRAFT).rules
        == rules_for("3.9.2", MetadataMode.KRAFT).rules
    )
    with pytest.raises(ValueError, match=r"cannot be swapped: Kafka 3\.5\.2 does not have it"):
        rules_for("3.5.2~transaction-is-verified", MetadataMode.KRAFT)


def test_every_rule_has_one_row_and_says_where_it_comes_from() -> None:
    rules = [row.rule for row in TABLE]
    assert len({rule.name for rule in rules}) == len(rules)
    assert all(rule.source and rule.says.endswith(".") for rule in rules)
