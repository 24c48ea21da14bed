"""Does each requirement, defect and setting have its page, does each link lead somewhere, and is nothing fetched?"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

import pytest

from conformance.catalogue.requirements import REQUIREMENTS
from conformance.catalogue.track_record import TRACK_RECORD
from conformance.commands.site.gathering import entry_page
from conformance.commands.site.settings import SETTINGS
from conformance.registry import CATALOGUE
from conformance.scenarios.regressions.defect import OPEN, UNREACHED
from reports.verdict_words import ISSUES, PROPOSALS
from tests.reports.browser import objections
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.catalogue.requirements import Requirement

KINDS_OF_SETTINGS = {"acks", "min.insync.replicas", "unclean.leader.election.enable", "replication.factor"}


@cache
def read(file: Path) -> PageReader:
    return PageReader(file.read_text(encoding="utf-8"))


def headline(file: Path) -> str:
    (found,) = read(file).named("h1")
    return found.words


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda one: one.id)
def test_every_requirement_has_its_page(site: Path, requirement: Requirement) -> None:
    file = site / "requirements" / f"{requirement.id}.html"
    assert headline(file) == requirement.id
    assert requirement.sentence in " ".join(found.words for found in read(file).named("p"))


def test_every_defect_has_its_page(site: Path) -> None:
    for defect in TRACK_RECORD:
        told = read(site / "defects" / f"{defect.issue}.html")
        facts = " ".join(found.words for found in told.named("dd"))
        assert defect.broken in facts, defect.issue
        assert defect.fixed in facts, defect.issue
    others = {headline(file) for file in (site / "defects").glob("*.html")} - {one.issue for one in TRACK_RECORD}
    assert len(others) == len(OPEN) + len(UNREACHED)
    assert {one.issue for one in UNREACHED} <= others


def test_every_setting_has_its_page_with_every_value(site: Path) -> None:
    assert {setting.name for setting in SETTINGS} == KINDS_OF_SETTINGS
    for setting in SETTINGS:
        anchors = read(site / "settings" / f"{setting.name}.html").with_attribute("id")
        assert {f"{setting.name}={value}" for value, _ in setting.values} <= set(anchors)


def test_every_entry_stands_on_its_page_under_its_id_and_name(site: Path) -> None:
    for entry in CATALOGUE:
        assert {entry.id, entry.name} <= set(read(site / f"{entry_page(entry)}.html").with_attribute("id")), entry.name


def pages(site: Path) -> Iterator[Path]:
    yield from sorted(site.rglob("*.html"))


def test_every_link_and_anchor_leads_somewhere_and_ids_are_unique(site: Path) -> None:
    for file in pages(site):
        ids = read(file).with_attribute("id")
        assert len(ids) == len(set(ids)), file
        named = {word for value in read(file).with_attribute("aria-labelledby") for word in value.split()}
        assert named <= set(ids), file
        for href in read(file).with_attribute("href"):
            assert lost(file, href) == "", f"{file}: {href}"


def lost(file: Path, href: str) -> str:
    """Return what is missing where a link leads; nothing of one that leads to upstream."""
    if href.startswith((PROPOSALS, ISSUES)):
        return ""
    address, anchor = urldefrag(href)
    target = file if not address else file.parent / unquote(address)
    if not target.is_file():
        return "file"
    return "" if not anchor or unquote(anchor) in read(target).with_attribute("id") else "anchor"


def test_a_link_that_leads_nowhere_is_found(site: Path) -> None:
    file = site / "index.html"
    assert lost(file, "requirements/TR-99.html") == "file"
    assert lost(file, "requirements/TR-01.html#nowhere") == "anchor"
    assert lost(file, "requirements/TR-01.html#TR-01") == ""


def test_nothing_is_fetched_and_only_the_list_has_a_script(site: Path) -> None:
    for file in pages(site):
        page = file.read_text(encoding="utf-8")
        assert not read(file).named("iframe", "img", "link", "object", "embed", "base"), file
        assert bool(read(file).named("script")) is (file.name == "index.html")
        without_sources = re.sub(rf'href="({PROPOSALS}|{ISSUES})[^"]*"', "", page)
        assert not re.search(r"https?:|@import|url\((?!#)|//[a-z]", without_sources), file
        assert not [name for one in read(file).elements for name in one.attributes if name.startswith("on")], file


def test_the_list_is_whole_without_its_script(site: Path) -> None:
    told = read(site / "index.html")
    listed = {urldefrag(href)[0] for href in told.with_attribute("href")}
    written = {file.relative_to(site).as_posix() for file in pages(site)} - {"index.html"}
    assert written <= {unquote(href) for href in listed}
    assert [one.name for one in told.elements if "hidden" in one.attributes] == ["form", "p"]


def test_a_page_is_found_by_its_entries_and_its_sources(site: Path) -> None:
    words = read(site / "index.html").with_attribute("data-words")
    (found,) = [one for one in words if "hw-14/puppets" in one.split()]
    assert "hw-14" in found.split()
    assert sum("kafka-1211" in one.split() for one in words) > 1


def test_pages_lead_to_the_one_before_and_the_one_after(site: Path) -> None:
    ways = {
        one.attributes["rel"]: one.attributes["href"]
        for one in read(site / "requirements" / "TR-01.html").named("a")
        if "rel" in one.attributes
    }
    assert ways == {"prev": "HW-14.html", "next": "TR-02.html"}
    first = read(site / "requirements" / "HW-01.html")
    assert [one.attributes["rel"] for one in first.named("a") if "rel" in one.attributes] == ["next"]


def test_tables_and_pictures_name_themselves(site: Path) -> None:
    told = read(site / "requirements" / "TR-01.html")
    assert all("scope" in one.attributes for one in told.named("th"))
    drawn = [one for one in told.named("svg") if one.attributes.get("role") == "img"]
    assert len(drawn) == 6
    assert all(one.attributes["aria-labelledby"] for one in drawn)


@pytest.mark.browser
def test_nothing_can_be_objected_to_in_a_browser(site: Path) -> None:
    for page in ("index", "requirements/TR-01", "defects/KAFKA-1211", "settings/acks"):
        assert objections(site / f"{page}.html") == []
