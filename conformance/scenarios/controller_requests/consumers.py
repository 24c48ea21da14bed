"""Does a leader honour what a consumer asks for? RM-05 (Fetch) and RM-06 (ListOffsets)."""

from __future__ import annotations

from conformance.catalogue.examination import Examination
from conformance.puppet_stage.client_acts import AppendAt, Consume, ListByTime, ListEarliest, ListLatest
from conformance.puppet_stage.leading_acts import Append, FetchAs, Lead
from conformance.puppet_stage.script import PuppetScript
from conformance.puppet_stage.transaction_acts import (
    AppendInTransaction,
    ConsumeCommitted,
    EndTransaction,
    ListLatestCommitted,
)
from conformance.puppet_stage.where import WITH_PUPPETS, since

THREE_OF_FOUR_COMMITTED = (
    Lead(5, isr=(1, 2)),
    Append("a"),
    Append("b"),
    Append("c"),
    Append("d"),
    FetchAs(2, 3, 5),
)
SHORT_MS, LONGER_MS, LONG_MS = 500, 3_000, 10_000
"""A wait that always passes, one that passes on some releases, and one that never does."""

FETCH = Examination(
    name="RM-05/puppets",
    id="controller-requests/fetch-honours-its-limits",
    requirement=(
        "A consumer's fetch gets the records below the high watermark; without enough of them it is answered when its "
        "maximum wait is over; at least one batch comes whatever its maximum bytes; an offset beyond the log end is "
        "OFFSET_OUT_OF_RANGE (1)."
    ),
    sources=("RM-05", "HW-02", "003", "KIP-74"),
    explanation=(
        "Four records, three of them committed. A fetch between high watermark and log end offset waits up to 3.7; "
        "from 3.8 on it is answered at once, as there is nothing to wait for."
    ),
    where=WITH_PUPPETS,
    subject=PuppetScript(
        (
            *THREE_OF_FOUR_COMMITTED,
            Consume(0),
            Consume(0, max_wait_ms=LONG_MS),
            Consume(3, max_wait_ms=SHORT_MS),
            Consume(4, max_wait_ms=LONGER_MS),
            Consume(0, max_wait_ms=SHORT_MS, wants_more=True),
            Consume(1, takes_one_byte=True),
            Consume(5),
        )
    ),
)

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
    subject=PuppetScript(
        (
            *THREE_OF_FOUR_COMMITTED,
            ListEarliest(),
            ListLatest(),
            AppendAt("late", later_ms=10),
            FetchAs(2, 5, 5),
            ListLatest(),
            ListByTime(later_ms=0, first=0),
            ListByTime(later_ms=10, first=4),
            ListByTime(later_ms=11, first=None),
        )
    ),
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
    where=since("0.11.0.0", "before, there are no transactions"),
    subject=PuppetScript(
        (
            Lead(5, isr=(1,)),
            Append("a"),
            AppendInTransaction("b", sequence=0),
            Append("c"),
            AppendInTransaction("d", sequence=1),
            ListLatest(),
            ListLatestCommitted(),
            ConsumeCommitted(0),
            ConsumeCommitted(1),
            EndTransaction(commits=True),
            ListLatestCommitted(),
            AppendInTransaction("e", sequence=2),
            ListLatestCommitted(),
            EndTransaction(commits=False),
            ListLatestCommitted(),
            ConsumeCommitted(5),
        )
    ),
)

SCENARIOS = (FETCH, LIST_OFFSETS, READ_COMMITTED)
