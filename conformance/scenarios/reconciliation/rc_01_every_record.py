"""Is every record accounted for?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by

EVERY_RECORD = Examination(
    name="RC-01",
    id="reconciliation/every-record-is-joined",
    requirement=(
        "Every record that was produced is joined with the prediction that was frozen before the topic was read, "
        "and falls into exactly one class."
    ),
    sources=("RC-01",),
    explanation="The run is kept below this one; its counts are compared with what the model says of its records.",
    examined=by("doctored_runs:EVERY_RECORD_IS_JOINED"),
)

SCENARIOS = (EVERY_RECORD,)
