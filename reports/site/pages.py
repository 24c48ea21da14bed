"""How does a page of the site come about? What was gathered goes into templates; nothing is fetched.

A page is one file: style sheet, symbols and figures are inside. Links lead to other pages of the site, to reports of
runs, and to Kafka's proposals and issues. Only the list of all pages has a script, and is whole without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from posixpath import dirname, relpath
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import ChoiceLoader, FileSystemLoader
from markupsafe import Markup

from reports.html import COURSE_FILTERS, breakable, content_policy, inline_scripts, style_sheet, template_environment
from reports.picture.legend import patterns
from reports.site.figure import draw_checkpoint
from reports.verdict_words import CONFORMANCE_LOOKS, PROMISE_LOOKS, decision, source_link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jinja2 import Environment

    from reports.site.model import EntryText, PredictedCourse, SitePage

TEMPLATES = Path(__file__).parent / "templates"
INDEX = "index"
"""The key of the list of all pages."""
MARK = '<meta name="generator" content="kafka-conformance site">'
"""By this a page is known to be of a site."""
_MARKUP = Markup(MARK)  # noqa: S704 - our own words
SCRIPT = "find.js"
OPEN_MAX = 6
"""With so many courses on a page all are unfolded; of more, the newest of each entry, if the entries are no more."""


@dataclass(frozen=True, slots=True)
class PagePlace:
    """Where a page lies: its neighbours on the site.

    Attributes:
        pages: of the whole site, in order; empty for a page that lies alone.
    """

    key: str
    pages: Sequence[SitePage] = ()

    def neighbour(self, distance: int) -> SitePage | None:
        """Return the page before or after; None at an end, and of a page alone."""
        keys = [page.key for page in self.pages]
        number = keys.index(self.key) + distance if self.key in keys else -1
        return self.pages[number] if 0 <= number < len(self.pages) else None

    def address(self, key: str, anchor: str = "") -> str:
        """Return the address of a page from this one; nothing if it is not there."""
        if not self.pages or key not in {INDEX, *(page.key for page in self.pages)}:
            return ""
        path = "" if key == self.key else quote(relpath(f"{key}.html", dirname(self.key) or "."))
        return path + (f"#{quote(anchor, safe='/=,')}" if anchor else "")


def render_page(page: SitePage, place: PagePlace, about_lines: str, about_runs: str) -> str:
    """Return a page.

    Args:
        page: what it says.
        place: where it lies.
        about_lines: which release lines are told, in a sentence.
        about_runs: of which runs verdicts are shown, in a sentence.
    """
    return _rendered(
        "page.html.j2",
        place,
        page=page,
        open_courses=_open(page.entries),
        about_lines=about_lines,
        about_runs=about_runs,
        words=_WORDS,
        patterns=patterns() if any(one.transactions for entry in page.entries for one in entry.courses) else "",
    )


def render_index(pages: Sequence[SitePage]) -> str:
    """Return the list of all pages."""
    areas: dict[str, list[SitePage]] = {}
    for page in pages:
        areas.setdefault(page.area, []).append(page)
    place = PagePlace(INDEX, pages)
    return _rendered("index.html.j2", place, areas=areas, total=len(pages), searched=searched, patterns="")


def searched(page: SitePage) -> str:
    """Return the words by which a page is found."""
    entries = (words for one in page.entries for words in (one.name, one.id, one.requirement, *one.sources))
    facts = (words for fact in page.facts for words in fact)
    told = (page.kind, page.name, page.sentence, *page.sources, *facts, *entries, *(one.words for one in page.related))
    return " ".join(dict.fromkeys(" ".join(told).casefold().split()))


def _open(entries: Iterable[EntryText]) -> frozenset[str]:
    """Return the anchors of the courses that are unfolded."""
    every = [[course.anchor for course in entry.courses if _is_drawn(course)] for entry in entries]
    if sum(map(len, every)) <= OPEN_MAX:
        return frozenset(anchor for anchors in every for anchor in anchors)
    return frozenset(anchors[0] for anchors in every if anchors) if len(every) <= OPEN_MAX else frozenset()


def _is_drawn(course: PredictedCourse) -> bool:
    return bool(course.checkpoints or course.records or course.answers)


def _rendered(name: str, place: PagePlace, **values: object) -> str:
    script = () if place.key != INDEX else inline_scripts(SCRIPT)
    head = {"css": _css(), "mark": _MARKUP if place.pages else "", "policy": content_policy(script), "script": script}
    return _environment().get_template(name).render(place=place, **head, **values)


@cache
def _css() -> Markup:
    own = (TEMPLATES / "site.css").read_text(encoding="utf-8")
    return style_sheet("report.css", "transactions.css") + Markup(own)  # noqa: S704 - our own file


@cache
def _environment() -> Environment:
    environment = template_environment()
    assert environment.loader is not None, "it has the templates of reports"
    environment.loader = ChoiceLoader([FileSystemLoader(TEMPLATES), environment.loader])
    environment.filters |= {"source_link": source_link, "breakable": breakable, "decision": decision}
    environment.filters |= {"drawn": draw_checkpoint, "promise_look": PROMISE_LOOKS.__getitem__}
    environment.filters["conformance_look"] = CONFORMANCE_LOOKS.__getitem__
    environment.filters |= COURSE_FILTERS
    environment.tests["drawn"] = _is_drawn
    return environment


_WORDS: Mapping[str, str] = {
    "LEO": "log end offset: the offset that the next record gets. It comes from above, at the open end of the log.",
    "HW": "high watermark: the first offset not known to be committed. It comes from below, as a broken line.",
    "filled": "a record below the high watermark of this replica.",
    "framed": "a record at or above it: in the log, and not known here to be committed.",
    "thick frame": "below the high watermarks, and another replica has another record at this offset.",
    "struck": "a record that this log had at the checkpoint before, and has no more.",
    "ISR": "in-sync replicas, as the controller has them.",
}
