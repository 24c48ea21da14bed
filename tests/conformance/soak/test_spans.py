"""Are ranges of offsets joined, shared and taken away as sets of offsets are?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conformance.soak.spans import OffsetSpan, Spans, length, union, within, without

SOME = st.lists(
    st.builds(lambda first, more: OffsetSpan(first, first + more), st.integers(0, 30), st.integers(1, 9)), max_size=6
)


def offsets(spans: Spans | list[OffsetSpan]) -> set[int]:
    return {offset for one in spans for offset in range(one.first, one.end)}


@given(SOME, SOME)
def test_they_are_sets(some: list[OffsetSpan], others: list[OffsetSpan]) -> None:
    one, other = union(some), union(others)
    assert offsets(one) == offsets(some)
    assert length(one) == len(offsets(some))
    assert offsets(within(one, other)) == offsets(some) & offsets(others)
    assert offsets(without(one, other)) == offsets(some) - offsets(others)


@given(SOME, SOME)
def test_none_touches_another(some: list[OffsetSpan], others: list[OffsetSpan]) -> None:
    for spans in (union(some), within(union(some), union(others)), without(union(some), union(others))):
        assert spans == union(spans)
