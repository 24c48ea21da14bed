"""Are fetch rounds told as the gate let them through?"""

from uuid import UUID

from fault_injection.wire.points import LinkKind, ObservedRequest
from fault_injection.wire.rounds import Rounds
from fault_injection.wire.views import (
    DivergingEpochView,
    EpochBatches,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
)
from tests.fault_injection.wire.gate_transcript import answer_of, asked, fetch_of, given


def observed(
    view: FetchRequestView | None, *, arrived_ns: int, correlation_id: int = 1, link_kind: LinkKind = "replication"
) -> ObservedRequest:
    return ObservedRequest(7, correlation_id, 1, link_kind, 2, 1, view, arrived_ns)


def test_a_round_tells_both_frames_and_their_times() -> None:
    rounds = Rounds()
    request = observed(fetch_of(FetchPartition("t", None, 0, 4, 6, 5)), arrived_ns=10)
    answer = FetchedPartition(
        "t",
        None,
        0,
        0,
        3,
        record_bytes=90,
        epochs=(EpochBatches(5, 4, 4), EpochBatches(6, 5, 8)),
        diverging_epoch=DivergingEpochView(5, 3),
    )
    rounds.on_forwarded(request, 20)
    assert rounds.in_flight() == (request,)
    rounds.on_response_forwarded(request, answer_of(answer), 30, 40)
    (finished,) = rounds.rounds_since(0)
    assert (finished.follower, finished.leader, finished.topic, finished.partition) == (2, 1, "t", 0)
    assert (finished.fetch_offset, finished.current_leader_epoch, finished.last_fetched_epoch) == (4, 6, 5)
    assert (finished.request_arrived_ns, finished.request_forwarded_ns) == (10, 20)
    assert (finished.response_arrived_ns, finished.response_forwarded_ns) == (30, 40)
    assert (finished.error, finished.high_watermark, finished.record_bytes) == (0, 3, 90)
    assert (finished.first_offset, finished.last_offset, finished.diverging_epoch) == (4, 8, DivergingEpochView(5, 3))
    assert rounds.in_flight() == ()


def test_a_fetch_let_through_moves_the_remote_log_end_offset_at_once() -> None:
    rounds = Rounds()
    assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) is None
    rounds.on_forwarded(observed(fetch_of(asked(4)), arrived_ns=10), 20)
    assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) == 4
    assert rounds.last_forwarded_fetch_offset(3, 1, "t", 0) is None
    assert rounds.rounds_since(0) == ()


def test_a_fetch_that_is_refused_is_taken_back() -> None:
    rounds = Rounds()
    fenced = answer_of(given(error=74))
    for offset, answer, known in ((4, fenced, None), (5, answer_of(given()), 5), (6, fenced, 5), (7, fenced, 5)):
        request = observed(fetch_of(asked(offset)), arrived_ns=offset, correlation_id=offset)
        rounds.on_forwarded(request, 20)
        assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) == offset, "its leader may have it already"
        rounds.on_response_arrived(request, answer)
        assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) == known, "also if its answer is held"
        rounds.on_response_forwarded(request, answer, 30, 40)
        assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) == known


def test_of_a_fetch_that_diverges_both_numbers_are_told() -> None:
    rounds = Rounds()
    diverging = answer_of(FetchedPartition("t", None, 0, 0, 4, diverging_epoch=DivergingEpochView(0, 1)))
    told = (
        (3, diverging, (None, 3)),
        (5, answer_of(given(error=74)), (None, 3)),
        (1, answer_of(given()), (1, None)),
        (4, diverging, (1, 4)),
        (2, diverging, (1, 2)),
    )
    for offset, answer, known in told:
        request = observed(fetch_of(asked(offset)), arrived_ns=offset, correlation_id=offset)
        rounds.on_forwarded(request, 20)
        assert _known(rounds) == (offset, None), "its leader may have it already"
        rounds.on_response_arrived(request, answer)
        assert _known(rounds) == known, "also if its answer is held"
        rounds.on_response_forwarded(request, answer, 30, 40)
        assert _known(rounds) == known
    rounds.leader_lost(1)
    assert _known(rounds) == (None, None)


