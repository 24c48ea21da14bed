"""Is the page whole, self-contained, readable without colour, and safe against what it shows?"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from reports import write_report
from reports.html import SCRIPTS, SCRIPTS_OF_MANY, TEMPLATES
from reports.overview import GLOSSARY
from reports.verdict_words import CONFORMANCE_LOOKS, CONFORMS_MEANS, ISSUES, PROMISE_LOOKS, PROPOSALS
from tests.reports.browser import objections
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<script>alert('x')</script> & \" ' \x00\x1b[31m </svg></style> {{ 7 * 7 }} \u202e"


@pytest.fixture(scope="module")
def reader(page: str) -> PageReader:
    return PageReader(page)


def test_every_linked_anchor_exists_and_ids_are_unique(reader: PageReader) -> None:
    ids = reader.with_attribute("id")
    assert len(ids) == len(set(ids))
    anchors = {href[1:] for href in reader.with_attribute("href") if href.startswith("#")}
    references = {
        word for name in ("aria-labelledby",) for value in reader.with_attribute(name) for word in value.split()
    }
    assert anchors
    assert anchors | references <= set(ids)


def test_every_pattern_and_marker_that_is_used_is_defined(page: str, reader: PageReader) -> None:
    used = set(re.findall(r"url\(#([^)]+)\)", page))
    assert used
    assert used <= set(reader.with_attribute("id"))


def test_nothing_is_fetched(page: str, reader: PageReader) -> None:
    assert not reader.named("iframe", "img", "link", "object", "embed", "base")
    without_sources = re.sub(rf'href="({PROPOSALS}|{ISSUES})[^"]*"', "", page)
    assert without_sources != page
    assert not re.search(r"https?:|@import|url\((?!#)|//[a-z]", without_sources)
    assert not [name for item in reader.elements for name in item.attributes if name.startswith("on")]


def test_every_script_is_inline_stands_once_and_has_no_way_to_fetch_or_to_write_markup(reader: PageReader) -> None:
    scripts = reader.named("script")
    names = SCRIPTS + SCRIPTS_OF_MANY
    assert [item.attributes for item in scripts] == [{}] * len(names)
    assert ["".join(item.text) for item in scripts] == [(TEMPLATES / name).read_text("utf-8") for name in names]
    assert not re.search(
        r"http|fetch|XMLHttpRequest|import|eval|Function|innerHTML|outerHTML|insertAdjacent|write\(",
        "".join(item.words for item in scripts),
    )


def test_a_browser_may_run_the_scripts_of_the_page_alone_and_fetch_nothing(reader: PageReader) -> None:
    (policy,) = (
        item.attributes["content"]
        for item in reader.named("meta")
        if item.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    digests = [
        base64.b64encode(hashlib.sha256("".join(item.text).encode()).digest()).decode()
        for item in reader.named("script")
    ]
    assert policy.startswith("default-src 'none'; ")
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    assert allowed.pop("script-src") == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert allowed.pop("style-src") == "'unsafe-inline'"
    assert set(allowed.values()) == {"'none'"}


def test_every_evidence_link_leads_to_a_file(report: Path, reader: PageReader) -> None:
    files = [href for href in reader.with_attribute("href") if not href.startswith(("#", PROPOSALS, ISSUES))]
    assert any(href.endswith("prediction.json") for href in files)
    assert any(href.endswith("server.log") for href in files)
    for href in files:
        assert (report.parent / unquote(href)).exists(), href


def test_tables_name_themselves_and_their_heads(reader: PageReader) -> None:
    assert len(reader.named("table")) == len(reader.named("caption"))
    assert all("scope" in head.attributes for head in reader.named("th"))
    assert all(item.words for item in reader.named("caption"))


def test_every_verdict_has_its_word_beside_its_shape(reader: PageReader) -> None:
    looks = [*CONFORMANCE_LOOKS.values(), *PROMISE_LOOKS.values()]
    verdicts = [item for item in reader.named("span") if item.attributes.get("class", "").startswith("verdict")]
    assert {item.words for item in verdicts} == {look.word for look in looks}
    assert {href for href in reader.with_attribute("href") if href.startswith("#shape-")} == {
        f"#{look.shape}" for look in looks
    }


def test_no_two_verdicts_share_word_or_shape_except_for_no_promise() -> None:
    looks = [*CONFORMANCE_LOOKS.values(), *PROMISE_LOOKS.values()]
    assert len({look.word for look in looks}) == len(looks)
    assert len({look.shape for look in looks}) == len(looks) - 1


def test_the_page_says_what_a_verdict_does_not_say_and_explains_its_terms(reader: PageReader) -> None:
    assert CONFORMS_MEANS in {item.words for item in reader.named("p")}
    terms, meanings = ({item.words for item in reader.named(name)} for name in ("dt", "dd"))
    assert set(GLOSSARY) <= terms
    assert set(GLOSSARY.values()) <= meanings
    assert {"ISR", "ELR", "leader epoch", "discharged", "remote LEO (derived)"} <= set(GLOSSARY)


def test_a_cell_without_a_run_is_a_dash_that_the_caption_explains(reader: PageReader) -> None:
    assert any(item.words.endswith("\N{EM DASH}: no run on that version") for item in reader.named("caption"))
    empty = [item.words for item in reader.named("span") if item.attributes.get("class") == "quiet"]
    assert "\N{EM DASH}" in empty
    assert "no run" not in empty


def test_language_title_and_headline(reader: PageReader) -> None:
    assert reader.named("html")[0].attributes["lang"] == "en"
    assert reader.named("h1")[0].words == (
        "Kafka 3.9.1 KRaft and 0.10.2.2 ZooKeeper lose acknowledged records with acks=all: "
        "3 ways shown, 1 of them not predicted"
    )
    assert "Kafka" in reader.named("title")[0].words


def test_every_picture_has_title_description_and_an_equal_table(reader: PageReader) -> None:
    pictures = [item for item in reader.named("svg") if item.attributes.get("role") == "img"]
    timelines = [item for item in pictures if item.attributes["class"] == "timeline"]
    tables = [item for item in reader.named("summary") if item.words == "The picture as a table"]
    assert len(pictures) == len(reader.named("desc")) == 12
    assert len(timelines) == len(tables) == 6


def test_differences_carry_a_word(reader: PageReader) -> None:
    differing = [item for item in reader.named("td") if item.attributes.get("class") == "differs"]
    assert differing
    assert all("differs" in item.words for item in differing)


def test_prediction_and_measurement_of_the_lost_record_are_shown(reader: PageReader) -> None:
    rows = [item.words for item in reader.named("tr") if item.words.startswith("m1")]
    assert any("acknowledged acknowledged lost ✕ lost" in row for row in rows)
    assert any("deviates" in row and "present ✕ lost" in row for row in rows)


def test_hostile_names_are_shown_and_never_obeyed(tmp_path: Path, golden_paths: list[Path]) -> None:
    hostile = tmp_path / "hostile"
    for path in sorted(golden_paths[0].rglob("*.json")) + sorted(golden_paths[0].rglob("*.ndjson")):
        copied = hostile / path.relative_to(golden_paths[0])
        copied.parent.mkdir(parents=True, exist_ok=True)
        spoiled = json.dumps(HOSTILE)[1:-1]
        text = path.read_text().replace('"m1"', f'"{spoiled}"').replace('"gap"', f'"gap {spoiled}"')
        copied.write_text(text.replace('"TR-01"', f'"TR-01 {spoiled}"').replace('"true"', f'"{spoiled}"'))
    page = write_report([hostile], tmp_path / "report.html").read_text(encoding="utf-8")
    reader = PageReader(page)
    assert len(reader.named("script")) == len(SCRIPTS)
    assert "{{ 7 * 7 }}" in page
    assert "\x00" not in page
    assert "\x1b" not in page
    assert len(reader.named("style")) == 1
    assert reader.named("article")[0].words.count("alert('x')") > 5


def test_a_single_run_gets_no_matrix_and_a_plain_headline(tmp_path: Path, golden_paths: list[Path]) -> None:
    reader = PageReader(write_report([golden_paths[1]], tmp_path / "one.html").read_text(encoding="utf-8"))
    assert reader.named("h1")[0].words == "Kafka 4.3.1 KRaft: no promise broken in 1 run"
    assert "versions" not in reader.with_attribute("id")


def test_the_page_says_which_brokers_had_jars_that_their_release_has_not(
    tmp_path: Path, golden_paths: list[Path]
) -> None:
    said = "jaxb-api 2.3.0 is added: Java 11 dropped javax.xml.bind"
    old, new = (next(path for path in golden_paths if release in path.name) for release in ("-0.10.2.2-", "-4.3.1-"))

    def unlike(*runs: Path) -> list[str]:
        page = PageReader(write_report(list(runs), tmp_path / "page.html").read_text(encoding="utf-8"))
        facts = [found.words for found in page.named("div") if "dl" in found.parents]
        return [fact.removeprefix("Not as released") for fact in facts if fact.startswith("Not as released")]

    assert unlike(old) == [said]
    assert unlike(old, new) == [f"0.10.2.2: {said}"]
    assert unlike(new) == []


def test_no_runs_still_make_a_page(tmp_path: Path) -> None:
    reader = PageReader(write_report([], tmp_path / "none.html").read_text(encoding="utf-8"))
    assert reader.named("h1")[0].words == "No runs"


@pytest.mark.browser
def test_nothing_can_be_objected_to_in_a_browser(report: Path, golden_paths: list[Path], tmp_path: Path) -> None:
    assert objections(report) == []
    assert objections(write_report(golden_paths[:1], tmp_path / "alone.html")) == []
