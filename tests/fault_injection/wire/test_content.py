"""Can a point ask for what a frame says, and is every condition one that some frame can break?"""

from dataclasses import fields
from typing import Any
from uuid import UUID

import pytest

from fault_injection.wire.content import ANYTHING, Content, agreeing
from fault_injection.wire.controller_views import (
    AlterPartitionView,
    BrokerHeartbeatResponseView,
    BrokerHeartbeatView,
    LeaderAndIsrView,
    PartitionLeadership,
    ProposedIsr,
    StoppedReplica,
    StopReplicaView,
)
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import ObservedRequest, Point, matches, matches_answer
from fault_injection.wire.transaction_views import EndTxnView, MarkedPartition, WriteTxnMarkersView
from fault_injection.wire.views import (
    AppendedPartition,
    DivergingEpochView,
    EpochBatches,
    EpochEndOffset,
    EpochResponseView,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
    ProducedPartition,
    ProduceRequestView,
    ProduceResponseView,
)

FETCH = FetchRequestView(2, -1, 500, 99, 4, (FetchPartition("t", None, 0, 3, 5, 4, 1),))
FETCHED = FetchResponseView(
    0, 99, 0, (FetchedPartition("t", None, 0, 0, 7, log_start_offset=1, record_bytes=70, leader_epoch=5),)
)
DIVERGED = FetchResponseView(0, 0, 0, (FetchedPartition("t", None, 0, 0, 7, diverging_epoch=DivergingEpochView(4, 2)),))
CARRIED = FetchResponseView(
    0,
    0,
    0,
    (
        FetchedPartition(
            "t", None, 0, 0, 7, epochs=(EpochBatches(4, 2, 3), EpochBatches(5, 4, 5), EpochBatches(None, None, 9))
        ),
    ),
)
EPOCH_END = EpochResponseView(0, (EpochEndOffset("t", 0, 0, 4, 6),))
LEADERSHIP = LeaderAndIsrView(9, 3, 8, (PartitionLeadership("t", None, 0, 1, 5, (2, 1), (1, 2), 6, 3),))
STOPPED = StopReplicaView(9, 3, 8, (StoppedReplica("t", 0, is_deleted=True),))
PROPOSED = AlterPartitionView(1, 8, (ProposedIsr("t", None, 0, 5, (1,), 6),))
PRODUCED = ProduceRequestView(
    -1, 1000, (ProducedPartition("t", None, 0, record_bytes=70, record_count=2, base_sequence=4),)
)
APPENDED = ProduceResponseView(0, (AppendedPartition("t", None, 0, 20, -1),))
HEARTBEAT = BrokerHeartbeatView(2, 8, 70, want_fence=False, want_shut_down=True)
ENDED = EndTxnView("id", 7, 3, commits=True)
MARKED = WriteTxnMarkersView((MarkedPartition("t", 0, 7, 3, commits=False, coordinator_epoch=2),))
BEATEN = BrokerHeartbeatResponseView(0, is_caught_up=True, is_fenced=False, should_shut_down=False)

CASES: list[tuple[RequestView | ResponseView, str, Any, Any]] = [
    (APPENDED, "error", 20, 0),
    (FETCHED, "error", 0, 6),
    (FETCH, "session_id", 99, 98),
    (FETCH, "session_epoch", 4, 5),
    (FETCH, "last_fetched_epoch", 4, 5),
    (FETCH, "log_start_offset", 1, 0),
    (FETCHED, "high_watermark", 7, 6),
    (FETCHED, "has_records", True, False),
    (DIVERGED, "has_diverging_epoch", True, False),
    (EPOCH_END, "end_offset", 6, 5),
    (LEADERSHIP, "leader_epoch", 5, 4),
    (LEADERSHIP, "leader", 1, 2),
    (LEADERSHIP, "isr", frozenset({1, 2}), frozenset({1})),
    (PROPOSED, "isr", frozenset({1}), frozenset({1, 2})),
    (PROPOSED, "partition_epoch", 6, 5),
    (LEADERSHIP, "controller_epoch", 3, 4),
    (HEARTBEAT, "broker_epoch", 8, 9),
    (STOPPED, "is_deleted", True, False),
    (PRODUCED, "acks", -1, 1),
    (PRODUCED, "record_count", 2, 1),
    (CARRIED, "record_count", 5, 4),
    (APPENDED, "base_offset", -1, 0),
    (HEARTBEAT, "want_fence", False, True),
    (HEARTBEAT, "want_shut_down", True, False),
    (BEATEN, "is_fenced", False, True),
    (ENDED, "transactional_id", "id", "other"),
    (ENDED, "producer_id", 7, 8),
    (MARKED, "producer_epoch", 3, 4),
    (MARKED, "commits", False, True),
    (PRODUCED, "base_sequence", 4, 0),
]


