"""What does a page become in a browser? Its scripts run in headless Chromium under the page's own policy."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from markupsafe import escape

from reports.html import content_policy
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = ("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom")


def driven(page: Path, driver: str = "") -> PageReader:
    """Return the page after its scripts have run, and a driver after them.

    Args:
        page: the file.
        driver: a script that does what a user does; the policy admits it besides the page's own.
    """
    text = page.read_text(encoding="utf-8")
    if driver:
        own = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
        admitted = [str(escape(content_policy(scripts))) for scripts in (own, [*own, driver])]
        assert admitted[0] in text
        text = text.replace(*admitted).replace("</body>", f"<script>{driver}</script></body>")
    copy = page.with_name("driven.html")
    copy.write_text(text, encoding="utf-8")
    profile = f"--user-data-dir={page.with_name('profile')}"
    done = subprocess.run([*CHROMIUM, profile, copy.as_uri()], capture_output=True, text=True, check=True, timeout=60)
    return PageReader(done.stdout)
