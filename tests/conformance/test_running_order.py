"""Do entries that can share a cluster come one after the other, without anything lost or turned round?"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.registry import CATALOGUE, SCENARIOS, select
from conformance.session import PIECE_MIN, TOGETHER, in_pieces, in_running_order

if TYPE_CHECKING:
    from conformance.catalogue.examination import Entry


def test_nothing_is_lost_and_nothing_comes_twice() -> None:
    assert sorted(entry.name for entry in in_running_order(CATALOGUE)) == sorted(entry.name for entry in CATALOGUE)


def test_each_timing_of_a_cluster_comes_once() -> None:
    ordered = [entry for entry in in_running_order(SCENARIOS) if isinstance(entry, Scenario)]
    clusters = [
        key
        for key, _ in groupby(
            (max(3, *e.schedule.brokers), e.schedule.timing, e.schedule.checkpointing, e.schedule.fetch_wait_max_ms)
            for e in ordered
        )
    ]
    given = [key for key, _ in groupby((s.schedule.timing, s.schedule.checkpointing) for s in SCENARIOS)]
    assert len(clusters) < len(given)


def test_entries_of_one_cluster_stay_in_the_order_given() -> None:
    alike = [s for s in SCENARIOS if s.name.startswith("EL-03/acks=1") and s.name.endswith("replicas=2")]
    assert list(in_running_order(alike)) == alike
    assert list(in_running_order(alike[::-1])) == alike[::-1]


QUICK, FULL = (select((), profile=profile) for profile in ("quick", "full"))


@pytest.mark.parametrize("entries", [QUICK, FULL])
@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_pieces_for_lanes_are_the_running_order(entries: tuple[Entry, ...], lanes: int) -> None:
    pieces = list(in_pieces(entries, lanes))

    assert [entry for piece in pieces for entry in piece] == list(in_running_order(entries))
    assert max(map(len, pieces)) <= TOGETHER


def test_a_piece_fits_one_cluster() -> None:
    for piece in in_pieces(FULL, 2):
        assert len(list(in_pieces(piece, 1))) == 1


def test_no_lane_has_much_left_when_the_others_have_ended() -> None:
    of_one_cluster = max(in_pieces(QUICK, 1), key=len)
    sizes = [len(piece) for piece in in_pieces(of_one_cluster, 2)]

    assert sizes[0] <= -(-len(of_one_cluster) // 2)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= PIECE_MIN
