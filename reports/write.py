"""Which files does a report consist of? One page for people, two beside it for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.html import render_html
from reports.json_report import render_json
from reports.junit import render_junit
from reports.load import load_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

JUNIT_NAME = "junit.xml"
JSON_NAME = "report.json"


def write_report(runs: Sequence[Path], out: Path) -> Path:
    """Write ``out`` (report.html) with ``junit.xml`` and ``report.json`` beside it.

    Args:
        runs: run directories; one that cannot be read is reported as HARNESS_ERROR.
        out: path of the HTML page; missing folders are made.

    Returns:
        The path of the page.
    """
    views = load_runs(runs)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(render_html(views, out.parent), encoding="utf-8")
    (out.parent / JUNIT_NAME).write_text(render_junit(views), encoding="utf-8")
    (out.parent / JSON_NAME).write_text(render_json(views), encoding="utf-8")
    return out
