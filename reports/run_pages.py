"""Which runs have a page of their own? On a page of many all but a few that need to be looked at: it opens quickly.

``report.html`` then lists every run, and leads to ``report-runs/NAME.html``. Those pages are written first, and each is
put in place when it is whole: a reader never meets half a page, nor a link to one that is not there yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from conformance.record.directory import write_whole
from conformance.record.verdict import Conformance
from reports.chapters import FAILING, is_printed
from reports.html import OPENED_MAX, render_html

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reports.baseline import ChangesSince
    from reports.model import RunView
    from reports.operators import WhatIsLost

OURS = "Kafka conformance report</title>"
"""What a page of ours has at its head."""
RUNS_IN_PAGE_MAX = 200
"""So many runs are told in one page: a run takes 40 kB of it."""


def write_pages(
    runs: Sequence[RunView], out: Path, since: ChangesSince | None = None, what_is_lost: WhatIsLost | None = None
) -> None:
    """Write the page of some runs, and of many the pages beside it; remove those that an earlier report left there."""
    folder = out.with_name(folder_name(out.name))
    addresses = {}
    for run in runs_apart(runs):
        page, back = folder / f"{run.anchor}.html", f"../{quote(out.name)}#{run.anchor}"
        _put(page, render_html((run,), folder, back=back))
        addresses[run.anchor] = quote(f"{folder.name}/{page.name}")
    _put(out, render_html(runs, out.parent, since, what_is_lost, addresses=addresses))
    _remove_others(folder, addresses)


def folder_name(page: str) -> str:
    """Return how the folder beside a page is called, which no other page beside it has: ``report.html`` report-runs."""
    stem, _, suffix = page.rpartition(".")
    return f"{stem}-runs" if stem and suffix == "html" else f"{page}.runs"


def runs_apart(runs: Sequence[RunView]) -> tuple[RunView, ...]:
    """Return the runs that have a page of their own; none if there are few."""
    told = [run for run in runs if run.verdict.conformance is not Conformance.NOT_RUN]
    if len(told) <= RUNS_IN_PAGE_MAX:
        return ()
    printed = sorted((run for run in told if is_printed(run)), key=lambda run: run.verdict.conformance not in FAILING)
    stay = {run.anchor for run in printed[:OPENED_MAX]}
    return tuple(run for run in told if run.anchor not in stay)


def _put(path: Path, text: str) -> None:
    """Write a page in one piece; what is no file, such as a device, is written to and stays what it is."""
    path = path.resolve()  # a link stays one
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
    else:
        write_whole(path, text)


def _remove_others(folder: Path, addresses: dict[str, str]) -> None:
    others = (page for page in folder.glob("run-*.html") if page.stem not in addresses)
    former = [page for page in others if OURS in page.read_text(encoding="utf-8", errors="replace")]
    for page in former:
        page.unlink()
    if former and not any(folder.iterdir()):
        folder.rmdir()
