"""Does a source lead to where it can be read, and is one without an address no link?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from reports.verdict_words import ISSUES, PROPOSALS, source_link
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

LINKED_PROPOSALS = re.escape(PROPOSALS) + r"(KIP-\d+)[^)]*"


@pytest.mark.parametrize(
    ("source", "words", "address"),
    [
        ("KIP-101", "KIP-101", f"{PROPOSALS}KIP-101+-+Alter+Replication+Protocol"),
        ("KIP-966", "KIP-966", f"{PROPOSALS}KIP-966%3A+Eligible+Leader+Replicas"),
        ("KIP-9999", "KIP-9999", f"{PROPOSALS}Kafka+Improvement+Proposals"),
        ("KAFKA-13141", "KAFKA-13141", f"{ISSUES}KAFKA-13141"),
        ("000", "article 000", ""),
        ("HW-03", "HW-03", ""),
        ("KIP-1<b>", "KIP-1<b>", ""),
    ],
)
def test_a_source_has_its_words_and_its_address(source: str, words: str, address: str) -> None:
    link = source_link(source)
    assert link.words == words
    assert link.address.startswith(address)
    assert bool(link.address) == bool(address)


def test_the_track_record_has_the_same_addresses(pytestconfig: pytest.Config) -> None:
    page = (pytestconfig.rootpath / "docs" / "track-record.md").read_text(encoding="utf-8")
    found = list(re.finditer(LINKED_PROPOSALS, page))
    assert found
    assert {each[1]: each[0] for each in found} == {each[1]: source_link(each[1]).address for each in found}


def test_the_page_links_proposals_and_numbers_articles(page: str, report: Path) -> None:
    assert report.exists()
    chips = [item for item in PageReader(page).named("a", "span") if item.attributes.get("class") == "chip"]
    shown = {item.words: item.attributes.get("href", "") for item in chips}
    assert shown["KIP-101"] == source_link("KIP-101").address
    assert shown["article 000"] == ""
    assert "000" not in shown
