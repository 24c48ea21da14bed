"""Do topic ids get their names, from whoever knows them?"""

from dataclasses import replace
from uuid import UUID

import pytest

from fault_injection.wire.controller_views import ErrorsView, LeaderAndIsrView, PartitionLeadership
from fault_injection.wire.readings import TopicNames, topic_uuid
from tests.fault_injection.wire.gate_transcript import answer_of, asked, fetch_of, given

TOPIC_ID = UUID("a1b2c3d4-0000-4000-8000-00000000000f")
KAFKA_TEXT = "obLD1AAAQACAAAAAAAAADw"


@pytest.mark.parametrize("text", [TOPIC_ID, str(TOPIC_ID), KAFKA_TEXT])
def test_an_id_is_read_in_either_notation(text: str | UUID) -> None:
    assert topic_uuid(text) == TOPIC_ID


def test_a_text_that_is_no_id_is_refused() -> None:
    with pytest.raises(ValueError, match="badly formed"):
        topic_uuid("topic")


def test_a_learned_id_gets_its_name() -> None:
    names = TopicNames()
    request = fetch_of(asked(1, topic=None, topic_id=TOPIC_ID))
    response = answer_of(given(topic=None, topic_id=TOPIC_ID))
    assert names.named(request) is request
    names.learn(KAFKA_TEXT, "t")
    assert names.named(request) == fetch_of(asked(1, topic="t", topic_id=TOPIC_ID))
    assert names.named(response) == answer_of(given(topic="t", topic_id=TOPIC_ID))


def test_the_metadata_topic_is_known() -> None:
    request = fetch_of(asked(1, topic=None, topic_id=UUID(int=1)))
    assert TopicNames().named(request).partitions[0].topic == "__cluster_metadata"


def test_leader_and_isr_teaches_ids() -> None:
    names = TopicNames()
    state = PartitionLeadership("t", TOPIC_ID, 0, 1, 5, (1,), (1,), 3, 1)
    names.learn_from(LeaderAndIsrView(9, 1, -1, (state, replace(state, topic="old", topic_id=None))))
    names.learn_from(LeaderAndIsrView(9, 1, -1, (replace(state, topic="older", topic_id=UUID(int=0)),)))
    names.learn_from(None)
    assert names.named(fetch_of(asked(1, topic=None, topic_id=TOPIC_ID))).partitions[0].topic == "t"
    assert names.named(fetch_of(asked(1, topic=None, topic_id=UUID(int=0)))).partitions[0].topic is None


def test_a_view_without_topics_stays_as_it_is() -> None:
    view = ErrorsView(0)
    assert TopicNames().named(view) is view
