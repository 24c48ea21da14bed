"""How does a table look in a terminal? Columns as wide as their widest cell, two blanks between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table_lines(rows: Sequence[tuple[str, tuple[str, ...]]]) -> Iterable[str]:
    """Yield a table's lines, given each row's first cell and the others."""
    widths = [max(map(len, column)) for column in zip(*((what, *values) for what, values in rows), strict=True)]
    for what, values in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip((what, *values), widths, strict=True)).rstrip()
