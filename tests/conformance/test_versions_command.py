"""``versions``: a short table of releases, and the rules of the one that is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.cli import main
from fault_injection.releases import RELEASES
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    import pytest


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


def test_the_rules_of_a_release_are_named_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    rules = rules_for("3.9.2", MetadataMode.ZOOKEEPER).rules
    head, *lines = said(capsys, "3.9.2/zookeeper").splitlines()

    assert head == "3.9.2 (zookeeper):"
    assert [tuple(line.split(maxsplit=1)) for line in lines] == [(rule.name, rule.source) for rule in rules]
    assert said(capsys, "3.9").count("3.9.2 (") == 2
    (told,) = json.loads(said(capsys, "3.9/kraft", "--json"))
    assert told["metadata"] == ["kraft"]


def test_the_rules_of_all_can_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "--full").splitlines()

    assert lines[0].startswith("0.10.2.2   zookeeper  truncate-to-high-watermark, ")
    assert len(lines) == sum(len(release.metadata_modes) for release in RELEASES)


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
