"""Which offsets does a leader tell a consumer, and which can it not be asked for? RM-05 and RM-06 on live clusters."""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import Where
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    consume,
    earliest,
    hold_request,
    latest,
    not_older_than,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.steps.topic import DeleteRecords
from oracle.vocabulary import Expectation, Offset

LISTED = Scenario(
    name="RM-06/listed",
    explanation=(
        "Three records, two of them committed: the latest offset is 2, and a lookup by the time of m2 finds nothing, "
        "except up to 0.10.2, where it finds the record at the high watermark. A follower tells no offset at all."
    ),
    schedule=Schedule(
        id="asking/earliest-latest-and-by-time",
        requirement=(
            "ListOffsets gives the log start offset as the earliest, the high watermark as the latest, and by time the "
            "first committed offset whose record is not older; only the leader answers it."
        ),
        sources=("RM-06", "HW-02", "003", "KIP-79"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0", "m1"),
            hold_request("replication", follower=2, leader=1, fetch_offset=2),
            await_hold("replication"),
            produce("m2", expect=Expectation.PENDING),
            checkpoint("m2 is not committed"),
            earliest(),
            latest(),
            not_older_than("m1"),
            not_older_than("m2"),
            latest(2),
            release("replication"),
            await_outcome("m2", expect=Expectation.ACKNOWLEDGED),
            latest(),
            not_older_than("m0"),
            not_older_than("m2"),
            checkpoint("m2 is committed"),
        ),
    ),
)

OUT_OF_RANGE = Scenario(
    name="RM-05/out-of-range",
    explanation=(
        "The log ends at 2 and the high watermark is 1: offsets 1 and 2 are asked for in vain but without an error, "
        "offset 3 is out of range."
    ),
    schedule=Schedule(
        id="asking/beyond-the-log-end-is-out-of-range",
        requirement=(
            "A fetch beyond the log end offset is answered with OFFSET_OUT_OF_RANGE; one between high watermark and "
            "log end offset gets no record and no error."
        ),
        sources=("RM-05", "HW-02", "003"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_request("replication", follower=2, leader=1, fetch_offset=1),
            await_hold("replication"),
            produce("m1", expect=Expectation.PENDING),
            checkpoint("the log ends at 2, the high watermark is 1"),
            *(consume(offset=offset) for offset in range(4)),
            release("replication"),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            *(consume(offset=offset) for offset in range(1, 4)),
            checkpoint("the high watermark is 2"),
        ),
    ),
)

DELETED = Scenario(
    name="RM-06/deleted",
    explanation="The first two of three records are deleted: the log starts at 2, for ListOffsets and for Fetch.",
    where=Where(since="0.11.0.0", why="before there was no request to delete records (KIP-107)"),
    schedule=Schedule(
        id="asking/earliest-after-a-deletion",
        requirement=(
            "After records were deleted ListOffsets gives the new log start offset as the earliest, finds no deleted "
            "record by time, and a fetch below it is answered with OFFSET_OUT_OF_RANGE."
        ),
        sources=("RM-06", "RM-05", "003", "KIP-107"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0", "m1", "m2"),
            earliest(),
            DeleteRecords(Offset(2)),
            earliest(),
            latest(),
            not_older_than("m0"),
            consume(offset=1),
            consume(offset=2),
            checkpoint("the log starts at 2"),
        ),
    ),
)

SCENARIOS = (LISTED, OUT_OF_RANGE, DELETED)
