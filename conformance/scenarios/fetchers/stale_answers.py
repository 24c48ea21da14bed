"""What does a follower do with an answer that comes when it has gone on without it?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

SCENARIOS = (
    Examination(
        name="FE-04/offset",
        id="fetchers/overtaken-answer-is-discarded",
        requirement=(
            "An answer for an offset that the follower does not fetch at any more is thrown away: nothing is appended "
            "twice, no partition fails, and the fetcher goes on where the log ends."
        ),
        sources=("FE-04", "004"),
        explanation=(
            "Broker 2's fetcher to broker 1 waits for an answer with record 1 while broker 3 leads, gives broker 2 "
            "that record, and hands the leadership back. The answer comes on the connection that goes on to be used."
        ),
        basis=Basis.DOCUMENTED,
        examined=by("fetchers.stale_answers:OVERTAKEN_ANSWER"),
    ),
)
