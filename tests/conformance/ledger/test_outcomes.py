"""Is nothing called refused that a broker may have appended, and nothing lost that was promised?"""

import pytest

from conformance.clients.outcomes import kafka_error_name, outcome_of
from oracle.vocabulary import Acks, ProduceOutcome

ACKNOWLEDGED, REFUSED, INDETERMINATE = ProduceOutcome.ACKNOWLEDGED, ProduceOutcome.REFUSED, ProduceOutcome.INDETERMINATE


@pytest.mark.parametrize(
    ("acks", "error", "outcome"),
    [
        (Acks.ALL, None, ACKNOWLEDGED),
        (Acks.LEADER, None, ACKNOWLEDGED),
        (Acks.NONE, None, INDETERMINATE),
        (Acks.ALL, "NOT_ENOUGH_REPLICAS", REFUSED),
        (Acks.ALL, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", INDETERMINATE),
        (Acks.ALL, "REQUEST_TIMED_OUT", INDETERMINATE),
        (Acks.ALL, "NOT_LEADER_OR_FOLLOWER", INDETERMINATE),
        (Acks.LEADER, "NOT_LEADER_OR_FOLLOWER", REFUSED),
        (Acks.ALL, "UNKNOWN_TOPIC_OR_PARTITION", INDETERMINATE),
        (Acks.LEADER, "UNKNOWN_TOPIC_OR_PARTITION", REFUSED),
        (Acks.ALL, "KAFKA_STORAGE_ERROR", INDETERMINATE),
        (Acks.ALL, "MESSAGE_TOO_LARGE", REFUSED),
        (Acks.ALL, "TOPIC_AUTHORIZATION_FAILED", REFUSED),
        (Acks.ALL, "LEADER_NOT_AVAILABLE", REFUSED),
        (Acks.NONE, "LEADER_NOT_AVAILABLE", REFUSED),
        (Acks.ALL, "_PURGE_QUEUE", REFUSED),
        (Acks.ALL, "_PURGE_INFLIGHT", INDETERMINATE),
        (Acks.ALL, "_TRANSPORT", INDETERMINATE),
        (Acks.LEADER, "_MSG_TIMED_OUT", INDETERMINATE),
        (Acks.ALL, "_TIMED_OUT", INDETERMINATE),
        (Acks.LEADER, "AN_ERROR_OF_A_LATER_RELEASE", INDETERMINATE),
    ],
)
def test_what_an_answer_means(acks: Acks, error: str | None, outcome: ProduceOutcome) -> None:
    assert outcome_of(acks, error) is outcome


@pytest.mark.parametrize(
    ("client_name", "kafka_name"),
    [
        ("NOT_LEADER_FOR_PARTITION", "NOT_LEADER_OR_FOLLOWER"),
        ("MSG_SIZE_TOO_LARGE", "MESSAGE_TOO_LARGE"),
        ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS"),
        ("_TRANSPORT", "_TRANSPORT"),
    ],
)
def test_errors_have_kafkas_names(client_name: str, kafka_name: str) -> None:
    assert kafka_error_name(client_name) == kafka_name
