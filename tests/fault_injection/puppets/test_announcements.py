"""Do a controller puppet's requests say, in every version, what they were asked to say?"""

from dataclasses import replace
from typing import cast

import pytest

from fault_injection.puppets.announcements import LiveBroker, Sender, leader_and_isr, stop_replica, update_metadata
from fault_injection.puppets.connection import (
    LEADER_AND_ISR,
    STOP_REPLICA,
    UPDATE_METADATA,
    Values,
    built,
    request_frame,
)
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.wire.codec import Codec
from fault_injection.wire.codec_schemas import Messages
from fault_injection.wire.controller_views import LeaderAndIsrView, StoppedReplica, StopReplicaView, UpdateMetadataView
from fault_injection.wire.headers import request_header
from fault_injection.wire.messages import RequestView

SENDER = Sender(controller_id=100, controller_epoch=7, broker_epoch=30)
LIVE = (
    LiveBroker(1, {"CLIENT": ("127.0.0.1", 9001), "REPLICATION": ("127.0.0.1", 9002)}),
    LiveBroker(2, {"CLIENT": ("127.0.0.1", 9003), "REPLICATION": ("127.0.0.1", 9004)}),
)
TOPIC = PuppetTopic("t", (1, 2, 3))
DECISION = TOPIC.led_by(2, leader_epoch=5, isr=(1, 2), partition_epoch=4)
NEWEST = {LEADER_AND_ISR: 7, STOP_REPLICA: 4, UPDATE_METADATA: 8}


def versions(api_key: int) -> list[int]:
    return list(range(NEWEST[api_key] + 1))


def said(messages: Messages, api_key: int, version: int, values: Values) -> RequestView | None:
    frame = request_frame(messages[api_key], version, values, correlation_id=1, client_id="100")
    codec = Codec(messages)
    view = codec.request(request_header(frame), frame)
    assert codec.undecodable == 0
    return view


@pytest.mark.parametrize("api_key", NEWEST)
def test_every_version_of_the_schemas_is_tried(messages: Messages, api_key: int) -> None:
    assert messages[api_key].request.max_version == NEWEST[api_key]


@pytest.mark.parametrize("version", versions(LEADER_AND_ISR))
def test_leader_and_isr(messages: Messages, version: int) -> None:
    view = cast("LeaderAndIsrView", said(messages, LEADER_AND_ISR, version, leader_and_isr(SENDER, [DECISION], LIVE)))

    assert (view.controller_id, view.controller_epoch) == (100, 7)
    assert view.broker_epoch == (30 if version >= 2 else -1)
    (decided,) = view.partitions
    assert decided.topic_id == TOPIC.id or version < 5
    assert replace(decided, topic_id=TOPIC.id) == replace(DECISION, controller_epoch=7)


@pytest.mark.parametrize("version", versions(UPDATE_METADATA))
def test_update_metadata(messages: Messages, version: int) -> None:
    values = update_metadata(SENDER, [DECISION], LIVE)
    view = cast("UpdateMetadataView", said(messages, UPDATE_METADATA, version, values))

    assert (view.controller_id, view.controller_epoch, view.live_brokers) == (100, 7, (1, 2))
    (decided,) = view.partitions
    assert replace(decided, topic_id=TOPIC.id) == replace(DECISION, controller_epoch=7)


@pytest.mark.parametrize("version", versions(STOP_REPLICA))
@pytest.mark.parametrize("is_deleted", [False, True])
def test_stop_replica(messages: Messages, version: int, is_deleted: bool) -> None:
    stopped = StoppedReplica("t", 0, is_deleted, leader_epoch=5)
    view = cast("StopReplicaView", said(messages, STOP_REPLICA, version, stop_replica(SENDER, stopped)))

    assert view.controller_epoch == 7
    assert view.partitions == (stopped if version >= 3 else replace(stopped, leader_epoch=-1),)


def test_brokers_are_found_at_each_listener(messages: Messages) -> None:
    message = built(messages[UPDATE_METADATA].request, 8, update_metadata(SENDER, [], LIVE))

    found = [[(one.listener, one.port) for one in broker.endpoints] for broker in message.live_brokers]
    assert found == [[("CLIENT", 9001), ("REPLICATION", 9002)], [("CLIENT", 9003), ("REPLICATION", 9004)]]


def test_a_field_that_no_version_has_is_a_mistake(messages: Messages) -> None:
    with pytest.raises(KeyError):
        built(messages[STOP_REPLICA].request, 0, {"delete": True})
