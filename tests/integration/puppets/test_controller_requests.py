"""Does a broker obey the controller, and only the one in office? RM-01 to RM-04, KIP-380, KIP-570."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.probes.connection import BrokerConnection
from conformance.probes.metadata import partition_metadata
from fault_injection.waiting import until
from oracle.rules import controller_epoch
from oracle.vocabulary import LeaderEpoch
from tests.integration.puppets.model import entries_of
from tests.integration.puppets.stage import BROKER, Stage

if TYPE_CHECKING:
    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.wire.controller_views import ErrorsView
    from tests.integration.puppets.stage import Stage

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

STALE_CONTROLLER_EPOCH, FENCED_LEADER_EPOCH, STALE_BROKER_EPOCH = 11, 74, 77
NOT_LEADER_OR_FOLLOWER = 6
DEADLINE_S = 10.0


def test_requests_of_a_replaced_controller_change_nothing(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2))
    stage.append("a")
    controller, topic = stage.run.controller, stage.topic
    highest = controller.epoch
    for epoch in (highest - 1, highest):
        expected = 0 if controller_epoch.is_obeyed(epoch, highest) else STALE_CONTROLLER_EPOCH
        assert controller.update_metadata(controller_epoch=epoch).error == expected
    stale = {"controller_epoch": highest - 1}

    assert controller.leader_and_isr(topic.led_by(2, 6), **stale).error == STALE_CONTROLLER_EPOCH
    assert controller.update_metadata(topic.led_by(2, 6), **stale).error == STALE_CONTROLLER_EPOCH
    assert controller.stop_replica(topic, is_deleted=True, **stale).error == STALE_CONTROLLER_EPOCH
    assert leader_in_metadata(stage) == BROKER
    stage.append("b")  # it leads on, in the same epoch, with the same log
    stage.fetch(2, 1, 5)


def test_a_decision_counts_only_in_a_higher_leader_epoch(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2))
    stage.append("a")
    for epoch in (4, 5):
        assert not controller_epoch.is_news(LeaderEpoch(epoch), LeaderEpoch(5))
        answer = stage.run.controller.leader_and_isr(stage.topic.led_by(2, epoch))
        assert [part.error for part in answer.partitions] == [STALE_CONTROLLER_EPOCH]
        stage.agree()
    stage.append("b")
    stage.lead(6, isr=(1, 2))
    stage.append("c")


def test_becoming_leader_stops_the_fetcher_and_becoming_follower_starts_it(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    log = entries_of((5, "ab"))
    stage.follow(leaders[2], 5, log, high_watermark=2)
    stage.lead(6, isr=(1, 2))
    assert stage.falls_silent(leaders[2])
    stage.append("c")
    stage.follow(leaders[3], 7, entries_of((5, "ab"), (6, "c"), (7, "d")), high_watermark=4)
    assert stage.falls_silent(leaders[2])


def test_a_stopped_replica_keeps_its_files_unless_they_are_to_go(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    controller, leader = stage.run.controller, leaders[2]
    stage.follow(leader, 5, entries_of((5, "ab")), high_watermark=2)
    before = stage.files()
    if stage.has_release(2, 6):
        answer = controller.stop_replica(stage.topic, is_deleted=True, leader_epoch=4)
        assert [part.error for part in answer.partitions] == [FENCED_LEADER_EPOCH]
        leader.forget()
        assert leader.await_fetch(stage.topic) == stage.model.log_end_offset

    assert errors(controller.stop_replica(stage.topic, is_deleted=False)) == {0}
    assert stage.falls_silent(leader)
    assert stage.files() == before
    assert errors(controller.stop_replica(stage.topic, is_deleted=True)) == {0}
    until(lambda: not stage.files(), deadline_s=DEADLINE_S, what="the replica's files to go")


def test_a_broker_that_hears_no_update_metadata_answers_with_stale_metadata(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2, 3))
    controller, follows = stage.run.controller, stage.topic.led_by(2, 6)
    assert leader_in_metadata(stage) == BROKER
    assert errors(controller.leader_and_isr(follows)) == {0}
    assert leader_in_metadata(stage) == BROKER  # although it knows as a replica that it does not lead
    assert stage.run.client.append(stage.topic, b"late")[0] == NOT_LEADER_OR_FOLLOWER
    assert errors(controller.update_metadata(follows)) == {0}
    assert leader_in_metadata(stage) == 2


def test_requests_meant_for_an_earlier_start_of_the_broker_are_refused(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2))
    controller = stage.run.controller
    expected = {STALE_BROKER_EPOCH} if stage.has_release(2, 2) else {0}
    earlier, current = controller.broker_epoch() - 1, controller.broker_epoch()

    assert errors(controller.update_metadata(broker_epoch=current)) == {0}
    assert errors(controller.update_metadata(broker_epoch=earlier)) == expected
    if stage.has_release(2, 2):
        assert errors(controller.leader_and_isr(stage.topic.led_by(2, 6), broker_epoch=earlier)) == expected
        assert errors(controller.stop_replica(stage.topic, is_deleted=True, broker_epoch=earlier)) == expected
    stage.append("a")


def errors(answer: ErrorsView) -> set[int]:
    """Give every error code of an answer, of the request and of its partitions."""
    return {answer.error, *(part.error for part in answer.partitions)}


def leader_in_metadata(stage: Stage) -> int | None:
    with BrokerConnection(stage.run.cluster.client_address(BROKER)) as connection:
        seen = partition_metadata(connection, stage.topic.name, 0)
    return None if seen is None else seen.leader
