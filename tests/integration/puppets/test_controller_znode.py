"""Does a puppet hold the controller's office, and does the real broker take it over again?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from fault_injection.cluster.readiness import zookeeper
from fault_injection.puppets.connection import PuppetError
from fault_injection.puppets.run import BROKER, CONTROLLER, PuppetRun
from fault_injection.waiting import until
from tests.integration.puppets.conftest import RELEASES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

DEADLINE_S = 30.0


def controller_in_zookeeper(run: PuppetRun) -> int | None:
    """Return who holds the office; None while nobody does."""
    assert run.cluster.zookeeper_address is not None
    with zookeeper(run.cluster.zookeeper_address) as client:
        if client.exists("/controller") is None:
            return None
        return int(json.loads(client.get("/controller")[0])["brokerid"])


def test_a_broker_that_died_keeps_nobody_from_leaving(tmp_path: Path) -> None:
    with PuppetRun.start(RELEASES[-1], tmp_path) as run:
        run.controller.decide(run.create_topic("t", (1, 2)).led_by(BROKER, 5))
        run.cluster.kill(BROKER)
        with pytest.raises(PuppetError, match="no answer to UpdateMetadataRequest"):
            run.controller.update_metadata()


def test_the_office_is_held_and_handed_back(tmp_path: Path) -> None:
    with PuppetRun.start(RELEASES[-1], tmp_path) as run:
        topic = run.create_topic("t", (1, 2))
        run.controller.decide(topic.led_by(BROKER, 5))
        run.controller.update_metadata(controller_epoch=run.controller.epoch + 20)
        run.client.append(topic, b"x")
        assert controller_in_zookeeper(run) == CONTROLLER

        run.controller.close()

        until(lambda: controller_in_zookeeper(run) == BROKER, deadline_s=DEADLINE_S, what="the broker in office")
        admin = AdminClient({"bootstrap.servers": run.cluster.bootstrap})
        admin.create_topics([NewTopic("own", num_partitions=1, replica_assignment=[[BROKER]])])["own"].result(
            DEADLINE_S
        )
        until(lambda: "own" in admin.list_topics(timeout=DEADLINE_S).topics, deadline_s=DEADLINE_S, what="a topic")
        assert run.failures == ()
