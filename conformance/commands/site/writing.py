"""``site`` and ``explain --page``: a page for every requirement, known defect and setting, or one of them alone."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import LADDER
from conformance.catalogue.ladder import lines as lines_of_list
from conformance.catalogue.requirements import REQUIREMENTS
from conformance.commands.parser import LANES_MAX, add_json, check_file, check_writable, whole_number
from conformance.commands.site.entries import about_lines, entry_text
from conformance.commands.site.gathering import (
    REQUIREMENTS_AT,
    defect_pages,
    entries_on,
    entry_page,
    lines_of,
    page_at,
    requirement_pages,
)
from conformance.commands.site.measured import about_runs, newest_runs, with_runs
from conformance.commands.site.settings import setting_pages
from conformance.record.directory import write_whole
from conformance.registry import CATALOGUE, entries_named, select
from fault_injection.releases import UsageError
from reports.site.pages import INDEX, MARK, PagePlace, render_index, render_page

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.line import Line
    from reports.site.model import EntryText

DESCRIPTION = """Writes a site: a page for every requirement, known defect and setting, with the steps of each entry,
the course that the model predicts drawn at every checkpoint, and what each release line does; and a list of all pages
that can be searched. Nothing on it is fetched, and the same tree gives the same files. Needs no cluster."""
EPILOG = """examples:
  kafka-conformance site build/site                       begin with build/site/index.html
  kafka-conformance site build/site --runs runs           and how the newest runs on brokers have ended
  kafka-conformance explain TR-01 --page tr-01.html       one requirement as one file
"""
TOLD_EVERY = 20
"""After so many entries progress is told."""
FEW = 9
"""So many entries of one page are predicted faster than further processes start."""


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What of the site to write, and where.

    Attributes:
        directory: new, empty, or with a site in it.
        runs: run directories, or directories of runs.
        lines: the release lines that are told.
        lanes: how many entries are predicted side by side.
    """

    directory: Path
    runs: tuple[Path, ...] = ()
    lines: tuple[Line, ...] = LADDER
    lanes: int = 1


