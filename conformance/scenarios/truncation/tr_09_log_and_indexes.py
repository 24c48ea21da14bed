"""Does a truncation cut all files of a log alike, and is what is left all that a restarted broker serves?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

LOG_AND_INDEXES = Examination(
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
)

SCENARIOS = (LOG_AND_INDEXES,)
