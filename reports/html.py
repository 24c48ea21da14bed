"""How does the page come about? Views, pictures and tables go into templates; nothing is fetched.

The page is one file (of many runs ``reports.run_pages`` makes one each): style sheet, symbols, pictures and scripts are
inside, and the only links lead to anchors on the page, to files of the run directories beside it, and to Kafka's
proposals and issues. It is whole without script: a script shows one after the other, or finds, what stands in the page.
Its policy lets a browser run these scripts alone, each told by its digest, and fetch nothing.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from conformance.record.verdict import Conformance, PromiseKept
from reports import headline, overview
from reports.answer_parts import by_step, parts_of
from reports.baseline import WORDS
from reports.chapters import FAILING, Tally, chapters_of, is_printed
from reports.checkpoint_table import checkpoint_table
from reports.operators import operator_rows
from reports.overview import GLOSSARY, imposed_on_all, imposed_on_run, place_words, tally_words
from reports.picture.cells import draw_cells, log_caption, log_sentences
from reports.picture.legend import patterns
from reports.promises import labels_words, lost_records
from reports.settings_table import settings_tables
from reports.stills import stills_of
from reports.timeline_svg import draw_timeline, lane_names, picture_table
from reports.transaction_picture.course import CourseView
from reports.transaction_picture.sheet import draw_course
from reports.transaction_picture.story import course_table, told_story
from reports.verdict_words import (
    CLASS_MEANINGS,
    CONFORMANCE_LOOKS,
    CONFORMS_MEANS,
    PROMISE_LOOKS,
    decision,
    source_link,
)
from reports.version_matrix import metadata_words, version_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reports.baseline import ChangesSince
    from reports.model import FinalLogs, RunView
    from reports.operators import WhatIsLost
    from reports.story import Story

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS, SCRIPTS_OF_MANY = ("stills.js",), ("tables.js",)
"""The scripts of the page, each once; a page of one run has nothing to be found or sorted."""
SHEETS = ("report.css", "chapters.css", "stills.css", "transactions.css", "print.css")
SHEETS_OF_MANY = ("tables.css",)
DASH = "\N{EM DASH}"
"""What stands in a cell without a run; the table's caption says so."""
OPENED_MAX = 8
"""So many runs that need to be looked at are unfolded; a page of many stays quick."""


def render_html(
    runs: Sequence[RunView],
    folder: Path,
    since: ChangesSince | None = None,
    what_is_lost: WhatIsLost | None = None,
    *,
    addresses: Mapping[str, str] | None = None,
    back: str = "",
) -> str:
    """Return the page.

    Args:
        runs: what to show, in this order.
        folder: where the page will lie; links to evidence are relative to it.
        since: what has changed since an earlier report, if it was asked for.
        what_is_lost: tells what the model finds of the settings of the runs; without it nothing is said of that.
        addresses: of runs that have a page of their own, by their anchors.
        back: where the page of all runs is, if this is the page of one of them.
    """
    template = _environment(folder).get_template("report.html.j2")
    failing = [run for run in runs if run.verdict.conformance in FAILING]
    return template.render(
        runs=runs,
        since=since,
        addresses=addresses or {},
        back=back,
        chapters=chapters_of(runs),
        all=(tally := Tally(tuple(runs))),
        failing=failing,
        opened={run.anchor for run in failing[:OPENED_MAX]},
        shown_conformance=[word for word in Conformance if tally.conformance[word]],
        shown_promise=[word for word in PromiseKept if tally.promise[word]],
        files={} if len(runs) == 1 else {file.name: file.says for run in runs for file in run.evidence},
        **_inside(has_tables=len(runs) > 1),
        **_head(runs),
        operators=operator_rows(runs, what_is_lost),
        **_tables(runs),
    )


def _tables(runs: Sequence[RunView]) -> dict[str, object]:
    """Return what is told of all runs together."""
    return {
        "environment": overview.environment(runs),
        "matrix": version_matrix(runs),
        "settings": settings_tables(runs),
        "varying": overview.varying(runs),
        "on_all": imposed_on_all(runs),
    }


def _inside(*, has_tables: bool) -> dict[str, object]:
    """Return what the page would else have to fetch, and its policy."""
    scripts = inline_scripts(*SCRIPTS, *(SCRIPTS_OF_MANY if has_tables else ()))
    css = style_sheet(*SHEETS, *(SHEETS_OF_MANY if has_tables else ()))
    return {"css": css, "patterns": patterns(), "scripts": scripts, "policy": content_policy(scripts)}


