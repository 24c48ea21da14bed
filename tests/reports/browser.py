"""What does a page become in a browser, and what can be objected to there? In headless Chromium.

A page's scripts run under its own policy. What is looked at for objections is looked at wide and light, and narrow and
dark, with every fold open: by axe, and for words that are small, cover one another, or need sideways scrolling.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page as Tab

    Scheme = Literal["light", "dark"]

LOOKS: tuple[tuple[Scheme, int], ...] = (("light", 1440), ("dark", 390))
"""Colour scheme, and width in px."""
UNFOLD = "document.querySelectorAll('details').forEach((folded) => { folded.open = true; })"
WORDS = Path(__file__).with_name("words.js").read_text(encoding="utf-8")


@contextmanager
def opened(page: Path, scheme: Scheme = "light", width_px: int = 1440, *, is_examined: bool = False) -> Iterator[Tab]:
    """Open a page.

    Args:
        page: the file.
        scheme: which colours the user prefers.
        width_px: of the window.
        is_examined: whether a script of an examiner may be added, which the page's own policy refuses.
    """
    chromium = shutil.which("chromium")
    assert chromium, "tests that are marked `browser` need chromium on the path"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            window = {"width": width_px, "height": 900}
            tab = browser.new_page(bypass_csp=is_examined, color_scheme=scheme, viewport=window)  # type: ignore[arg-type]
            tab.goto(page.as_uri())
            yield tab
        finally:
            browser.close()


def driven(page: Path) -> PageReader:
    """Return a page after its scripts have run."""
    with opened(page) as tab:
        return PageReader(tab.content())


def answered(page: Path, acts: str) -> Any:  # noqa: ANN401 - whatever the acts answer
    """Return what a function in JavaScript answers that does what a user does."""
    with opened(page) as tab:
        return tab.evaluate(acts)


def objections(page: Path) -> list[str]:
    """Return what can be objected to on a page; nothing if all is well."""
    found = []
    for scheme, width_px in LOOKS:
        with opened(page, scheme, width_px, is_examined=True) as tab:
            tab.evaluate(UNFOLD)
            found += [f"{scheme}, {width_px} px: {said}" for said in _said(tab)]
    return found


def _said(tab: Tab) -> Iterator[str]:
    for violation in Axe().run(tab).response["violations"]:
        yield f"{violation['id']}: {violation['nodes'][0]['html'][:200]}"
    yield from tab.evaluate(WORDS)
