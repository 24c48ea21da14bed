"""Do the models count what TLC counts on the published specifications, at the same constants?

Every number here was printed by TLC (one worker, deadlock check off), not by the explorer.
"""

from __future__ import annotations

import pytest

from oracle.explorer.model import SearchVerdict
from tests.oracle.published.searching import search

BOTH = "WeakIsr StrongIsr"
THW = "KafkaTruncateToHighWatermark"
HOLDS = [
    # module, replicas/log size/records/epochs, invariants, generated, distinct, depth
    (THW, "2/2/2/2", "", 24459, 10131, 20),
    (THW, "3/1/1/1", "", 31552, 10681, 17),
    ("Kip101", "2/2/2/1", BOTH, 2483, 1177, 15),
    ("Kip101", "2/2/2/2", "", 21447, 9045, 18),
    ("Kip279", "2/2/2/2", BOTH, 23425, 9027, 18),
    ("Kip279", "3/1/1/1", "WeakIsr", 36322, 9841, 18),
    ("Kip320FirstTry", "2/2/2/2", BOTH, 19387, 8429, 18),
    ("Kip320FirstTry", "3/1/1/1", BOTH, 27088, 9661, 18),
    ("Kip320", "2/1/1/1", BOTH, 471, 277, 12),
    ("Kip320", "2/2/2/2", BOTH, 11839, 5973, 18),
    ("Kip320", "3/1/1/1", BOTH, 16348, 6787, 18),
    ("Kip320", "3/2/2/1", BOTH, 104488, 39619, 22),
    ("AsyncIsr", "2/2/1/2", "ValidHighWatermark", 307, 84, 12),
    ("AsyncIsr", "2/3/1/3", "ValidHighWatermark", 983, 280, 17),
    ("AsyncIsr", "3/1/1/1", "ValidHighWatermark", 1281, 220, 10),
    ("AsyncIsr", "3/2/1/2", "ValidHighWatermark", 23153, 4088, 17),
]
VIOLATED = [
    # module, constants, invariant, states of the shortest counterexample
    (THW, "2/2/2/1", "WeakIsr", 9),
    (THW, "2/2/2/2", "WeakIsr", 9),
    (THW, "2/2/2/2", "StrongIsr", 10),
    (THW, "3/1/1/1", "StrongIsr", 9),
    ("Kip101", "2/2/2/2", "WeakIsr", 12),
    ("Kip101", "2/2/2/2", "StrongIsr", 12),
    ("Kip279", "3/1/1/1", "StrongIsr", 12),
]
SYMMETRIC = [
    ("Kip320", "3/2/2/1", BOTH, 17753, 6713, 22),
]


@pytest.mark.parametrize(("name", "bounds", "invariants", "generated", "distinct", "depth"), HOLDS)
def test_a_whole_search_counts_as_tlc(
    name: str, bounds: str, invariants: str, generated: int, distinct: int, depth: int
) -> None:
    found = search(name, bounds, *invariants.split())

    assert (found.generated, found.distinct, found.depth) == (generated, distinct, depth)
    assert found.verdict is SearchVerdict.HOLDS
    assert found.never_seen == ()


@pytest.mark.parametrize(("name", "bounds", "invariant", "trace_length"), VIOLATED)
def test_a_broken_invariant_breaks_as_early_as_in_tlc(
    name: str, bounds: str, invariant: str, trace_length: int
) -> None:
    found = search(name, bounds, invariant)

    assert (found.verdict, found.property_name, found.trace_length) == (SearchVerdict.VIOLATED, invariant, trace_length)


@pytest.mark.parametrize(("name", "bounds", "invariants", "generated", "distinct", "depth"), SYMMETRIC)
def test_symmetry_counts_orbits_as_tlc(
    name: str, bounds: str, invariants: str, generated: int, distinct: int, depth: int
) -> None:
    found = search(name, bounds, *invariants.split(), with_symmetry=True)

    assert (found.generated, found.distinct, found.depth) == (generated, distinct, depth)


@pytest.mark.parametrize(("name", "trace_length"), [(THW, 9), ("Kip101", 12), ("Kip279", 11), ("Kip320FirstTry", 12)])
def test_symmetry_does_not_change_the_shortest_counterexample(name: str, trace_length: int) -> None:
    bounds = "2/2/2/2" if name in {THW, "Kip101"} else "3/2/2/2"

    assert search(name, bounds, "WeakIsr", with_symmetry=True).trace_length == trace_length


def test_async_isr_is_symmetric_in_its_followers() -> None:
    whole, folded = (search("AsyncIsr", "3/2/1/2", "ValidHighWatermark", with_symmetry=on) for on in (False, True))

    assert folded.verdict is SearchVerdict.HOLDS
    assert folded.depth == whole.depth
    assert whole.distinct / 2 < folded.distinct < whole.distinct * 0.55


def test_a_search_that_is_too_small_says_what_it_did_not_see() -> None:
    found = search("Kip320", "2/1/1/0", "StrongIsr")

    assert found.verdict is SearchVerdict.HOLDS
    assert found.never_seen == ("a zombie writes", "records are cut")
