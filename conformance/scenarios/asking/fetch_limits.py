"""Does a leader honour what a Fetch asks for beside the offset? RM-05: wait, minimum and maximum bytes, any release."""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

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
    examined=by("asking.fetch_limits:LIMITS"),
)

SCENARIOS = (LIMITS,)