def says(view: RequestView | ResponseView | None, **wanted: Any) -> bool:  # noqa: ANN401
    return agreeing(Content(**wanted), view, tuple(getattr(view, "partitions", ()))) is not None


@pytest.mark.parametrize(("view", "name", "value", "other"), CASES, ids=lambda part: part if part is str else None)
def test_a_condition_is_met_by_its_value_and_broken_by_another(
    view: RequestView | ResponseView,
    name: str,
    value: Any,  # noqa: ANN401
    other: Any,  # noqa: ANN401
) -> None:
    assert says(view, **{name: value})
    assert not says(view, **{name: other})
    assert not says(None, **{name: value})


def test_every_condition_has_a_case() -> None:
    assert {name for _, name, _, _ in CASES} == {field.name for field in fields(Content)}


def test_all_conditions_must_hold_for_one_partition() -> None:
    two = LeaderAndIsrView(
        9,
        3,
        8,
        (
            PartitionLeadership("t", None, 0, 1, 5, (1,), (1, 2), 6, 3),
            PartitionLeadership("t", None, 1, 2, 7, (2,), (1, 2), 6, 3),
        ),
    )
    assert says(two, leader=2, leader_epoch=7)
    assert not says(two, leader=1, leader_epoch=7)


def test_an_error_at_the_top_is_one_of_every_partition() -> None:
    assert says(FetchResponseView(71, 0, 0, ()), error=71)
    assert not says(FetchResponseView(71, 0, 0, ()), error=0)
    assert not says(FetchResponseView(71, 0, 0, ()), error=71, high_watermark=7)
    assert says(FetchResponseView(0, 0, 0, ()), error=0)


def asked(view: RequestView, api_key: int) -> ObservedRequest:
    return ObservedRequest(7, 1, api_key, "replication", 2, 1, view, 0)


def test_a_point_compares_the_partition_it_names() -> None:
    two = (FetchPartition("t", None, 0, 3), FetchPartition("t", None, 1, 3))
    request = asked(FetchRequestView(2, -1, 500, 0, -1, two), 1)
    answer = FetchResponseView(
        0, 0, 0, (FetchedPartition("t", None, 0, 6, -1), FetchedPartition("t", None, 1, 0, 9, record_bytes=1))
    )
    for partition, high_watermark, error in ((0, -1, 6), (1, 9, 0)):
        point = Point("fetch_response", partition=partition, answered=Content(high_watermark=high_watermark))
        assert matches_answer(point, request, answer)
        assert matches_answer(Point("fetch_response", answered=Content(error=error)), request, answer)
    assert not matches_answer(Point("fetch_response", partition=0, answered=Content(high_watermark=9)), request, answer)


def test_a_topic_known_by_id_is_found_in_an_answer_that_has_no_names() -> None:
    topic_id = UUID(int=5)
    request = asked(FetchRequestView(2, -1, 500, 0, -1, (FetchPartition("t", topic_id, 0, 3),)), 1)
    answer = FetchResponseView(0, 0, 0, (FetchedPartition(None, topic_id, 0, 0, 4),))
    assert matches_answer(Point("fetch_response", topic="t", answered=Content(high_watermark=4)), request, answer)


def test_a_request_is_asked_by_its_own_conditions() -> None:
    assert matches(Point("alter_partition_request", asked=Content(isr=frozenset({1}))), asked(PROPOSED, 56))
    assert not matches(Point("alter_partition_request", asked=Content(isr=frozenset({2}))), asked(PROPOSED, 56))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": "fetch_request", "answered": Content(error=6)}, "its answer is not known"),
        ({"name": "fetch_request", "asked": Content(high_watermark=6)}, "no frame at fetch_request has .*high_waterm"),
        ({"name": "fetch_response", "answered": Content(isr=frozenset({1}))}, "no frame at fetch_response has .*isr"),
        ({"name": "broker_heartbeat_request", "asked": Content(leader_epoch=6)}, "has a field 'leader_epoch'"),
    ],
)
def test_a_condition_that_no_frame_can_meet_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Point(**changes)


def test_conditions_are_told_in_words() -> None:
    point = Point("fetch_response", source=2, nth=3, asked=Content(session_epoch=0), answered=Content(error=74))
    assert point.text == "fetch_response, source 2, session_epoch 0, answered with error 74, the 3. of them"
    assert Content(isr=frozenset({2, 1})).text == "isr [1, 2]"
    assert ANYTHING.text == ""
