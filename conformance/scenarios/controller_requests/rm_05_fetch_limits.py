"""Does a leader honour what a Fetch asks for: offset, wait, minimum and maximum bytes?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    consume,
    hold_request,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

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
    examined=by("controller_requests:FETCH"),
)

LIMITS = Examination(
    name="RM-05/limits",
    id="asking/fetch-honours-its-limits",
    requirement=(
        "A fetch is answered as soon as its minimum bytes are there, and else when its maximum wait is over; it holds "
        "no more than its maximum bytes, but at least one batch; beyond the log end it is OFFSET_OUT_OF_RANGE."
    ),
    sources=("RM-05", "HW-11", "003", "KIP-74"),
    explanation="Three batches in one partition. Times are upper bounds where nothing has to be waited for.",
    basis=Basis.DOCUMENTED,
    examined=by("fetch_limits:LIMITS"),
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

SCENARIOS = (FETCH, LIMITS, OUT_OF_RANGE)
