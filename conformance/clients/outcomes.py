"""What does a producer know about a record, given what it was told?

The classification is for one attempt without retries. Silence is not refusal: an answer is a refusal only
if it proves that no broker appended the record; everything that leaves the question open, and every error
this table does not know, is indeterminate.

Sources: ``ProducePartitionStatus`` and ``DelayedProduce`` of the broker (a parked acks=all request answers
with the partition's error *after* its append), librdkafka's message states (a message purged from its queue
was never part of a request).
"""

from oracle.vocabulary import Acks, ProduceOutcome

LEADER_NOT_AVAILABLE = "LEADER_NOT_AVAILABLE"
"""The error given to a record that waited for a leader and was never part of a request."""

NEVER_APPENDED = frozenset(
    {
        "CLUSTER_AUTHORIZATION_FAILED",
        "CORRUPT_MESSAGE",
        "INVALID_FETCH_SIZE",
        "INVALID_RECORD",
        "INVALID_REQUIRED_ACKS",
        "INVALID_TIMESTAMP",
        "INVALID_TOPIC_EXCEPTION",
        "MESSAGE_TOO_LARGE",
        "NOT_ENOUGH_REPLICAS",
        "POLICY_VIOLATION",
        "RECORD_LIST_TOO_LARGE",
        "TOPIC_AUTHORIZATION_FAILED",
        "UNSUPPORTED_COMPRESSION_TYPE",
        "UNSUPPORTED_FOR_MESSAGE_FORMAT",
        "UNSUPPORTED_VERSION",
    }
)
"""Broker answers that are given before anything is appended, whatever the acks."""

NEVER_APPENDED_UNLESS_PARKED = frozenset(
    {"NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "REPLICA_NOT_AVAILABLE"}
)
"""Answers that refuse with acks=1, but may also end an acks=all request that was appended and waited."""

NEVER_SENT = frozenset(
    {
        LEADER_NOT_AVAILABLE,
        "_INVALID_ARG",
        "_PURGE_QUEUE",
        "_QUEUE_FULL",
        "_UNKNOWN_PARTITION",
        "_UNKNOWN_TOPIC",
    }
)
"""The client's own errors for a record that was never part of a request."""

_KAFKA_NAMES = {
    "INVALID_MSG": "CORRUPT_MESSAGE",
    "INVALID_MSG_SIZE": "INVALID_FETCH_SIZE",
    "MSG_SIZE_TOO_LARGE": "MESSAGE_TOO_LARGE",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "STALE_CTRL_EPOCH": "STALE_CONTROLLER_EPOCH",
    "TOPIC_EXCEPTION": "INVALID_TOPIC_EXCEPTION",
    "UNKNOWN": "UNKNOWN_SERVER_ERROR",
    "UNKNOWN_TOPIC_OR_PART": "UNKNOWN_TOPIC_OR_PARTITION",
}


def kafka_error_name(client_name: str) -> str:
    """Return the name that an error has in Kafka's ``Errors``; librdkafka's own names stay as they are."""
    return _KAFKA_NAMES.get(client_name, client_name)


def outcome_of(acks: Acks, error: str | None) -> ProduceOutcome:
    """Classify what a producer was told about the only attempt to send a record.

    Args:
        acks: what the request asked the broker to wait for.
        error: None for success, else the name of the error as ``kafka_error_name`` gives it.
    """
    if error is None:
        return ProduceOutcome.INDETERMINATE if acks is Acks.NONE else ProduceOutcome.ACKNOWLEDGED
    if error in NEVER_APPENDED or error in NEVER_SENT:
        return ProduceOutcome.REFUSED
    if error in NEVER_APPENDED_UNLESS_PARKED and acks is not Acks.ALL:
        return ProduceOutcome.REFUSED
    return ProduceOutcome.INDETERMINATE
