"""Does every rule of Kip320 hold something up? Leave one out and StrongIsr or WeakIsr falls.

Traces and counts are TLC's, where the published module could be changed accordingly.
"""

from __future__ import annotations

import pytest

from oracle.explorer.model import SearchVerdict
from oracle.published.catalogue import ABLATIONS
from tests.oracle.published.searching import search

BOUNDS = "3/2/2/2"
ROWS = [
    ("Kip320/truncates-to-high-watermark", "WeakIsr", 12),
    ("Kip320/looks-up-by-kip-101", "WeakIsr", 14),
    ("Kip320/looks-up-by-kip-101-with-epoch-entry", "WeakIsr", 12),
    ("Kip320/without-truncation-fence", "WeakIsr", 14),
    ("Kip320/joins-at-high-watermark", "StrongIsr", 12),
    ("Kip320/without-fetch-fence", "WeakIsr", 13),
    ("Kip320/without-high-watermark-fence", "WeakIsr", 13),
    ("Kip320/with-unclean-election", "StrongIsr", 9),
    ("Kip320/looks-up-by-kip-101-with-unclean-election", "FollowerIsPrefix", 11),
    ("Kip320/looks-up-by-kip-101-with-epoch-entry-and-unclean-election", "FollowerIsPrefix", 10),
]
COUNTS = [
    ("Kip320/truncates-to-high-watermark", 12769, 6407, 20),
    ("Kip320/looks-up-by-kip-101", 11747, 5973, 18),
    ("Kip320/without-truncation-fence", 15699, 6765, 18),
    ("Kip320/joins-at-high-watermark", 13301, 6519, 18),
    ("Kip320/without-fetch-fence", 13027, 6345, 18),
    ("Kip320/without-high-watermark-fence", 11851, 5973, 18),
]


def test_every_variant_is_in_the_table() -> None:
    assert [module.name for module in ABLATIONS] == [name for name, _, _ in ROWS]


@pytest.mark.parametrize(("name", "invariant", "trace_length"), ROWS)
def test_without_one_rule_an_invariant_breaks(name: str, invariant: str, trace_length: int) -> None:
    found = search(name, BOUNDS, invariant, with_symmetry=True)

    assert (found.verdict, found.trace_length) == (SearchVerdict.VIOLATED, trace_length)


@pytest.mark.parametrize(("name", "generated", "distinct", "depth"), COUNTS)
def test_a_variant_counts_as_tlc_on_the_changed_module(name: str, generated: int, distinct: int, depth: int) -> None:
    found = search(name, "2/2/2/2")

    assert (found.generated, found.distinct, found.depth) == (generated, distinct, depth)


def test_with_unclean_election_a_follower_is_still_a_prefix_of_its_leader() -> None:
    found = search("Kip320/with-unclean-election", "3/2/2/1", "FollowerIsPrefix", with_symmetry=True)

    assert found.verdict is SearchVerdict.HOLDS
    assert found.sometimes["ControllerElectUnclean"] > 0


def test_counting_the_known_isr_only_exposes_records_that_a_member_lacks() -> None:
    found = search("AsyncIsr/without-maximal-isr", "2/2/1/2", "ValidHighWatermark")

    assert (found.verdict, found.trace_length) == (SearchVerdict.VIOLATED, 6)
