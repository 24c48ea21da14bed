"""Which bytes answer a request with an error, as its destination would have sent them?

An answer has the version of its request and repeats its correlation id. Where the error stands is Kafka's rule:
an error about the whole request at the top and no partition with it, any other in every partition the request is
about; where a message has but one of the two places, there. Everything else in it says "none", as Kafka's own error
answers do: offsets and epochs -1, no records.

Choices: a partition that an incremental fetch left out is answered as well, because it is fetched all the same. The
session of the fetch is kept. Its leader has not seen the request, so it refuses the next one of the session
(INVALID_FETCH_SESSION_EPOCH) and the follower opens another: a retry that changes nothing.

Sources: ``getErrorResponse`` of the requests of Kafka 0.10.2, 2.8 and 3.9; KIP-227, KIP-497, KIP-570, KIP-631.
"""

import struct
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any

from fault_injection.wire.codec_schemas import Messages, api_name
from fault_injection.wire.headers import RequestHeader
from fault_injection.wire.messages import RequestView
from fault_injection.wire.views import FetchRequestView

# ruff: noqa: ANN401 - kafka-python is untyped, and an entry is a partition of any request

OF_THE_WHOLE_REQUEST: Mapping[int, frozenset[int]] = {
    1: frozenset({70, 71, 104, 106}),  # FETCH_SESSION_ID_NOT_FOUND, its epoch, INCONSISTENT_CLUSTER_ID, its topic ids
    4: frozenset({11, 31, 77}),  # STALE_CONTROLLER_EPOCH, CLUSTER_AUTHORIZATION_FAILED, STALE_BROKER_EPOCH
    5: frozenset({11, 31, 77}),
    56: frozenset({31, 35, 41, 77, 102}),  # UNSUPPORTED_VERSION, NOT_CONTROLLER, BROKER_ID_NOT_REGISTERED
}
"""By api, the errors that stand at the top, where an api has both places."""

Values = dict[str, Any]

_HEADER = struct.Struct(">ii")
_HEADER_BYTES_COUNTED = 4
_NO_TAGGED_FIELDS = b"\0"


class CannotAnswerError(Exception):
    """There is no error answer to such a request, or its version is not known."""


def error_answer(messages: Messages, header: RequestHeader, view: RequestView | None, error: int) -> bytes:
    """Return the frame, length prefix included, that answers a request with an error.

    Args:
        messages: the message classes.
        header: the request's header.
        view: what the request says, with the partitions that its session adds; None if it could not be decoded.
        error: Kafka's error code.

    Raises:
        CannotAnswerError: the request is of no api that is answered here, is newer than the schemas, or is about
            partitions and could not be decoded.
    """
    values_of, message = _VALUES.get(header.api_key), messages.get(header.api_key)
    name = f"{api_name(header.api_key)} v{header.api_version}"
    if values_of is None or message is None:
        raise CannotAnswerError(f"{name}: no error answer is known")
    if view is None and header.api_key not in _WITHOUT_PARTITIONS:
        raise CannotAnswerError(f"{name}: the request could not be decoded")
    version = message.known_version(header.api_version)
    if version is None:
        raise CannotAnswerError(f"{name} is newer than the schemas")
    body = _built(message.response, version, values_of(view, error)).encode()
    flexible = _NO_TAGGED_FIELDS if message.response.flexible_version_q(version) else b""
    size = _HEADER_BYTES_COUNTED + len(flexible) + len(body)
    return _HEADER.pack(size, header.correlation_id) + flexible + bytes(body)


def can_answer(api_key: int) -> bool:
    """Return whether a request of that api can be answered with an error."""
    return api_key in _VALUES


def _built(message_type: Any, version: int, values: Mapping[str, Any]) -> Any:
    """Build a message; values that the version does not have are left out."""
    known: Values = {}
    for name, value in values.items():
        field = message_type.fields.get(name)
        if field is None or not field.for_version_q(version):
            continue
        is_nested = field.is_struct_array() and value is not None
        known[name] = [_built(field.data_class, version, item) for item in value] if is_nested else value
    return message_type(version=version, **known)


def _by_topic(view: Any, name: str, partitions: str, of_entry: Callable[[Any], Values]) -> list[Values]:
    """Return the request's topics, each with what is said about its partitions."""
    topics = groupby(sorted(view.partitions, key=_topic), key=_topic)
    return [_topic_values(list(entries), name, partitions, of_entry) for _, entries in topics]


def _topic_values(entries: list[Any], name: str, partitions: str, of_entry: Callable[[Any], Values]) -> Values:
    topic_id = getattr(entries[0], "topic_id", None)
    identified = {"topic_id": topic_id} if topic_id is not None else {}
    return {name: entries[0].topic or "", **identified, partitions: [of_entry(entry) for entry in entries]}


def _topic(entry: Any) -> tuple[str, str]:
    return str(getattr(entry, "topic_id", None)), entry.topic or ""


def _top(error: int, partitions: Iterable[str]) -> Values:
    """Return the answer about the whole request: no partition in it."""
    return {"throttle_time_ms": 0, "error_code": error} | {name: [] for name in partitions}


