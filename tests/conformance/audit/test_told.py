"""Is an answer that says nothing taken for nothing that is wrong? Kafka's own topics, and log directories."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kafka.protocol.admin import DescribeConfigsResponse

from conformance.audit.cluster import NotSeen
from conformance.audit.own_topics import OWN_TOPICS, possible
from conformance.audit.release_seen import known_lines
from conformance.audit.told import hidden_told, untold_directories
from tests.conformance.audit.made_clusters import good, spoken

LOG_DIRS = 35


def test_only_that_there_is_no_such_topic_is_no_reason_to_doubt() -> None:
    one = DescribeConfigsResponse.DescribeConfigsResult
    codes = {"absent": 3, "refused": 29, "told": 0}
    answer = DescribeConfigsResponse(results=[one(error_code=code, resource_name=name) for name, code in codes.items()])
    assert hidden_told(answer, [*codes, "left out"]) == {
        "refused": NotSeen("not allowed to see: DescribeConfigs was refused with TOPIC_AUTHORIZATION_FAILED"),
        "told": NotSeen("Metadata leaves it out, though it may be there"),
        "left out": NotSeen("Metadata leaves it out, though it may be there"),
    }


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("0.10.2.2/zookeeper", {"__transaction_state", "__share_group_state"}),
        ("0.11.0.3/zookeeper", {"__share_group_state"}),
        ("4.0.2/kraft", {"__share_group_state"}),
        ("4.1.2/kraft", set()),
    ],
)
def test_a_release_is_asked_for_the_topics_that_it_can_have(line: str, missing: set[str]) -> None:
    assert set(possible(good(line).brokers)) == OWN_TOPICS.keys() - missing
    mute = replace(good(line).brokers[0], speaks=NotSeen("no answer in time"))
    assert set(possible([mute])) == OWN_TOPICS.keys()


@pytest.mark.parametrize("line", known_lines())
def test_a_request_that_a_broker_does_not_take_is_health_only_where_the_release_lacks_it(line: str) -> None:
    """Who filters DescribeLogDirs speaks like no release, and like an old one least of all."""
    speaks = spoken(line)
    filtered = replace(speaks, requests={key: span for key, span in speaks.requests.items() if key != LOG_DIRS})
    if LOG_DIRS in speaks.requests:
        assert isinstance(untold_directories(filtered), NotSeen)
    else:
        assert untold_directories(speaks) == {}
