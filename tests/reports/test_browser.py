"""Is what can be objected to on a page found? One page a kind of objection, and one without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reports.soak_page import write_soak_page
from tests.reports.browser import objections
from tests.reports.soak_runs import LOSING

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title></head>
<body><main><h1>A page</h1>BODY</main></body></html>"""
PICTURE = '<svg width="200" height="40" role="img" aria-label="A picture">WORDS</svg>'


def of(body: str, folder: Path) -> list[str]:
    (folder / "page.html").write_text(PAGE.replace("BODY", body), encoding="utf-8")
    return objections(folder / "page.html")


@pytest.mark.browser
def test_a_good_page_has_none(tmp_path: Path) -> None:
    apart = PICTURE.replace("WORDS", '<text x="0" y="12" font-size="12">left</text><text x="99" y="12">right</text>')
    assert of(f"<p>Words.</p><details><summary>more</summary><p>Folded.</p></details>{apart}", tmp_path) == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<p style="font-size: 11px">small</p>', '11.0 px: P.null "small"'),
        ('<p style="color: #bbb">pale</p>', "color-contrast"),
        ('<p style="width: 2000px">wide</p>', "it is scrolled sideways"),
        ("<button></button>", "button-name"),
    ],
)
def test_each_kind_is_found(body: str, said: str, tmp_path: Path) -> None:
    assert any(said in one for one in of(body, tmp_path))


@pytest.mark.browser
def test_words_that_are_small_in_a_fold_or_cover_others_in_a_picture_are_found(tmp_path: Path) -> None:
    words = '<text x="5" y="14" font-size="13">one</text><text x="9" y="14" font-size="13">two</text>'
    covered = PICTURE.replace("WORDS", words)
    assert any('text.null "two" covers text.null "one"' in said for said in of(covered, tmp_path))
    shrunk = covered.replace("<svg", '<svg viewBox="0 0 400 80"')
    folded = f"<details><summary>more</summary>{shrunk}</details>"
    assert any('6.5 px: text.null "one"' in said for said in of(folded, tmp_path))


@pytest.mark.browser
def test_nothing_can_be_objected_to_on_the_page_of_a_soak(tmp_path: Path) -> None:
    assert objections(write_soak_page(LOSING.write(tmp_path))) == []
