"""``versions``: a short table of releases, and the rules of the one that is named."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from conformance.cli import main
from fault_injection.releases import RELEASES
from oracle import rules as rules_package
from oracle.rules import base_protocol, transactions
from oracle.rules.by_version import TABLE, rules_for
from oracle.rules.rule import Rule
from oracle.rules.transactions import transaction_rules
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


PATCHES = ("0.11.0.0", "1.1.0", "2.0.0", "2.1.0", "2.4.0", "2.6.0", "2.8.0", "3.4.0")
"""Patches that have a rule which the newest of their line has no more."""


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(("versions", *arguments)) == 0
    return capsys.readouterr().out


def test_the_versions_are_those_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(said(capsys, "--json"))

    assert [one["version"] for one in told] == [release.version for release in RELEASES]
    assert all(set(one) == {"version", "metadata", "quirks", "rules"} and one["rules"] for one in told)
    rows = [line.split() for line in said(capsys).splitlines()[1 : 1 + len(RELEASES)]]
    assert [row[:2] for row in rows] == [[release.line, release.version] for release in RELEASES]
    assert rows[0][2:] == ["zookeeper"]
    assert ["3.9", "3.9.2", "zookeeper", "or", "kraft"] in rows


def test_the_rules_of_a_release_are_told_in_a_sentence_each(capsys: pytest.CaptureFixture[str]) -> None:
    transactional = transaction_rules("3.9.2").rules
    rules = (*rules_for("3.9.2", MetadataMode.ZOOKEEPER).rules, *base_protocol.RULES, *transactional)
    head, *lines = said(capsys, "3.9.2/zookeeper").splitlines()

    assert head == "3.9.2 (zookeeper):"
    assert lines[::2] == [f"  {rule.name} ({rule.source})" for rule in rules]
    assert lines[1::2] == [f"      {rule.says}" for rule in rules]
    assert said(capsys, "3.9").count("3.9.2 (") == 2
    (told,) = json.loads(said(capsys, "3.9/kraft", "--json"))
    assert told["metadata"] == ["kraft"]


def test_the_rules_of_all_can_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "--full").splitlines()

    assert lines[0].startswith("0.10.2.2   zookeeper  truncate-to-high-watermark, ")
    assert len(lines) == sum(len(release.metadata_modes) for release in RELEASES)


def rules_within(value: object) -> Iterator[Rule]:
    """Yield the rules that a value of a module is, or names."""
    named = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else [value]
    yield from (one for one in (value, *named) if isinstance(one, Rule))


def test_no_rule_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever module has it: a rule that no release's list tells would be a fact that nobody can ask for."""
    with_feature = rules_for("4.0.2", MetadataMode.KRAFT, eligible_leader_replicas=True).names()
    told = {name for line in said(capsys, "--full").splitlines() for name in line.split(maxsplit=2)[2].split(", ")}
    patches = {name for one in PATCHES for name in rules_for(one, MetadataMode.ZOOKEEPER).names()}
    modules = [import_module(f"oracle.rules.{one.name}") for one in iter_modules(rules_package.__path__)]
    rules = {rule for module in modules for value in vars(module).values() for rule in rules_within(value)}
    patches |= {rule.name for one in ("1.0.0", "4.0.0") for rule in transaction_rules(one).rules}
    in_rows = {row.rule for row in (*TABLE, *transactions.TABLE)} | set(base_protocol.RULES)

    assert {rule.name for rule in rules} - {rule.name for rule in in_rows} == set()
    assert {rule.name for rule in in_rows} - told - patches - {*with_feature} == {"requests-may-be-newer"}
    assert len(rules) > 80, "they were found"


def test_an_unknown_release_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("versions", "9.9")) == 2
    assert "'9.9' is not a supported release" in capsys.readouterr().err


def test_what_runs_with_a_jar_that_is_not_its_own_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    table = said(capsys)
    for release in RELEASES:
        (told,) = json.loads(said(capsys, release.version, "--json"))
        assert told["quirks"] == list(release.quirks)
        assert bool(release.quirks) == bool(release.swapped_jars)
        assert all(quirk in table for quirk in release.quirks)
        assert all(quirk in said(capsys, release.version) for quirk in release.quirks)
    assert "2.0, 2.1, 2.2, 2.3: the ZooKeeper client is 3.5.9" in table
