"""What becomes of bytes when several impairments are imposed, one after the other and at once?"""

import pytest

from fault_injection.wire.impairments import (
    TOLD_MAX,
    Flow,
    FrameMark,
    ImpairmentError,
    LinkCut,
    LinkDelay,
    LinkDirection,
)
from fault_injection.wire.shaping import TOUCHED_MAX, Load, Shaping

REQUESTS = Flow("replication", 2, 1, "request")
ANSWERS = REQUESTS.reverse
MS = 1_000_000


def load(flow: Flow = REQUESTS, *, opened_ns: int = 0, size: int = 10, connection: int = 7) -> Load:
    return Load(connection, flow, opened_ns, size, FrameMark(3, "Fetch", 5, 12))


def test_a_one_way_cut_stops_one_way() -> None:
    shaping = Shaping()
    shaping.impose("cut", LinkCut((LinkDirection(1, 2),)), 100)
    assert shaping.verdict(load(ANSWERS)) == "wait"
    assert shaping.verdict(load(REQUESTS)) == "forward"
    assert shaping.verdict(load(Flow("replication", 3, 1, "request"))) == "forward"


def test_a_connection_opened_during_a_cut_carries_nothing_either_way() -> None:
    shaping = Shaping()
    shaping.impose("cut", LinkCut((LinkDirection(1, 2),)), 100)
    assert shaping.verdict(load(REQUESTS, opened_ns=99)) == "forward"
    assert shaping.verdict(load(REQUESTS, opened_ns=100)) == "wait"
    assert shaping.verdict(load(ANSWERS, opened_ns=100)) == "wait"
    assert shaping.is_unopened(load(REQUESTS, opened_ns=100))
    assert not shaping.is_unopened(load(REQUESTS, opened_ns=99))
    shaping.lift("cut", 200)
    assert shaping.verdict(load(REQUESTS, opened_ns=100)) == "forward"


def test_a_cut_by_resets_ends_a_connection_whichever_way_it_names() -> None:
    shaping = Shaping()
    shaping.impose("cut", LinkCut((LinkDirection(1, 2),), by="reset"), 0)
    assert shaping.verdict(load(REQUESTS)) == shaping.verdict(load(ANSWERS)) == "close"
    assert shaping.is_reset(REQUESTS)
    assert not shaping.is_reset(Flow("replication", 3, 1, "request"))


def test_a_reset_wins_over_a_blackhole_and_each_is_lifted_alone() -> None:
    shaping = Shaping()
    shaping.impose("hole", LinkCut((LinkDirection(2, 1),)), 0)
    shaping.impose("resets", LinkCut((LinkDirection(2, 1),), by="reset"), 0)
    shaping.impose("wider hole", LinkCut((LinkDirection(2, None),)), 0)
    assert shaping.verdict(load()) == "close"
    shaping.lift("resets", 1)
    assert shaping.verdict(load()) == "wait"
    shaping.lift("hole", 1)
    assert shaping.verdict(load()) == "wait"
    shaping.lift("wider hole", 1)
    assert shaping.verdict(load()) == "forward"
    assert shaping.is_idle


def test_every_cut_that_ends_a_connection_is_told_of_it() -> None:
    shaping = Shaping()
    shaping.impose("resets", LinkCut((LinkDirection(2, 1),), by="reset"), 0)
    shaping.impose("wider resets", LinkCut((LinkDirection(2, None),), by="reset"), 0)
    shaping.stopped(load(), 1)
    assert shaping.evidence("resets").touched == shaping.evidence("wider resets").touched != ()


def test_delays_add_up() -> None:
    shaping = Shaping()
    shaping.impose("far", LinkDelay((LinkDirection(2, 1),), 30), 0)
    shaping.impose("farther", LinkDelay((LinkDirection(2, None),), 12), 0)
    assert shaping.slowed(load(), 0) == 42 * MS
    assert shaping.slowed(load(ANSWERS), 0) == 0


def test_evidence_names_what_was_met_and_outlives_the_impairment() -> None:
    shaping = Shaping()
    shaping.impose("cut", LinkCut((LinkDirection(2, 1),)), 100)
    assert not shaping.evidence("cut").has_fired
    shaping.stopped(load(size=10), 150)
    shaping.stopped(load(size=20), 160)
    shaping.stopped(load(ANSWERS), 170)
    evidence = shaping.lift("cut", 200)
    assert evidence == shaping.evidence("cut")
    (touched,) = evidence.touched
    assert (touched.connection, touched.frames, touched.size, touched.at_ns) == (7, 2, 30, 150)
    assert touched.first == FrameMark(3, "Fetch", 5, 12)
    assert evidence.first == touched
    assert (evidence.imposed_ns, evidence.lifted_ns) == (100, 200)
    assert touched.text == "connection 7, requests 2→1 (replication): 2 frames of 30 bytes, first Fetch 5"


@pytest.mark.parametrize(
    ("flows", "text"),
    [
        (0, "nothing came that way"),
        (2, "connection 0, requests 2→1 (replication): 1 frames of 10 bytes, first Fetch 5; connection 1, "),
        (TOUCHED_MAX + 1, f"{TOUCHED_MAX + 1} flows, in the first {TOUCHED_MAX} of them {TOUCHED_MAX} frames of "),
        (TOLD_MAX + 1, "5 flows, in them 5 frames of 50 bytes, such as connection 0, requests 2→1 (replication): 1 "),
    ],
)
def test_of_many_flows_the_first_is_told(flows: int, text: str) -> None:
    shaping = Shaping()
    shaping.impose("cut", LinkCut((LinkDirection(2, 1),)), 0)
    for connection in range(flows):
        shaping.stopped(load(connection=connection, size=10), 1)

    assert shaping.lift("cut", 2).text.startswith(text)


def test_evidence_does_not_grow_without_bound() -> None:
    shaping = Shaping()
    shaping.impose("cut", LinkCut((LinkDirection(2, 1),)), 0)
    for connection in range(TOUCHED_MAX + 5):
        shaping.stopped(load(connection=connection), 1)
    evidence = shaping.evidence("cut")
    assert (len(evidence.touched), evidence.untold) == (TOUCHED_MAX, 5)


def test_names_are_used_once_at_a_time() -> None:
    shaping = Shaping()
    shaping.impose("cut", LinkCut((LinkDirection(2, 1),)), 0)
    with pytest.raises(ImpairmentError, match="imposed already"):
        shaping.impose("cut", LinkDelay((LinkDirection(2, 1),), 1), 0)
    shaping.lift("cut", 1)
    with pytest.raises(ImpairmentError, match="no impairment 'cut' is imposed"):
        shaping.lift("cut", 2)
    with pytest.raises(ImpairmentError, match="was ever imposed"):
        shaping.evidence("other")
    shaping.impose("cut", LinkDelay((LinkDirection(2, 1),), 1), 3)
    assert not shaping.evidence("cut").has_fired
    assert shaping.imposed() == {"cut": LinkDelay((LinkDirection(2, 1),), 1)}


def test_an_impairment_that_does_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="takes time"):
        LinkDelay((LinkDirection(2, 1),), 0)
