"""Does the ladder have the lines that rules change on, and are lists of releases understood?"""

from __future__ import annotations

import pytest

from conformance.catalogue.ladder import LADDER, lines
from fault_injection.releases import UsageError


def test_the_ladder_is_ordered_and_has_each_line_once() -> None:
    ages = [tuple(int(part) for part in line.release.version.split(".")) for line in LADDER]
    assert ages == sorted(ages)
    assert len({line.text for line in LADDER}) == len(LADDER) == 25
    assert (LADDER[0].text, LADDER[-1].text) == ("0.10.2.2/zookeeper", "4.4.0/kraft")


def test_few_lines_of_the_ladder_share_their_rules() -> None:
    rules = {line.rules.names() for line in LADDER}
    assert len(rules) >= len(LADDER) - 6


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("4.3.1", ["4.3.1/kraft"]),
        ("3.9.2/zookeeper, 3.9.2", ["3.9.2/zookeeper", "3.9.2/kraft"]),
        ("0.10.2,0.10.2.2,newest", ["0.10.2.2/zookeeper", "4.4.0/kraft"]),
        ("1.1.0", ["1.1.0/zookeeper"]),
    ],
)
def test_a_list_names_releases_with_their_modes(text: str, found: list[str]) -> None:
    assert [line.text for line in lines(text)] == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("9.9", "not a supported release"),
        ("4.3.1/zookeeper", "does not run in zookeeper mode"),
        ("3.9.2/raft", "'raft' is no metadata mode; say zookeeper or kraft"),
        (" , ", "names no release"),
    ],
)
def test_a_list_that_cannot_be_used_is_said(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        lines(text)
