"""Does a leader honour what a consumer asks for? RM-05 (Fetch) and RM-06 (ListOffsets)."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.puppet_stage.where import WITH_PUPPETS, since

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
    examined=by("controller_requests.consumers:FETCH"),
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
    examined=by("controller_requests.consumers:LIST_OFFSETS"),
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
    examined=by("controller_requests.consumers:READ_COMMITTED"),
)

SCENARIOS = (FETCH, LIST_OFFSETS, READ_COMMITTED)
