"""Does a truncation cut all files of a log alike, and is what is left all that a restarted broker serves?

The leader has three records that no follower has when it is killed; it returns as a follower and cuts them. Then it is
stopped orderly, which makes its index files end with their last entry, and its files are decoded. One topic has its
records in one segment with an index entry for each batch but the first, the other has one record a segment.

Sources: ``LogSegment.append``, ``recover`` and ``truncateTo``, ``Log.truncateTo``, of 0.10.2 to 3.9.
"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

SCENARIOS = (
    Examination(
        name="TR-09",
        id="truncation/log-and-indexes-are-cut-alike",
        requirement=(
            "A truncation removes the records from the offset on, the entries of both indexes that point at them and "
            "whole segments beyond it; a broker that is started again serves what is left and nothing else."
        ),
        sources=("TR-09", "TR-05", "003"),
        explanation=(
            "Broker 1 has six records when it dies, broker 2 three. The files are decoded before, and after the cut "
            "when broker 1 has stopped orderly; then broker 1 leads again and a consumer reads all that it serves."
        ),
        basis=Basis.DOCUMENTED,
        examined=by("truncated_files:TRUNCATED_FILES"),
    ),
)