def _produce(view: Any, error: int) -> Values:
    def appended(entry: Any) -> Values:
        return {
            "index": entry.partition,
            "error_code": error,
            "base_offset": -1,
            "log_append_time_ms": -1,
            "log_start_offset": -1,
            "record_errors": [],
            "error_message": None,
        }

    return {"throttle_time_ms": 0, "responses": _by_topic(view, "name", "partition_responses", appended)}


def _fetch(view: FetchRequestView, error: int) -> Values:
    session = {"session_id": view.session_id}
    if error in OF_THE_WHOLE_REQUEST[1]:
        return _top(error, ["responses"]) | session

    def given(entry: Any) -> Values:
        return {
            "partition_index": entry.partition,
            "error_code": error,
            "high_watermark": -1,
            "last_stable_offset": -1,
            "log_start_offset": -1,
            "aborted_transactions": None,
            "preferred_read_replica": -1,
            "records": b"",
        }

    return _top(0, []) | session | {"responses": _by_topic(view, "topic", "partitions", given)}


def _epoch(view: Any, error: int) -> Values:
    def ended(entry: Any) -> Values:
        return {"error_code": error, "partition": entry.partition, "leader_epoch": -1, "end_offset": -1}

    return {"throttle_time_ms": 0, "topics": _by_topic(view, "topic", "partitions", ended)}


def _leader_and_isr(view: Any, error: int) -> Values:
    if error in OF_THE_WHOLE_REQUEST[4]:
        return _top(error, ["partition_errors", "topics"])

    def failed(entry: Any) -> Values:
        return {"topic_name": entry.topic or "", "partition_index": entry.partition, "error_code": error}

    flat = [failed(entry) for entry in view.partitions]
    return {
        "error_code": 0,
        "partition_errors": flat,
        "topics": _by_topic(view, "topic_name", "partition_errors", failed),
    }


def _stop_replica(view: Any, error: int) -> Values:
    if error in OF_THE_WHOLE_REQUEST[5]:
        return _top(error, ["partition_errors"])
    errors = [
        {"topic_name": entry.topic or "", "partition_index": entry.partition, "error_code": error}
        for entry in view.partitions
    ]
    return {"error_code": 0, "partition_errors": errors}


def _alter_partition(view: Any, error: int) -> Values:
    if error in OF_THE_WHOLE_REQUEST[56]:
        return _top(error, ["topics"])

    def refused(entry: Any) -> Values:
        none = {"leader_id": -1, "leader_epoch": -1, "isr": [], "partition_epoch": -1, "leader_recovery_state": 0}
        return {"partition_index": entry.partition, "error_code": error, **none}

    return _top(0, []) | {"topics": _by_topic(view, "topic_name", "partitions", refused)}


def _error_only(_view: Any, error: int) -> Values:
    return _top(error, ["remaining_partitions"])


def _registration(_view: Any, error: int) -> Values:
    return _top(error, []) | {"broker_epoch": -1}


def _heartbeat(_view: Any, error: int) -> Values:
    return _top(error, []) | {"is_caught_up": False, "is_fenced": True, "should_shut_down": False}


def _no_epoch(_view: Any, error: int) -> Values:
    return _top(error, []) | {"producer_id": -1, "producer_epoch": -1}


def _add_partitions(view: Any, error: int) -> Values:
    def refused(entry: Any) -> Values:
        return {"partition_index": entry.partition, "partition_error_code": error}

    by_topic = _by_topic(view, "name", "results_by_partition", refused)
    return _top(error, ["results_by_transaction"]) | {"results_by_topic_v3_and_below": by_topic}


def _refused(entry: Any, error: int) -> Values:
    return {"partition_index": entry.partition, "error_code": error}


def _markers(view: Any, error: int) -> Values:
    def of(marked: list[Any]) -> Values:
        topics = groupby(marked, key=_topic)
        return {
            "producer_id": marked[0].producer_id,
            "topics": [
                _topic_values(list(entries), "name", "partitions", lambda entry: _refused(entry, error))
                for _, entries in topics
            ],
        }

    by_producer = groupby(view.partitions, key=lambda entry: (entry.producer_id, entry.producer_epoch))
    return {"markers": [of(list(marked)) for _, marked in by_producer]}


def _offsets(view: Any, error: int) -> Values:
    return {"throttle_time_ms": 0, "topics": _by_topic(view, "name", "partitions", lambda one: _refused(one, error))}


_VALUES: Mapping[int, Callable[[Any, int], Values]] = {
    0: _produce,
    1: _fetch,
    4: _leader_and_isr,
    5: _stop_replica,
    6: _error_only,
    7: _error_only,
    22: _no_epoch,
    23: _epoch,
    24: _add_partitions,
    25: _error_only,
    26: _no_epoch,
    27: _markers,
    28: _offsets,
    56: _alter_partition,
    62: _registration,
    63: _heartbeat,
}
_WITHOUT_PARTITIONS = frozenset({6, 7, 22, 25, 26, 62, 63})
