"""Which offsets do some ranges have together, and which of them are in others, or in none? Few ranges, however long."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class OffsetSpan(NamedTuple):
    """Offsets from the first on to before the end."""

    first: int
    end: int


Spans = tuple[OffsetSpan, ...]
"""Spans of which none touches another, in the order of their offsets."""


def union(spans: Iterable[OffsetSpan]) -> Spans:
    """Return what some spans cover together."""
    found: list[OffsetSpan] = []
    for one in sorted(spans):
        if found and one.first <= found[-1].end:
            found[-1] = OffsetSpan(found[-1].first, max(found[-1].end, one.end))
        else:
            found.append(one)
    return tuple(found)


def within(spans: Spans, others: Spans) -> Spans:
    """Return what is covered by both."""
    return union(piece for piece in _pieces(spans, others) if _has(spans, piece) and _has(others, piece))


def without(spans: Spans, others: Spans) -> Spans:
    """Return what is covered by the first alone."""
    return union(piece for piece in _pieces(spans, others) if _has(spans, piece) and not _has(others, piece))


def length(spans: Spans) -> int:
    """Return how many offsets they cover."""
    return sum(one.end - one.first for one in spans)


def _pieces(*several: Spans) -> Iterable[OffsetSpan]:
    """Yield the pieces into which all ends cut the offsets: each is covered as a whole, or not at all."""
    return (
        OffsetSpan(*piece) for piece in pairwise(sorted({cut for spans in several for one in spans for cut in one}))
    )


def _has(spans: Spans, piece: OffsetSpan) -> bool:
    place = bisect_right(spans, piece.first, key=attrgetter("first"))
    return place > 0 and piece.first < spans[place - 1].end
