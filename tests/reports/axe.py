"""What does axe object to on a page? In headless Chromium, wide and narrow, light and dark, all folds open."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

CHROMIUM = "/usr/bin/chromium"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS_PX = (1440, 390)
UNFOLD = "document.querySelectorAll('details').forEach((folded) => { folded.open = true; })"
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def objections(page: Path) -> list[str]:
    """Return what axe objects to, and at which width the page is scrolled sideways; nothing if all is well."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            looks = product(SCHEMES, WIDTHS_PX)
            return [said for scheme, width in looks for said in _said(browser, page, scheme, width)]
        finally:
            browser.close()


def _said(browser: Browser, page: Path, scheme: Literal["light", "dark"], width_px: int) -> Iterator[str]:
    tab = browser.new_page(bypass_csp=True, color_scheme=scheme, viewport={"width": width_px, "height": 900})
    tab.goto(page.as_uri())
    tab.evaluate(UNFOLD)
    where = f"{scheme}, {width_px} px"
    for violation in Axe().run(tab).response["violations"]:
        yield f"{where}: {violation['id']}: {violation['nodes'][0]['html'][:200]}"
    if tab.evaluate(WIDER):
        yield f"{where}: it is scrolled sideways"
    tab.close()
