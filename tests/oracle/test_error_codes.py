"""Do all who name Kafka's error codes give a code one name: Kafka's?"""

import pytest
from confluent_kafka import KafkaError
from kafka.errors import kafka_errors

from conformance.clients.outcomes import kafka_error_name
from oracle.error_codes import ERROR_NAMES, ErrorCode, error_name
from reports.answer_parts import error_words

CODES = range(-10, 300)
KAFKA_PYTHON_CALLS = {
    "UNKNOWN_SERVER_ERROR": "UNKNOWN",
    "NONE": "NO_ERROR",
    "NOT_LEADER_OR_FOLLOWER": "NOT_LEADER_FOR_PARTITION",
    "MESSAGE_TOO_LARGE": "MESSAGE_SIZE_TOO_LARGE",
    "INVALID_TOPIC_EXCEPTION": "INVALID_TOPIC",
    "INVALID_REPLICA_ASSIGNMENT": "INVALID_REPLICATION_ASSIGNMENT",
}
"""Names of before Kafka renamed an error, and names of its own."""


def test_every_code_has_a_name_of_its_own_and_there_is_no_gap() -> None:
    assert sorted(ERROR_NAMES) == list(range(-1, 134))
    assert len(set(ERROR_NAMES.values())) == len(ERROR_NAMES)
    assert error_name(134) == "error 134"


@pytest.mark.parametrize("code", sorted(code for code in kafka_errors if code is not None))
def test_kafka_python_means_the_same_error(code: int) -> None:
    name = error_name(code)
    assert kafka_errors[code].message == KAFKA_PYTHON_CALLS.get(name, name)


def test_librdkafka_means_the_same_error() -> None:
    called = {code: KafkaError(code).name() for code in ERROR_NAMES if code}
    known = {code: kafka_error_name(name) for code, name in called.items() if name != f"ERR_{code}?"}
    assert known == {code: ERROR_NAMES[code] for code in known}
    assert len(known) > 100


def test_reports_give_the_same_name_with_the_code_and_leave_other_words() -> None:
    known = {code: f"{name} ({code})" for code, name in ERROR_NAMES.items()} | {0: "no error (0)"}
    assert {code: error_words(str(code)) for code in CODES} == {code: known.get(code, str(code)) for code in CODES}


def test_an_error_code_is_shown_as_its_number() -> None:
    assert (f"{ErrorCode.STALE_BROKER_EPOCH}", str([ErrorCode.STALE_BROKER_EPOCH])) == ("77", "[77]")
    assert ErrorCode(77) is ErrorCode["STALE_BROKER_EPOCH"]
