"""What is taken from answers about a topic, and what is not? Answers as kafka-python has them; no broker is needed."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from kafka.protocol.admin import DescribeConfigsResponse
from kafka.protocol.metadata import MetadataResponse

from conformance.audit.cluster import UNCLEAN, NotSeen
from conformance.probes.topic_of_clients import TopicOfClients
from conformance.probes.topic_settings import settings_seen

if TYPE_CHECKING:
    from conformance.probes.topic_of_clients import TopicSeenByClients

TOPIC_ID = uuid.UUID(int=2**100 + 5)
TOPIC, BROKER_FILE, CLUSTER_DEFAULT = 1, 4, 3


def seen(version: int, topic_id: uuid.UUID = TOPIC_ID, error: int = 0) -> TopicSeenByClients | None:
    topic = MetadataResponse.MetadataResponseTopic
    partition = topic.MetadataResponsePartition(
        version=version, partition_index=0, leader_id=2, leader_epoch=7, replica_nodes=[1, 2, 3], isr_nodes=[3, 2]
    )
    told = topic(version=version, name="t", topic_id=topic_id, error_code=error, partitions=[partition])
    answer = MetadataResponse(version=version, cluster_id="c", topics=[told])
    return TopicOfClients(None, "t")._seen(answer, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("version", "epoch"), [(7, None), (8, None), (9, 7), (12, 7)])
def test_leader_epochs_are_taken_where_they_are_reliable(version: int, epoch: int | None) -> None:
    topic = seen(version)
    assert topic is not None
    (one,) = topic.partitions
    assert (one.leader, one.leader_epoch, one.isr, one.told_by) == (2, epoch, (2, 3), 3)
    assert one.assigned == (1, 2, 3)
    assert (topic.cluster, topic.replicas) == ("c", 3)


def test_a_topic_id_is_that_of_kafkas_tools_and_none_is_none() -> None:
    told = [one.topic_id for one in (seen(12), seen(12, uuid.UUID(int=0))) if one is not None]
    assert told == ["AAAAEAAAAAAAAAAAAAAABQ", None]


def test_a_topic_that_is_not_known_is_none() -> None:
    assert seen(12, error=3) is None


class Asker:
    """Has the answer of each broker; the first one answers who asks nobody by name.

    Of the broker's own settings it tells whether it is migrated; ``refused`` tells nothing of them.
    """

    def __init__(self, migrating: str | None = "false", **values: tuple[str, int] | None) -> None:
        self._values = {int(name.removeprefix("broker_")): value for name, value in values.items()}
        self._migrating = migrating

    def ask(self, request: Any, broker: int | None = None) -> Any:  # noqa: ANN401
        assert "DescribeConfigs" in type(request).__name__
        told = self._values[1 if broker is None else broker]
        if told is None:
            return NotSeen("no answer in time")
        result = DescribeConfigsResponse.DescribeConfigsResult
        config = result.DescribeConfigsResourceResult
        of_topic = config(version=1, name=UNCLEAN, value=told[0], config_source=told[1], synonyms=[])
        results = [result(version=1, error_code=0, resource_type=2, configs=[of_topic])]
        if len(request.resources) > 1:
            assert request.resources[1][:2] == (4, str(broker))
            results.insert(0, self._of_broker(result, config))  # in any order, up to 2.5
        return DescribeConfigsResponse(version=1, results=results)

    def _of_broker(self, result: Any, config: Any) -> Any:  # noqa: ANN401
        if self._migrating == "refused":
            return result(version=1, error_code=31, resource_type=4, configs=[])  # CLUSTER_AUTHORIZATION_FAILED
        if self._migrating is None:
            return result(version=1, error_code=0, resource_type=4, configs=[])
        name = "zookeeper.metadata.migration.enable"
        one = config(version=1, name=name, value=self._migrating, config_source=BROKER_FILE, synonyms=[])
        return result(version=1, error_code=0, resource_type=4, configs=[one])


@pytest.mark.parametrize("source", [TOPIC, CLUSTER_DEFAULT])
def test_a_value_that_holds_for_all_is_asked_of_one(source: int) -> None:
    told = settings_seen(Asker(broker_1=("false", source), broker_2=("true", source)), "t", (1, 2), is_kraft=True)  # type: ignore[arg-type]
    assert told.values == {UNCLEAN: "false"}
    assert told.unclean_by_broker == {}


def test_a_brokers_own_value_is_asked_of_each() -> None:
    asker = Asker(broker_1=("false", BROKER_FILE), broker_2=("true", BROKER_FILE), broker_3=None)
    told = settings_seen(asker, "t", (1, 2, 3), is_kraft=False)  # type: ignore[arg-type]
    assert told.sources == {UNCLEAN: "server.properties"}
    assert told.unclean_by_broker == {1: "false", 2: "true", 3: None}


@pytest.mark.parametrize(
    ("migrating", "is_kraft"), [("true", None), ("refused", None), ("false", False), (None, False)]
)
def test_brokers_that_may_be_migrated_are_not_said_to_decide(migrating: str | None, is_kraft: bool | None) -> None:
    own = ("false", BROKER_FILE)
    told = settings_seen(Asker(migrating, broker_1=own, broker_2=own), "t", (1, 2), is_kraft=False)  # type: ignore[arg-type]
    assert told.is_kraft is is_kraft
    assert told.unclean_by_broker == {1: "false", 2: "false"}


def test_settings_that_nobody_tells_are_not_seen() -> None:
    assert settings_seen(Asker(broker_1=None), "t", (1,), is_kraft=None).why_not == "no answer in time"  # type: ignore[arg-type]
