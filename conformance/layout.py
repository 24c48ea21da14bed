"""How does text fit a width? Long lines break between words and go on below their column; tables get narrower cells.

And what do all commands tell alike: sizes, and how far long work is.
"""

from __future__ import annotations

import re
import textwrap
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMN_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")
BULLET = re.compile(r" *(?:(?:\d+\.|-) +)?")
LABEL = re.compile(r"[\w./+-]+(?: [\w./+-]+)?: ")
COMMAND = re.compile(r" *(?:kafka-conformance|--\w[^ ]*) (?!.* {2})")
"""A line that is to be copied as it is."""
COMMENT = "# "
STEP = 2
"""How far what goes on is set in, and how far columns are apart."""
TOLD_EVERY_S = 5.0
"""From one line that says how far long work is to the next."""
_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def size_words(count: int) -> str:
    """Return a number of bytes in the largest unit that leaves a whole one."""
    for unit, words in _UNITS:
        if count >= unit:
            return f"{count / unit:,.1f} {words}"
    return f"{count:,} bytes"


def fit(text: str, width: int) -> str:
    """Return a text with no line wider than ``width``, save a word or a command that is: those are to be copied."""
    fitted: list[str] = []
    groups = [(has_cells, list(group)) for has_cells, group in groupby(text.split("\n"), _has_cells)]
    for has_cells, lines in groups:
        fitted += _fit_lines(lines, width, has_cells=has_cells)
    return "\n".join(fitted)


def _fit_lines(lines: list[str], width: int, *, has_cells: bool) -> list[str]:
    narrow = squeezed(lines, width) if has_cells and max(map(len, lines)) > width else None
    return [piece for line in lines for piece in fit_line(line, width)] if narrow is None else narrow


def fill(text: str, width: int) -> str:
    """Return prose that fills a width: lines of a paragraph are joined; a line that is set in stays one by itself."""
    lines: list[str] = []
    for is_prose, group in groupby(text.split("\n"), _is_prose):
        paragraph = list(group)
        lines += [" ".join(paragraph)] if is_prose else paragraph
    return fit("\n".join(lines), width)


def _is_prose(line: str) -> bool:
    return line != "" and not line[0].isspace()


# A line


def fit_line(line: str, width: int) -> list[str]:
    """Return the lines that a line becomes: what goes on stands below the column, or the text, that it goes on."""
    if len(line) <= width or COMMAND.match(line):
        return [line]
    left = len(line) - len(line.lstrip())
    ends = [gap.end() for gap in COLUMN_GAP.finditer(line) if gap.start() < width]
    below = [end for end in ends if end <= width // 2]
    if below:
        return _wrapped(line, width, below[-1])
    if ends:
        head, text = line[: ends[0]].rstrip(), line[ends[0] :]
        return [head, *_wrapped(" " * (left + 2 * STEP) + text, width, left + 2 * STEP)]
    return _wrapped(line, width, _hanging(line, width))


def _hanging(line: str, width: int) -> int:
    """Return where the text of a line begins: behind its bullet, and behind its label unless that is long."""
    bullet = BULLET.match(line)
    start = bullet.end() if bullet else 0
    label = LABEL.match(line, start)
    if label is not None and label.end() <= width // 4:
        return label.end()
    return start + STEP if label is not None else start


def _wrapped(line: str, width: int, indent: int) -> list[str]:
    mark = COMMENT if line.startswith(COMMENT, indent) else ""
    below = " " * indent + mark
    return textwrap.wrap(line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False)


# A table


def _has_cells(line: str) -> bool:
    return len(COLUMN_GAP.findall(line)) >= STEP


def squeezed(lines: Sequence[str], width: int) -> list[str] | None:
    """Return a table of three columns and more within a width, words of a cell below each other; None if none fits."""
    columns = list(_columns(lines))
    rows = [[line[start:end].strip() for start, end in columns] for line in lines]
    indent = " " * columns[0][0]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    least = [max(len(word) for cell in column for word in cell.split() or [""]) for column in zip(*rows, strict=True)]
    context = width - len(indent) - STEP * (len(columns) - 1)
    if len(columns) <= STEP or sum(least) > context:
        return None
    while sum(widths) > context:
        widest = max((n for n in range(len(widths)) if widths[n] > least[n]), key=widths.__getitem__)
        widths[widest] -= 1
    return [indent + line for row in rows for line in _row(row, widths)]


def _columns(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the columns of a table begin and end: between them every line is blank, twice or more."""
    longest = max(map(len, lines))
    used = "".join(" " if all(line[n : n + 1].strip() == "" for line in lines) else "x" for n in range(longest))
    yield from (column.span() for column in re.finditer(r"x+(?: x+)*", used))


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a row."""
    wrapped = [
        textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False)
        for cell, width in zip(cells, widths, strict=True)
    ]
    for pieces in zip_longest(*wrapped, fillvalue=""):
        yield "  ".join(f"{piece:{width}}" for piece, width in zip(pieces, widths, strict=True)).rstrip()
