"""Do the controller's requests say what was encoded, in every version from 0.10.2 to the last with ZooKeeper?"""

import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from fault_injection.releases import schema_jar
from fault_injection.wire.codec import Codec, load_schemas
from fault_injection.wire.codec_schemas import Messages, SchemasUnreadableError, api_name
from fault_injection.wire.controller_views import (
    AlterPartitionResponseView,
    AlterPartitionView,
    BrokerHeartbeatResponseView,
    BrokerHeartbeatView,
    BrokerRegistrationResponseView,
    BrokerRegistrationView,
    CommittedIsr,
    ControlledShutdownView,
    ErrorsView,
    LeaderAndIsrView,
    PartitionError,
    PartitionLeadership,
    ProposedIsr,
    StoppedReplica,
    StopReplicaView,
    UpdateMetadataView,
)
from fault_injection.wire.headers import request_header
from fault_injection.wire.messages import RequestView, ResponseView
from tests.fault_injection.wire.frames_of import framed

TOPIC_ID = UUID(int=77)
STATE = {
    "topic_name": "t",
    "partition_index": 3,
    "controller_epoch": 4,
    "leader": 1,
    "leader_epoch": 5,
    "isr": [1, 2],
    "partition_epoch": 6,
    "zk_version": 6,
    "replicas": [1, 2, 3],
    "is_new": True,
}


@pytest.fixture(scope="module")
def messages() -> Messages:
    return load_schemas(schema_jar())


