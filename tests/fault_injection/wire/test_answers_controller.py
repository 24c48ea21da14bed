"""Does an error answer to a controller's or broker's request have the error where Kafka puts it?"""

from uuid import UUID

import pytest

from fault_injection.releases import schema_jar
from fault_injection.wire.answers import error_answer
from fault_injection.wire.codec import Codec, load_schemas
from fault_injection.wire.codec_schemas import Messages
from fault_injection.wire.controller_views import (
    AlterPartitionResponseView,
    AlterPartitionView,
    BrokerHeartbeatResponseView,
    BrokerRegistrationResponseView,
    ErrorsView,
    LeaderAndIsrView,
    PartitionError,
    PartitionLeadership,
    ProposedIsr,
    StoppedReplica,
    StopReplicaView,
)
from fault_injection.wire.headers import RequestHeader
from fault_injection.wire.messages import RequestView, ResponseView
from tests.fault_injection.wire.kio_views import view_of
from tests.fault_injection.wire.raw_frames import RawFrame

TOPIC_ID = UUID(int=77)
READ_BY_KIO = (56, 62, 63)  # it knows what Kafka 4 knows

pytestmark = pytest.mark.broker  # the schemas come from a Kafka release


@pytest.fixture(scope="module")
def messages() -> Messages:
    return load_schemas(schema_jar())


def answer(messages: Messages, api_key: int, version: int, view: RequestView | None, error: int) -> ResponseView | None:
    """Return what the sender of a request reads in the error answer to it."""
    frame = error_answer(messages, RequestHeader(api_key, version, 4711, None, 0), view, error)
    codec = Codec(messages)
    response = codec.response(api_key, version, frame)
    assert codec.undecodable == 0
    if api_key in READ_BY_KIO:
        assert view_of(RawFrame("response", api_key, version, frame)) in (None, response)  # None: kio lacks the version
    return response


@pytest.mark.parametrize("version", range(8))
def test_the_error_of_a_refused_leader_and_isr(messages: Messages, version: int) -> None:
    topic_id = TOPIC_ID if version >= 5 else None
    view = LeaderAndIsrView(9, 4, 8, (PartitionLeadership("t", topic_id, 3, 1, 5, (1, 2), (1, 2, 3), 6, 4),))
    topic = None if version >= 5 else "t"
    assert answer(messages, 4, version, view, 56) == ErrorsView(0, (PartitionError(topic, topic_id, 3, 56),))
    assert answer(messages, 4, version, view, 11) == ErrorsView(11)


@pytest.mark.parametrize("version", range(5))
def test_the_error_of_a_refused_stop_replica(messages: Messages, version: int) -> None:
    view = StopReplicaView(9, 4, 8, (StoppedReplica("t", 3, is_deleted=True),))
    assert answer(messages, 5, version, view, 74) == ErrorsView(0, (PartitionError("t", None, 3, 74),))
    assert answer(messages, 5, version, view, 77) == ErrorsView(77)


@pytest.mark.parametrize("version", range(4))
def test_the_error_of_a_refused_alter_partition(messages: Messages, version: int) -> None:
    topic_id = TOPIC_ID if version >= 2 else None
    view = AlterPartitionView(1, 8, (ProposedIsr(None if version >= 2 else "t", topic_id, 3, 5, (1, 2), 6),))
    refused = answer(messages, 56, version, view, 95)
    assert isinstance(refused, AlterPartitionResponseView)
    assert [(p.topic_id or p.topic, p.partition, p.error, p.isr) for p in refused.partitions] == [
        (topic_id or "t", 3, 95, ())
    ]
    assert answer(messages, 56, version, view, 41) == AlterPartitionResponseView(41, 0, ())


@pytest.mark.parametrize(
    ("api_key", "versions", "expected"),
    [
        (6, range(9), ErrorsView(11)),
        (7, range(4), ErrorsView(11)),
        (62, range(5), BrokerRegistrationResponseView(11, -1)),
        (63, range(3), BrokerHeartbeatResponseView(11, is_caught_up=False, is_fenced=True, should_shut_down=False)),
    ],
)
def test_the_error_of_a_refused_request_without_partitions(
    messages: Messages, api_key: int, versions: range, expected: ResponseView
) -> None:
    for version in versions:
        assert answer(messages, api_key, version, None, 11) == expected
