"""What does one line of the ledger say?"""

from dataclasses import dataclass

from oracle.vocabulary import Outcome


@dataclass(frozen=True, slots=True)
class Attempt:
    """A record that is about to be sent, once.

    Attributes:
        record_id: the record's id, unique in the run; also the key of the record.
        label: the record's name in the schedule.
        topic: the topic it is sent to.
        partition: the partition it is sent to.
        acks: what the request asks the broker to wait for; a value of ``Acks``, or one that brokers refuse.
        step: the index of the step that sends it.
        value_length: the length of its value in bytes.
        attempted_ns: when the attempt was written, in nanoseconds of the run clock.
    """

    record_id: int
    label: str
    topic: str
    partition: int
    acks: int
    step: int
    value_length: int
    attempted_ns: int


@dataclass(frozen=True, slots=True)
class OutcomeEntry:
    """What the producer was told about an attempted record.

    Attributes:
        record_id: the record's id.
        outcome: acknowledged, refused or indeterminate.
        error: the error's name in Kafka's ``Errors``, or librdkafka's own with a leading underscore.
        offset: the offset as acknowledged; None when none was given.
        completed_ns: when the outcome was known, in nanoseconds of the run clock.
    """

    record_id: int
    outcome: Outcome
    error: str | None
    offset: int | None
    completed_ns: int