def _known(rounds: Rounds) -> tuple[int | None, int | None]:
    link = (2, 1, "t", 0)
    return rounds.last_forwarded_fetch_offset(*link), rounds.diverging_fetch_offset(*link)


def test_a_leader_that_ended_knows_nothing_of_its_followers() -> None:
    rounds = Rounds()
    rounds.on_forwarded(observed(fetch_of(asked(4)), arrived_ns=10), 20)
    rounds.leader_lost(2)
    assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) == 4
    rounds.leader_lost(1)
    assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) is None


def test_rounds_are_told_since_a_time_in_the_order_of_arrival() -> None:
    rounds = Rounds()
    for arrived_ns, topic in ((30, "b"), (10, "a"), (20, "b")):
        request = observed(fetch_of(asked(arrived_ns, topic=topic)), arrived_ns=arrived_ns, correlation_id=arrived_ns)
        rounds.on_forwarded(request, arrived_ns)
        rounds.on_response_forwarded(request, answer_of(given(topic=topic)), arrived_ns, arrived_ns)
    assert [one.fetch_offset for one in rounds.rounds_since(0)] == [10, 20, 30]
    assert [one.fetch_offset for one in rounds.rounds_since(20)] == [20, 30]
    assert [one.fetch_offset for one in rounds.rounds_since(0, topic="b")] == [20, 30]
    assert [one.fetch_offset for one in rounds.rounds_since(0, topic="b", partition=0)] == [20, 30]
    assert rounds.rounds_since(0, partition=1) == rounds.rounds_since(0, follower=3) == ()


def test_only_the_last_rounds_are_kept() -> None:
    rounds = Rounds(rounds_max=2)
    for offset in range(5):
        request = observed(fetch_of(asked(offset)), arrived_ns=offset)
        rounds.on_forwarded(request, offset)
        rounds.on_response_forwarded(request, answer_of(given()), offset, offset)
    assert [one.fetch_offset for one in rounds.rounds_since(0)] == [3, 4]


def test_a_lost_connection_leaves_no_round_in_flight() -> None:
    rounds = Rounds()
    request = observed(fetch_of(asked(4)), arrived_ns=10)
    rounds.on_forwarded(request, 20)
    rounds.connection_lost(8)
    assert rounds.in_flight() == (request,)
    rounds.connection_lost(7)
    rounds.on_response_arrived(request, answer_of(given(error=74)))
    rounds.on_response_forwarded(request, answer_of(given(error=74)), 30, 40)
    assert (rounds.in_flight(), rounds.rounds_since(0)) == ((), ())
    assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) == 4, "nobody knows what became of it"


def test_a_top_level_error_is_the_error_of_every_partition() -> None:
    rounds = Rounds()
    request = observed(fetch_of(asked(4), asked(5, topic=None, topic_id=UUID(int=9))), arrived_ns=10)
    rounds.on_forwarded(request, 20)
    rounds.on_response_forwarded(request, answer_of(error=70), 30, 40)
    assert {(one.topic, one.error, one.high_watermark) for one in rounds.rounds_since(0)} == {
        ("t", 70, -1),
        (str(UUID(int=9)), 70, -1),
    }


def test_metadata_fetches_and_undecoded_requests_are_no_rounds() -> None:
    rounds = Rounds()
    for request in (
        observed(fetch_of(asked(4)), arrived_ns=1, link_kind="controller"),
        observed(None, arrived_ns=2),
    ):
        rounds.on_forwarded(request, 3)
        rounds.on_response_forwarded(request, answer_of(given()), 4, 5)
    assert rounds.rounds_since(0) == ()


def test_a_consumer_makes_no_rounds() -> None:
    rounds = Rounds()
    for replica_id in (-1, -2):
        rounds.on_forwarded(observed(fetch_of(asked(4), follower=replica_id), arrived_ns=10, link_kind="client"), 20)
    assert rounds.in_flight() == ()
    assert rounds.last_forwarded_fetch_offset(2, 1, "t", 0) is None
