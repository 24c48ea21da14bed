"""Does a cut stop what it names, and nothing else?"""

import pytest

from fault_injection.wire.cuts import Cut, Cuts


@pytest.mark.parametrize(
    ("made", "source", "destination", "is_cut"),
    [
        ((2, 1), 2, 1, True),
        ((2, 1), 1, 2, False),
        ((2, 1), 3, 1, False),
        ((2, 1), None, 1, False),
        ((2, None), 2, 3, True),
        ((2, None), None, 3, False),
        ((None, 2), 3, 2, True),
        ((None, 2), None, 2, True),
        ((None, 2), 2, 2, False),
        ((None, 2), 2, 3, False),
    ],
)
def test_a_cut_stops_what_it_names(made: Cut, source: int | None, destination: int, is_cut: bool) -> None:
    cuts = Cuts()
    assert not cuts.is_cut(source, destination)
    cuts.cut(*made)
    assert cuts.is_cut(source, destination) == is_cut
    cuts.heal(*made)
    assert not cuts.is_cut(source, destination)
    cuts.heal(*made)