def built(message_type: Any, version: int, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - kafka-python is untyped
    """Build a message from nested dicts, leaving out what the version does not have."""
    fields = {}
    for name, value in values.items():
        field = message_type.fields.get(name)
        if field is None or not field.for_version_q(version):
            continue  # such as the flat list of partitions of the first versions
        nested = field.is_struct_array()
        fields[name] = [built(field.data_class, version, item) for item in value] if nested else value
    return message_type(version=version, **fields)


def body(message_type: Any, version: int, values: Mapping[str, Any]) -> bytes:  # noqa: ANN401
    """Encode a message with the empty tagged fields that end a flexible header before it."""
    tagged_fields = b"\0" if message_type.flexible_version_q(version) else b""
    return tagged_fields + bytes(built(message_type, version, values).encode())


def asked(messages: Messages, api_key: int, version: int, values: Mapping[str, Any]) -> RequestView | None:
    request_type = messages[api_key].request
    has_client_id = (api_key, version) != (7, 0)
    header = struct.pack(">hhi", api_key, version, 1) + (struct.pack(">h", 1) + b"9" if has_client_id else b"")
    frame = framed(header + body(request_type, version, values))
    codec = Codec(messages)
    view = codec.request(request_header(frame), frame)
    assert codec.undecodable == 0
    return view


def answered(messages: Messages, api_key: int, version: int, values: Mapping[str, Any]) -> ResponseView | None:
    frame = framed(struct.pack(">i", 1) + body(messages[api_key].response, version, values))
    codec = Codec(messages)
    view = codec.response(api_key, version, frame)
    assert codec.undecodable == 0
    return view


pytestmark = pytest.mark.broker  # the schemas come from a Kafka release


@pytest.mark.parametrize("version", range(8))
def test_leader_and_isr(messages: Messages, version: int) -> None:
    values = {
        "controller_id": 9,
        "controller_epoch": 4,
        "broker_epoch": 8,
        "ungrouped_partition_states": [STATE],
        "topic_states": [{"topic_name": "t", "topic_id": TOPIC_ID, "partition_states": [STATE]}],
        "live_leaders": [],
    }
    topic_id = TOPIC_ID if version >= 5 else None
    expected = PartitionLeadership("t", topic_id, 3, 1, 5, (1, 2), (1, 2, 3), 6, 4, is_new=version >= 1)
    assert asked(messages, 4, version, values) == LeaderAndIsrView(9, 4, 8 if version >= 2 else -1, (expected,))
    error = {"topic_name": "t", "partition_index": 3, "error_code": 11}
    answer = {
        "error_code": 0,
        "partition_errors": [error],
        "topics": [{"topic_id": TOPIC_ID, "partition_errors": [error]}],
    }
    topic = None if version >= 5 else "t"
    assert answered(messages, 4, version, answer) == ErrorsView(0, (PartitionError(topic, topic_id, 3, 11),))


@pytest.mark.parametrize("version", range(9))
def test_update_metadata(messages: Messages, version: int) -> None:
    endpoint = {"host": "h", "port": 1, "listener": "L", "security_protocol": 0}
    values = {
        "controller_id": 9,
        "controller_epoch": 4,
        "broker_epoch": 8,
        "ungrouped_partition_states": [STATE],
        "topic_states": [{"topic_name": "t", "topic_id": TOPIC_ID, "partition_states": [STATE]}],
        "live_brokers": [{"id": 1, "v0_host": "h", "v0_port": 1, "endpoints": [endpoint], "rack": None}],
    }
    view = asked(messages, 6, version, values)
    assert isinstance(view, UpdateMetadataView)
    assert (view.controller_id, view.controller_epoch, view.live_brokers) == (9, 4, (1,))
    topic_id = TOPIC_ID if version >= 7 else None
    assert view.partitions == (PartitionLeadership("t", topic_id, 3, 1, 5, (1, 2), (1, 2, 3), 6, 4),)
    assert answered(messages, 6, version, {"error_code": 11}) == ErrorsView(11)


@pytest.mark.parametrize("version", range(5))
def test_stop_replica(messages: Messages, version: int) -> None:
    values = {
        "controller_id": 9,
        "controller_epoch": 4,
        "broker_epoch": 8,
        "delete_partitions": True,
        "ungrouped_partitions": [{"topic_name": "t", "partition_index": 3}],
        "topics": [{"name": "t", "partition_indexes": [3]}],
        "topic_states": [
            {
                "topic_name": "t",
                "partition_states": [{"partition_index": 3, "leader_epoch": 5, "delete_partition": True}],
            }
        ],
    }
    stopped = StoppedReplica("t", 3, is_deleted=True, leader_epoch=5 if version >= 3 else -1)
    assert asked(messages, 5, version, values) == StopReplicaView(9, 4, 8 if version >= 1 else -1, (stopped,))
    answer = {"error_code": 0, "partition_errors": [{"topic_name": "t", "partition_index": 3, "error_code": 74}]}
    assert answered(messages, 5, version, answer) == ErrorsView(0, (PartitionError("t", None, 3, 74),))


@pytest.mark.parametrize("version", range(4))
def test_controlled_shutdown(messages: Messages, version: int) -> None:
    view = asked(messages, 7, version, {"broker_id": 2, "broker_epoch": 8})
    assert view == ControlledShutdownView(2, 8 if version >= 2 else -1)
    answer = {"error_code": 0, "remaining_partitions": [{"topic_name": "t", "partition_index": 3}]}
    assert answered(messages, 7, version, answer) == ErrorsView(0)


@pytest.mark.parametrize("version", range(4))
def test_alter_partition_and_alter_isr(messages: Messages, version: int) -> None:
    partition = {
        "partition_index": 3,
        "leader_epoch": 5,
        "new_isr": [1, 2],
        "new_isr_with_epochs": [{"broker_id": 1, "broker_epoch": 8}, {"broker_id": 2, "broker_epoch": 9}],
        "leader_recovery_state": 1,
        "partition_epoch": 6,
    }
    values = {
        "broker_id": 1,
        "broker_epoch": 8,
        "topics": [{"topic_name": "t", "topic_id": TOPIC_ID, "partitions": [partition]}],
    }
    topic, topic_id = (None, TOPIC_ID) if version >= 2 else ("t", None)
    proposed = ProposedIsr(topic, topic_id, 3, 5, (1, 2), 6, leader_recovery_state=1 if version >= 1 else 0)
    assert asked(messages, 56, version, values) == AlterPartitionView(1, 8, (proposed,))
    committed = {
        "partition_index": 3,
        "error_code": 0,
        "leader_id": 1,
        "leader_epoch": 5,
        "isr": [1],
        "partition_epoch": 7,
    }
    answer = {
        "error_code": 0,
        "topics": [{"topic_name": "t", "topic_id": TOPIC_ID, "partitions": [committed]}],
    }
    expected = AlterPartitionResponseView(0, 0, (CommittedIsr(topic, topic_id, 3, 0, 1, 5, (1,), 7),))
    assert answered(messages, 56, version, answer) == expected


def test_broker_registration_and_heartbeat(messages: Messages) -> None:
    registration = {
        "broker_id": 2,
        "cluster_id": "c",
        "incarnation_id": TOPIC_ID,
        "listeners": [],
        "features": [],
        "rack": None,
        "log_dirs": [],
        "previous_broker_epoch": 4,
    }
    assert asked(messages, 62, 3, registration) == BrokerRegistrationView(2, TOPIC_ID, 4)
    assert answered(messages, 62, 3, {"error_code": 0, "broker_epoch": 8}) == BrokerRegistrationResponseView(0, 8)
    heartbeat = {
        "broker_id": 2,
        "broker_epoch": 8,
        "current_metadata_offset": 40,
        "want_fence": False,
        "want_shut_down": True,
    }
    assert asked(messages, 63, 1, heartbeat) == BrokerHeartbeatView(2, 8, 40, want_fence=False, want_shut_down=True)
    answer = {"error_code": 0, "is_caught_up": True, "is_fenced": False, "should_shut_down": True}
    assert answered(messages, 63, 1, answer) == BrokerHeartbeatResponseView(
        0, is_caught_up=True, is_fenced=False, should_shut_down=True
    )


def test_a_heartbeat_newer_than_the_schema_is_not_looked_into(messages: Messages) -> None:
    codec = Codec(messages)
    frame = struct.pack(">ihhihb", 11, 63, 99, 1, -1, 0)
    assert codec.request(request_header(frame), frame) is None
    assert codec.response(63, 99, frame) is None
    assert codec.undecodable == 0


def test_a_jar_without_the_messages_is_refused(tmp_path: Path) -> None:
    empty, text = tmp_path / "empty.jar", tmp_path / "text.jar"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "")
    text.write_text("no jar")
    for jar in (empty, text, tmp_path / "missing.jar"):
        with pytest.raises(SchemasUnreadableError, match=jar.name):
            load_schemas(jar)


def test_apis_have_names() -> None:
    assert (api_name(1), api_name(56), api_name(999)) == ("Fetch", "AlterPartition", "999")


def test_a_version_that_only_adds_tagged_fields_is_read_as_the_one_before(messages: Messages) -> None:
    v1 = {"broker_id": 2, "broker_epoch": 8, "current_metadata_offset": 70, "want_fence": False, "want_shut_down": True}
    header = struct.pack(">hhi", 63, 2, 1) + struct.pack(">h", 1) + b"9" + b"\0"
    cordoned = b"\x01" + b"\x01" + b"\x11" + b"\x02" + TOPIC_ID.bytes  # one tagged field: tag 1, 17 bytes, one id
    frame = framed(header + bytes(built(messages[63].request, 1, v1).encode())[:-1] + cordoned)
    codec = Codec(messages)
    assert codec.request(request_header(frame), frame) == BrokerHeartbeatView(2, 8, 70, False, True)
    assert codec.undecodable == 0
