"""Which offsets does a leader tell by place and time, and to readers of committed records?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS, Where, with_puppets_since
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_outcome,
    brokers,
    checkpoint,
    consume,
    earliest,
    hold_request,
    kill,
    latest,
    not_older_than,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.topic import DeleteRecords
from oracle.vocabulary import Expectation, Offset

LIST_OFFSETS = Examination(
    name="RM-06/puppets",
    id="controller-requests/offsets-by-place-and-time",
    requirement=(
        "ListOffsets gives the log start offset as the earliest, the high watermark as the latest, and for a time the "
        "first committed offset whose record is not older, or none."
    ),
    sources=("RM-06", "HW-02", "003", "KIP-79"),
    explanation="Four records, of which three and then all five are committed; the fifth is ten milliseconds later.",
    where=WITH_PUPPETS,
    examined=by("controller_requests:LIST_OFFSETS"),
)

READ_COMMITTED = Examination(
    name="RM-06/read-committed",
    id="controller-requests/latest-offset-for-readers-of-committed-records",
    requirement=(
        "The latest offset for a reader of committed records is the last stable offset: the first offset of the "
        "first transaction that goes on, or the high watermark if none does; fetches end there too."
    ),
    sources=("RM-06", "HW-02", "003", "KIP-98"),
    explanation=(
        "A transaction opens at 1 and is committed by a marker at 4, with a record of another producer in between; "
        "the next one opens at 5 and is aborted: its record is below the last stable offset all the same."
    ),
    where=with_puppets_since("0.11.0.0", "before, there are no transactions"),
    examined=by("controller_requests:READ_COMMITTED"),
)

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

LAST_STABLE_OFFSET = Examination(
    name="RM-06/open-transaction",
    id="asking/latest-is-the-last-stable-offset",
    requirement=(
        "To a read_committed consumer the latest offset is the last stable offset, where the first open transaction "
        "begins, and no record from there on is shown; once it is committed both consumers see the same."
    ),
    sources=("RM-06", "003", "KIP-98"),
    explanation="The marker that ends the transaction takes offset 3, so the log ends at 4 with three records in it.",
    where=Where(since="0.11.0.0", why="before there were no transactions (KIP-98)"),
    basis=Basis.DOCUMENTED,
    examined=by("transactions:READ_COMMITTED"),
)

DELETED_BEFORE_A_KILL = Scenario(
    name="RM-06/deleted-before-a-kill",
    explanation=(
        "Broker 2 is killed before it has written down that m0 is deleted. It starts with a log that begins at 0, and "
        "hears of 1 from its leader."
    ),
    where=Where(since="0.11.0.0", why="before there was no request to delete records (KIP-107)"),
    schedule=Schedule(
        id="controller-requests/deletion-outlives-a-kill",
        requirement="A replica that forgot in a crash where its log starts learns it again from its leader.",
        sources=("RM-06", "003", "KIP-107"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0", "m1"),
            DeleteRecords(Offset(1)),
            checkpoint("deleted on all"),
            kill(2),
            checkpoint("broker 2 has not written it down"),
            start(2),
            await_isr(1, 2, 3),
            checkpoint("broker 2 has heard of it again"),
        ),
    ),
)

SCENARIOS = (LIST_OFFSETS, READ_COMMITTED, LISTED, DELETED, LAST_STABLE_OFFSET, DELETED_BEFORE_A_KILL)
