"""Does a controller puppet grant and refuse changes of the in-sync replicas, in every version of the request?"""

from uuid import UUID

import pytest

from fault_injection.puppets.connection import ALTER_PARTITION, PuppetConnection
from fault_injection.puppets.controller import IsrRequests
from fault_injection.puppets.server import PuppetServer
from fault_injection.wire.codec_controller import alter_partition_response
from fault_injection.wire.codec_schemas import Messages
from fault_injection.wire.controller_views import CommittedIsr, PartitionLeadership

TOPIC_ID = UUID(int=7)
INELIGIBLE_REPLICA = 107
VERSIONS = range(4)


def asked(messages: Messages, requests: IsrRequests, version: int) -> CommittedIsr:
    """Ask as a leader with broker id 1 that wants replicas 1 and 3 in sync."""
    wish = {
        "partition_index": 0,
        "leader_epoch": 5,
        "new_isr": [1, 3],
        "new_isr_with_epochs": [{"broker_id": 1}, {"broker_id": 3}],
        "partition_epoch": 8,
    }
    topic = {"topic_name": "t", "topic_id": TOPIC_ID, "partitions": [wish]}
    server = PuppetServer({ALTER_PARTITION: requests.answer}, messages)
    server.listen()
    connection = PuppetConnection(server.address, "1", messages)
    answer = connection.ask(ALTER_PARTITION, {"broker_id": 1, "broker_epoch": 2, "topics": [topic]}, version)
    connection.close()
    server.close()
    assert server.failures == []
    return alter_partition_response(answer).partitions[0]


def test_every_version_of_the_schemas_is_tried(messages: Messages) -> None:
    assert messages[ALTER_PARTITION].request.max_version == VERSIONS[-1]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_wish_is_granted_and_committed(messages: Messages, version: int) -> None:
    committed: list[PartitionLeadership] = []

    def commit(leadership: PartitionLeadership) -> int:
        committed.append(leadership)
        return 9

    answer = asked(messages, IsrRequests(commit), version)

    assert (answer.error, answer.leader, answer.leader_epoch, answer.isr) == (0, 1, 5, (1, 3))
    assert answer.partition_epoch == 9
    assert [(one.leader, one.isr) for one in committed] == [(1, (1, 3))]
    assert (committed[0].topic, committed[0].topic_id) == (("t", None) if version < 2 else (None, TOPIC_ID))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_wish_is_refused_and_kept(messages: Messages, version: int) -> None:
    def commit(leadership: PartitionLeadership) -> int:
        raise AssertionError(f"{leadership} is not to be committed")

    requests = IsrRequests(commit)
    requests.refuse(INELIGIBLE_REPLICA)

    assert asked(messages, requests, version).error == INELIGIBLE_REPLICA
    assert [wish.new_isr for wish in requests.proposed] == [(1, 3)]
