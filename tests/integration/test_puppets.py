"""Does one real broker, among puppets that choose every epoch and offset, do what the model of its release says?

The ZooKeeper-era rows RM-01 to RM-04, and the rules that they lead to: the high watermark, joining the in-sync
replicas, fencing, truncation. Each expected number is the oracle's. KAFKA_CONFORMANCE_PUPPETS=0.11.0.3,1.1.1 runs them
on other releases.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.probes.connection import BrokerConnection
from conformance.probes.metadata import partition_metadata
from fault_injection.puppets.client import LATEST_TIMESTAMP, ListedOffset
from fault_injection.puppets.run import PuppetRun
from fault_injection.waiting import DeadlineExceededError, until
from oracle.rules import controller_epoch
from oracle.rules.by_version import rules_for
from oracle.vocabulary import LeaderEpoch, MetadataMode, Offset
from tests.integration import puppet_stage
from tests.integration.puppet_model import entries_of
from tests.integration.puppet_stage import BROKER, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.wire.controller_views import ErrorsView

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

RELEASES = os.environ.get("KAFKA_CONFORMANCE_PUPPETS", "0.10.2.2,2.8.2").split(",")
STALE_CONTROLLER_EPOCH, FENCED_LEADER_EPOCH, STALE_BROKER_EPOCH = 11, 74, 77
NOT_LEADER_OR_FOLLOWER = 6
OFFSET_NOT_AVAILABLE = 78
SEVERAL_ROUNDS_S = 0.5
DEADLINE_S = 10.0


@pytest.fixture(scope="module", params=RELEASES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PuppetRun]:
    with PuppetRun.start(request.param, tmp_path_factory.mktemp("puppets")) as running:
        yield running
        assert running.failures == ()


@pytest.fixture(scope="module")
def leaders(run: PuppetRun) -> dict[int, LeaderPuppet]:
    return {broker: run.leader(broker) for broker in (2, 3)}


@pytest.fixture(autouse=True)
def everybody_lives(run: PuppetRun) -> Iterator[None]:
    yield
    for broker in (2, 3):
        run.leader(broker).revive()


@pytest.fixture
def stage(run: PuppetRun, request: pytest.FixtureRequest) -> Iterator[Stage]:
    name = request.node.originalname.removeprefix("test_")
    rules = rules_for(run.cluster.spec.release.version, MetadataMode.ZOOKEEPER)
    staged = Stage(run, name, rules)
    yield staged
    staged.close()


def errors(answer: ErrorsView) -> set[int]:
    """Give every error code of an answer, of the request and of its partitions."""
    return {answer.error, *(part.error for part in answer.partitions)}


def has_release(stage: Stage, *minor: int) -> bool:
    return stage.run.cluster.spec.release.is_at_least(*minor)


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


def test_the_high_watermark_is_the_lowest_end_offset_of_the_in_sync_replicas(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2, 3))
    stage.append("a", "b", "c")
    for follower, offset in ((2, 0), (3, 0), (2, 2), (3, 1), (3, 2), (2, 3)):
        stage.fetch(follower, offset, 5)
    stage.fetch(3, 3, 5)  # may not wait: the answer has the old high watermark
    stage.fetch(3, 3, 5, parks=True)  # read again when its time is over: the answer has the new one


def test_a_replica_joins_the_in_sync_replicas_when_it_has_caught_up(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2))
    stage.append("a", "b")
    stage.fetch(2, 1, 5)
    stage.fetch(3, 0, 5)
    stage.fetch(3, 1, 5)
    stage.lead(6, isr=(1, 2))  # the epoch starts at 2, the high watermark is 1
    stage.fetch(3, 1, 6)
    stage.fetch(3, 2, 6)


def test_a_follower_in_another_epoch_is_fenced(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2, 3))
    stage.append("a", "b")
    for epoch in (4, 6, 5):
        stage.fetch(2, 2, epoch)
        stage.fetch(3, 1, epoch)
        if has_release(stage, 2, 1):
            told = stage.followers[2].end_of_epoch(stage.topic, 5, current_leader_epoch=epoch)
            assert (told.error == 0) is stage.rules.serves_epoch(LeaderEpoch(epoch), LeaderEpoch(5))


def test_a_leader_tells_where_epochs_end(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2, 3))
    stage.append("a", "b")
    stage.lead(7, isr=(1, 2, 3))
    stage.append("c")
    if not has_release(stage, 0, 11):
        return
    for epoch in (3, 5, 6, 7, 8):
        expected = stage.rules.truncation.end_offset_for(stage.model.replica.log, LeaderEpoch(epoch))
        told = stage.followers[2].end_of_epoch(stage.topic, epoch)
        assert (told.error, told.end_offset) == (0, -1 if expected.end_offset is None else expected.end_offset)
        if expected.leader_epoch is not None:
            assert told.leader_epoch == expected.leader_epoch


def test_a_fetch_of_a_diverging_log_is_told_where(stage: Stage) -> None:
    stage.lead(5, isr=(1, 2))
    stage.append("a", "b")
    stage.lead(7, isr=(1, 2))
    stage.append("c")
    for offset, last_epoch in ((3, 6), (3, 5), (2, 5), (4, 7), (3, 7)):
        stage.fetch(2, offset, 7, last_epoch=last_epoch)


def test_a_follower_cuts_what_its_leader_does_not_have(stage: Stage, leaders: dict[int, LeaderPuppet]) -> None:
    stage.follow(leaders[2], 5, entries_of((3, "ab"), (5, "cd")), high_watermark=1)
    stage.follow(leaders[3], 8, entries_of((3, "ab"), (6, "x"), (8, "yz")), high_watermark=1)
    stage.follow(leaders[2], 9, entries_of((3, "ab"), (5, "cd"), (9, "efg")), high_watermark=3)


def test_a_follower_of_the_same_leader_cuts_as_its_release_does(stage: Stage, leaders: dict[int, LeaderPuppet]) -> None:
    stage.follow(leaders[2], 5, entries_of((3, "a"), (5, "bc")), high_watermark=1)
    stage.follow(leaders[2], 9, entries_of((3, "a"), (7, "xyz")), high_watermark=2)


def test_a_former_leader_cuts_its_uncommitted_records(stage: Stage, leaders: dict[int, LeaderPuppet]) -> None:
    stage.lead(5, isr=(1, 2, 3))
    stage.append("a", "b", "c")
    for follower in (2, 3):
        stage.fetch(follower, 1, 5)
    stage.follow(leaders[3], 6, entries_of((5, "a"), (6, "xy")), high_watermark=2)
    assert stage.run.client.append(stage.topic, b"late")[0] == NOT_LEADER_OR_FOLLOWER


def test_a_follower_whose_leader_dies_before_it_answers_has_not_asked_in_vain(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    stage.follow(leaders[2], 5, entries_of((3, "ab"), (5, "cd")), high_watermark=1)
    stage.follow_into_silence(leaders[3], 6)
    stage.lead(7, isr=(1, 2))  # up to 0.10.2 it has cut without asking; later it has not cut at all
    stage.append("e")


def test_a_follower_that_restarts_begins_at_its_checkpointed_high_watermark(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    log = entries_of((5, "abc"))
    stage.follow(leaders[2], 5, log, high_watermark=1)
    stage.restart()
    stage.follow(leaders[3], 6, log, high_watermark=2)  # KAFKA-1211: up to 0.10.2 it has cut what it had
    stage.restart()
    stage.lead(7, isr=(1, 2))


def test_a_new_leader_tells_the_latest_offset_as_its_release_does(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    stage.follow(leaders[2], 5, entries_of((5, "abc")), high_watermark=1)
    stage.lead(6, isr=(1, 3))
    starts_at = Offset(stage.model.log_end_offset)
    for fetch_offset in (1, 3):
        stage.fetch(3, fetch_offset, 6)
        high_watermark = stage.model.numbers[1]
        tells = stage.rules.tells_latest_offset(Offset(high_watermark), starts_at)
        told = stage.run.client.list_offset(stage.topic, LATEST_TIMESTAMP)
        assert told == (ListedOffset(0, high_watermark) if tells else ListedOffset(OFFSET_NOT_AVAILABLE, -1))


def test_becoming_leader_stops_the_fetcher_and_becoming_follower_starts_it(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    log = entries_of((5, "ab"))
    stage.follow(leaders[2], 5, log, high_watermark=2)
    stage.lead(6, isr=(1, 2))
    assert_silent(stage, leaders[2])
    stage.append("c")
    stage.follow(leaders[3], 7, entries_of((5, "ab"), (6, "c"), (7, "d")), high_watermark=4)
    assert_silent(stage, leaders[2])


def test_a_stopped_replica_keeps_its_files_unless_they_are_to_go(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    controller, leader = stage.run.controller, leaders[2]
    stage.follow(leader, 5, entries_of((5, "ab")), high_watermark=2)
    before = stage.files()
    if has_release(stage, 2, 6):
        answer = controller.stop_replica(stage.topic, is_deleted=True, leader_epoch=4)
        assert [part.error for part in answer.partitions] == [FENCED_LEADER_EPOCH]
        leader.forget()
        assert leader.await_fetch(stage.topic) == stage.model.log_end_offset

    assert errors(controller.stop_replica(stage.topic, is_deleted=False)) == {0}
    assert_silent(stage, leader)
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
    expected = {STALE_BROKER_EPOCH} if has_release(stage, 2, 2) else {0}
    earlier, current = controller.broker_epoch() - 1, controller.broker_epoch()

    assert errors(controller.update_metadata(broker_epoch=current)) == {0}
    assert errors(controller.update_metadata(broker_epoch=earlier)) == expected
    if has_release(stage, 2, 2):
        assert errors(controller.leader_and_isr(stage.topic.led_by(2, 6), broker_epoch=earlier)) == expected
        assert errors(controller.stop_replica(stage.topic, is_deleted=True, broker_epoch=earlier)) == expected
    stage.append("a")


def leader_in_metadata(stage: Stage) -> int | None:
    with BrokerConnection(stage.run.cluster.client_address(BROKER)) as connection:
        seen = partition_metadata(connection, stage.topic.name, 0)
    return None if seen is None else seen.leader


def assert_silent(stage: Stage, leader: LeaderPuppet) -> None:
    """Make sure that a leader is not fetched from any more, once what was under way has come."""
    for _ in range(2):  # one request may have been under way
        leader.forget()
        try:
            leader.await_fetch(stage.topic, deadline_s=SEVERAL_ROUNDS_S)
        except DeadlineExceededError:
            return
    pytest.fail(f"broker {BROKER} still fetches from broker {leader.broker}")


def test_another_releases_rules_do_not_fit(
    run: PuppetRun, leaders: dict[int, LeaderPuppet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(puppet_stage, "DEADLINE_S", SEVERAL_ROUNDS_S)
    is_oldest = run.cluster.spec.release.line == "0.10.2"
    stage = Stage(run, "wrong-rules", rules_for("2.8.2" if is_oldest else "0.10.2.2", MetadataMode.ZOOKEEPER))

    with pytest.raises((AssertionError, DeadlineExceededError)):
        test_a_follower_cuts_what_its_leader_does_not_have(stage, leaders)
    stage.close()


def test_a_high_watermark_that_is_told_too_early_does_not_fit(run: PuppetRun) -> None:
    own = rules_for(run.cluster.spec.release.version, MetadataMode.ZOOKEEPER)
    wrong = replace(own, answers_new_high_watermark=not own.answers_new_high_watermark)
    stage = Stage(run, "wrong-high-watermark", wrong)

    with pytest.raises(AssertionError):
        test_the_high_watermark_is_the_lowest_end_offset_of_the_in_sync_replicas(stage)
    stage.close()
