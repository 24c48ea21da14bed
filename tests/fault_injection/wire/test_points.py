"""Does each protocol point match its frames and no others?"""

from dataclasses import replace
from uuid import UUID

import pytest

from fault_injection.wire.controller_views import (
    AlterPartitionView,
    BrokerHeartbeatView,
    BrokerRegistrationView,
    ControlledShutdownView,
    LeaderAndIsrView,
    PartitionLeadership,
    ProposedIsr,
    StoppedReplica,
    StopReplicaView,
    UpdateMetadataView,
)
from fault_injection.wire.messages import RequestView
from fault_injection.wire.points import (
    POINTS,
    PRODUCE_KEY,
    LinkKind,
    ObservedRequest,
    Point,
    is_metadata_fetch,
    matches,
)
from fault_injection.wire.transaction_views import (
    AddedPartition,
    AddOffsetsToTxnView,
    AddPartitionsToTxnView,
    CommittedOffset,
    EndTxnView,
    InitProducerIdView,
    MarkedPartition,
    TxnOffsetCommitView,
    WriteTxnMarkersView,
)
from fault_injection.wire.views import EpochQuery, EpochRequestView, ProducedPartition, ProduceRequestView
from tests.fault_injection.wire.gate_transcript import asked, fetch_of

LEADERSHIP = PartitionLeadership("t", None, 0, 1, 5, (1, 2), (1, 2), 3, 1)
VIEWS: dict[int, RequestView] = {
    0: ProduceRequestView(-1, 1000, (ProducedPartition("t", None, 0, record_bytes=70, record_count=1),)),
    1: fetch_of(asked(3, epoch=5)),
    4: LeaderAndIsrView(9, 1, -1, (LEADERSHIP,)),
    5: StopReplicaView(9, 1, -1, (StoppedReplica("t", 0, is_deleted=True, leader_epoch=5),)),
    6: UpdateMetadataView(9, 1, -1, (1, 2), (LEADERSHIP,)),
    7: ControlledShutdownView(2, 8),
    22: InitProducerIdView("id", 1000),
    23: EpochRequestView(2, (EpochQuery("t", 0, 5),)),
    24: AddPartitionsToTxnView((AddedPartition("t", 0, "id", 7, 3),)),
    25: AddOffsetsToTxnView("id", 7, 3, "group"),
    26: EndTxnView("id", 7, 3, commits=True),
    27: WriteTxnMarkersView((MarkedPartition("t", 0, 7, 3, commits=True, coordinator_epoch=2),)),
    28: TxnOffsetCommitView("id", "group", 7, 3, (CommittedOffset("t", 0, 5),)),
    56: AlterPartitionView(2, 8, (ProposedIsr("t", None, 0, 5, (1, 2), 3),)),
    62: BrokerRegistrationView(2, UUID(int=9)),
    63: BrokerHeartbeatView(2, 8, 10, want_fence=False, want_shut_down=False),
}
WITHOUT_EPOCH = (PRODUCE_KEY, 24, 27, 28)
CONSUMING = fetch_of(asked(3), follower=-1)
PARTITIONED = [name for name in POINTS if POINTS[name].api_key not in (7, 22, 25, 26, 62, 63)]


def request(api_key: int, *, link_kind: LinkKind = "replication", view: RequestView | None = None) -> ObservedRequest:
    return ObservedRequest(7, 1, api_key, link_kind, 2, 1, view or VIEWS[api_key], 0)


def request_at(name: str) -> ObservedRequest:
    """Return a request that a point of that name matches."""
    kind = POINTS[name]
    link_kind: LinkKind = "controller" if kind.fetches == "metadata" else "replication"
    return request(kind.api_key, link_kind=link_kind, view=CONSUMING if kind.fetches == "client" else None)


@pytest.mark.parametrize("name", POINTS)
def test_a_point_matches_its_api_and_no_other(name: str) -> None:
    kind = POINTS[name]
    assert matches(Point(name), request_at(name))
    for other in POINTS:
        is_same = (POINTS[other].api_key, POINTS[other].fetches) == (kind.api_key, kind.fetches)
        assert matches(Point(name), request_at(other)) == is_same


@pytest.mark.parametrize("name", PARTITIONED)
@pytest.mark.parametrize(
    ("changes", "is_match"),
    [
        ({"source": 2, "destination": 1, "topic": "t", "partition": 0, "leader_epoch": 5}, True),
        ({"source": 3}, False),
        ({"destination": 3}, False),
        ({"topic": "other"}, False),
        ({"partition": 1}, False),
        ({"leader_epoch": 6}, False),
    ],
)
def test_every_field_of_a_point_counts(name: str, changes: dict[str, int | str], is_match: bool) -> None:
    point = Point(name, **changes)  # type: ignore[arg-type] # the parameters list fields of their types
    if POINTS[name].api_key in WITHOUT_EPOCH or POINTS[name].fetches == "client":
        point = replace(point, leader_epoch=None)
        is_match = is_match or "leader_epoch" in changes
    assert matches(point, request_at(name)) == is_match


@pytest.mark.parametrize(("fetch_offset", "is_match"), [(3, True), (2, False)])
def test_the_fetch_offset_counts(fetch_offset: int, is_match: bool) -> None:
    assert matches(Point("fetch_request", fetch_offset=fetch_offset), request(1)) == is_match
    assert not matches(Point("leader_and_isr", fetch_offset=fetch_offset), request(4))


def test_all_fields_must_hold_for_one_partition() -> None:
    view = fetch_of(asked(3, topic="other"), asked(4))
    assert not matches(Point("fetch_request", topic="t", fetch_offset=3), request(1, view=view))
    assert matches(Point("fetch_request", topic="t", fetch_offset=4), request(1, view=view))


@pytest.mark.parametrize("name", ["fetch_request", "fetch_response"])
@pytest.mark.parametrize(
    "metadata_fetch",
    [
        request(1, link_kind="controller"),
        request(1, view=fetch_of(asked(3, topic="__cluster_metadata"))),
        request(1, view=fetch_of(asked(3, topic=None, topic_id=UUID(int=1)))),
    ],
)
def test_a_metadata_fetch_never_matches_a_data_point(name: str, metadata_fetch: ObservedRequest) -> None:
    assert is_metadata_fetch(metadata_fetch)
    assert not matches(Point(name), metadata_fetch)
    assert matches(Point(f"controller_{name}", fetch_offset=3), metadata_fetch)
    assert not matches(Point(f"controller_{name}"), request(1))


def test_a_sender_that_is_not_known_matches_no_named_source() -> None:
    unknown = ObservedRequest(7, 1, 1, "replication", None, 1, VIEWS[1], 0)
    assert not matches(Point("fetch_request", source=2), unknown)
    assert matches(Point("fetch_request"), unknown)


def test_an_unknown_point_and_a_zeroth_frame_are_refused() -> None:
    with pytest.raises(ValueError, match="no protocol point is named 'fetch'"):
        Point("fetch")
    with pytest.raises(ValueError, match="counts from 1"):
        Point("fetch_request", nth=0)