def add_site(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("directory", type=Path, metavar="DIR", help="new, empty, or with such a site in it")
    parser.add_argument(
        "--runs",
        type=Path,
        nargs="+",
        default=[],
        metavar="RUNS-DIR",
        help="runs, or directories of runs: the newest verdict of each entry and line is told",
    )
    parser.add_argument(
        "--kafka", metavar="LIST", help="release lines, such as 0.10.2.2,3.9.2/zookeeper (default: all)"
    )
    parser.add_argument(
        "--lanes",
        type=whole_number(1, LANES_MAX),
        metavar="N",
        help="predict N entries side by side (default: as many as there are processors)",
    )
    add_json(parser)
    parser.set_defaults(command=_site)


def _site(console: Console, parsed: argparse.Namespace) -> int:
    chosen = LADDER if parsed.kafka is None else lines_of_list(parsed.kafka)
    return write_site(console, SiteOptions(parsed.directory, tuple(parsed.runs), chosen, parsed.lanes or _processors()))


def _processors() -> int:
    return min(os.cpu_count() or 1, LANES_MAX)


def write_site(console: Console, options: SiteOptions) -> int:
    """Write the site.

    Raises:
        UsageError: the directory holds files that are of no site, or cannot be written.
        RunDirectoryError: what was given as runs has none.
    """
    former = _former_pages(options.directory)
    check_writable(options.directory)
    runs = newest_runs(options.runs, console.complain)
    texts = _all_texts(console, options)
    pages = [*requirement_pages(texts), *defect_pages(texts), *setting_pages()]
    index = options.directory / f"{INDEX}.html"
    written = {}
    told_of = about_lines(options.lines), about_runs(options.runs)
    for page in pages:
        file = options.directory / f"{page.key}.html"
        written[file] = render_page(with_runs(page, runs, file.parent), PagePlace(page.key, pages), *told_of)
    _write({**written, index: render_index(pages)}, former)
    if console.as_json:
        console.answer_json({"site": str(index), "pages": len(pages)})
    else:
        console.answer(f"{len(pages)} pages; begin with {index}")
    return 0


def _all_texts(console: Console, options: SiteOptions) -> dict[str, EntryText]:
    """Return what is said of every entry of the catalogue, by its name; tell now and then how far it is."""
    texts = {}
    for number, text in enumerate(_texts(CATALOGUE, options.lines, options.lanes), start=1):
        texts[text.name] = text
        if number % TOLD_EVERY == 0 or number == len(CATALOGUE):
            console.progress(f"{number} of {len(CATALOGUE)} entries predicted, on {len(options.lines)} release lines")
    return texts


def _former_pages(directory: Path) -> list[Path]:
    """Return the pages of the site that a directory holds; none of one that is new or empty.

    Raises:
        UsageError: it holds other files, and no site.
    """
    if not directory.is_dir() or not any(directory.iterdir()):
        return []
    if not _is_page(directory / f"{INDEX}.html"):
        why = "it holds files, and none of them is a site that was written here; name a new or an empty directory"
        raise UsageError(f"nothing is written to {directory}: {why}")
    return [file for file in (*directory.glob("*.html"), *directory.glob("*/*.html")) if _is_page(file)]


def _is_page(file: Path) -> bool:
    return file.is_file() and MARK in file.read_text(encoding="utf-8", errors="replace")


def _write(written: Mapping[Path, str], former: Sequence[Path]) -> None:
    """Write every page, the list last, each in one piece; then take away those of a former site that are no more."""
    for file, text in written.items():
        write_whole(file, text)
    for file in former:
        if file not in written:
            file.unlink()


def _texts(entries: Sequence[Entry], lines: Sequence[Line], lanes: int) -> Iterator[EntryText]:
    """Yield what is said of entries, in their order; several are predicted side by side."""
    text_of = partial(_text_named, tuple(lines))
    names = [entry.name for entry in entries]
    if lanes == 1 or len(entries) == 1:
        yield from map(text_of, names)
        return
    with get_context("spawn").Pool(min(lanes, len(entries)), _leave_interrupts_to_the_parent) as pool:
        yield from pool.imap(text_of, names)


def _text_named(lines: tuple[Line, ...], name: str) -> EntryText:
    (entry,) = entries_named([name])
    return entry_text(entry, lines_of(entry, lines))


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# ``explain --page``: the same page alone. Of a requirement, of a known defect, or of one entry.


def write_alone(console: Console, globs: Sequence[str], file: Path, runs: tuple[Path, ...] = ()) -> int:
    """Write the page of one requirement, known defect or entry as a file of its own.

    Args:
        console: told where the page is, and which runs are left out.
        globs: names of entries.
        file: where the page goes.
        runs: run directories, or directories of runs, whose newest verdicts are told.

    Raises:
        UsageError: several pages are named, or the file cannot be written.
        RunDirectoryError: what was given as runs has none.
        UnknownEntryError: nothing is called that.
    """
    key, entries = _named(globs)
    check_file(file)
    measured = newest_runs(runs, console.complain)
    lanes = 1 if len(entries) <= FEW else _processors()
    page = page_at(key, {text.name: text for text in _texts(entries, LADDER, lanes)})
    page = with_runs(page, measured, file.parent)
    file.write_text(render_page(page, PagePlace(key), about_lines(LADDER), about_runs(runs)), encoding="utf-8")
    if console.as_json:
        console.answer_json({"page": str(file), "entries": [entry.name for entry in entries]})
    else:
        console.answer(f"page: {file}")
    return 0


def _named(globs: Sequence[str]) -> tuple[str, tuple[Entry, ...]]:
    """Return the key of the page that is meant, and the entries on it: of a requirement also if it has none."""
    row = next((one.id for one in REQUIREMENTS if [one.id.casefold()] == [glob.casefold() for glob in globs]), None)
    if row is not None:
        return (key := f"{REQUIREMENTS_AT}/{row}"), entries_on(key)
    entries = select(globs)
    keys = list(dict.fromkeys(map(entry_page, entries)))
    if len(keys) > 1:
        several = ", ".join(key.partition("/")[2] for key in keys)
        raise UsageError(f"--page is about one requirement or known defect, and {' '.join(globs)} is of {several}")
    return keys[0], entries