def _head(runs: Sequence[RunView]) -> dict[str, object]:
    """Return what stands at the top of the page, and in its first paragraphs."""
    return {
        "headline": headline.headline(runs),
        "tone": headline.headline_tone(runs),
        "subtitle": headline.subtitle(runs),
        "broken": headline.broken_promises(runs),
        "as_predicted": headline.as_predicted(runs),
        "facts": overview.releases(runs),
    }


@cache
def style_sheet(*names: str) -> Markup:
    """Return style sheets of the templates' folder, one after the other."""
    sheets = [(TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return Markup("\n").join(Markup(sheet) for sheet in sheets)  # noqa: S704 - our own files


@cache
def inline_scripts(*names: str) -> tuple[Markup, ...]:
    """Return scripts of the templates' folder."""
    return tuple(Markup((TEMPLATES / name).read_text(encoding="utf-8")) for name in names)  # noqa: S704 - our own files


def content_policy(scripts: Sequence[str]) -> str:
    """Return what a browser may do with a page (Content-Security-Policy): run these scripts, and fetch nothing."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'"


def template_environment() -> Environment:
    """Return an environment for the templates' folder, in which what is not defined is an error."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@lru_cache(maxsize=8)
def _environment(folder: Path) -> Environment:
    environment = template_environment()
    environment.filters["link"] = partial(_relative_link, folder)
    environment.filters["duration"] = overview.duration_words
    environment.filters["metadata"] = metadata_words
    environment.filters["conformance_look"] = CONFORMANCE_LOOKS.__getitem__
    environment.filters["promise_look"] = PROMISE_LOOKS.__getitem__
    environment.filters["promise_word"] = _promise_word
    environment.filters["by_step"] = by_step
    environment.filters["decision"] = decision
    environment.filters["checkpoint_table"] = checkpoint_table
    environment.filters["picture_table"] = picture_table
    environment.filters |= {"timeline": _timeline, "lane_names": lane_names}
    environment.filters |= COURSE_FILTERS
    environment.filters["cells"] = _cells
    environment.filters["stills"] = stills_of
    environment.filters["log_sentences"] = log_sentences
    environment.filters |= {"parts": parts_of, "lines": _lines, "imposed_besides": imposed_on_run}
    environment.filters |= {"breakable": breakable, "place_words": place_words, "tally_words": tally_words}
    environment.tests["printed"] = is_printed
    environment.filters["found_by"] = _found_by
    environment.filters["lost_words"] = lambda run: labels_words(lost_records(run))
    environment.filters |= {"source_link": source_link, "log_caption": log_caption}
    environment.globals |= {"glossary": GLOSSARY, "conforms_means": CONFORMS_MEANS, "dash": DASH}
    environment.globals |= {"class_meanings": CLASS_MEANINGS, "since_words": WORDS}
    environment.globals["every_conformance"] = [CONFORMANCE_LOOKS[word] for word in Conformance]
    environment.globals["every_promise"] = [*PROMISE_LOOKS.values()]
    return environment


def _relative_link(folder: Path, path: Path) -> str:
    relative = os.path.relpath(path.resolve(), folder.resolve())
    return quote(Path(relative).as_posix())


def _found_by(run: RunView) -> str:
    """Return by which words a run is found besides those of its line: where it ran, and the rows it is about."""
    where = (run.kafka, metadata_words(run.metadata), run.own, run.backend)
    return " ".join(word for word in (*where, *run.sources) if word)


def _promise_word(word: str) -> str:
    """Return a record's promise (kept, allowed_by_settings, broken, none) as words."""
    return {"none": "no promise", "": "—"}.get(word, word.replace("_", " "))


def _lines(lines: Sequence[str]) -> Markup:
    return Markup("<br>").join(lines) if lines else Markup("—")


def breakable(name: str) -> Markup:
    """Return a name that may go on in the next line after a slash or a comma."""
    return Markup(re.sub(r"([/,])", r"\1<wbr>", str(escape(name))))  # noqa: S704 - escaped


COURSE_FILTERS = {
    "course_view": CourseView.of,
    "course_drawn": draw_course,
    "course_story": told_story,
    "course_table": course_table,
}
"""What templates ask of a script of transactions."""


def _timeline(story: Story, anchor: str) -> Markup:
    return draw_timeline(story, f"{anchor}-time")


def _cells(final: FinalLogs, anchor: str) -> Markup:
    return draw_cells(final, f"{anchor}-logs") if final.logs else Markup()
